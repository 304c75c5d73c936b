import { pick } from './random-choice.ts';
import type { Channel, Scene, Writer } from './scene.ts';

type To = { readonly channel: Channel; readonly topic: string } | { readonly people: readonly number[] };

/**
 * Sends a message with a unique text, again and again with the same `queue_id` and `local_id` until there is a reply.
 * Some clients send it twice at once.
 */
export async function send(scene: Scene, writer: Writer, to: To): Promise<void> {
  const { claims, messages, seed } = scene;
  const { client, random, userId, queueId } = writer;
  const marker = `[${seed} ${writer.name} ${writer.count}]`;
  const named = pick(random, [...scene.writers, ...scene.watchers]);
  const content = random() < 0.15 ? `${marker} @_**|${named.userId}** and @**|${named.userId}**` : marker;
  const parameters = {
    ...('channel' in to
      ? { type: 'channel', to: to.channel.channelId, topic: to.topic }
      : { type: 'direct', to: to.people }),
    content,
    queue_id: queueId,
    local_id: String(writer.count),
    read_by_sender: true,
  };
  const asked = { method: 'POST', path: 'messages', parameters } as const;
  const isHasty = random() < 0.06;
  const outcomes = await Promise.all(Array.from({ length: isHasty ? 2 : 1 }, () => client.insist(asked)));
  const answered = outcomes.filter(({ state }) => state === 'done');
  const ids = new Set<number>(answered.map(({ body }) => body.id));
  // A repetition after the answer gets the same one.
  if (answered.length > 0 && random() < 0.04) {
    const again = await client.insist(asked);
    if (again.state === 'done') ids.add(again.body.id);
  }
  const [id] = ids;
  const isUnknown = outcomes.some(({ state }) => state === 'unknown');
  claims.send(marker, id !== undefined ? 'done' : isUnknown ? 'unknown' : 'refused', id);
  if (ids.size > 1) scene.wrong.push(`${marker} was acknowledged as ${[...ids].join(' and ')}`);
  if (id === undefined) return;
  const where = 'channel' in to ? { place: `${to.channel.channelId}/${to.topic}` } : { people: to.people };
  messages.push({ id, sender: userId, content, ...where });
}
