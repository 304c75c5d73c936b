import { folded } from '../../kernel/text.ts';
import { chunksOf } from '../../lists.ts';
import { ConflictError, retryOnConflict } from '../../log/commit.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { loadMessages } from '../../model/message/load.ts';
import { messageKey, unmoved } from '../../model/message/message.ts';
import { allReactions } from '../../model/message/reaction.ts';
import { loadReactions } from '../../model/message/reaction-store.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { OutboxRun } from '../outbox/outbox.ts';

/** Moved messages whose participants are not all added yet. */
export interface PeopleTask {
  readonly ids: readonly number[];
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    people: PeopleTask;
  }
}

/** Participants added in one transaction, together with a check of each message and the topic. */
const STEP = 50;

/**
 * Adds everyone who sent or reacted to one of the messages as a participant of its current topic. Idempotent.
 */
export async function addParticipants(world: OutboxRun, { ids }: PeopleTask): Promise<void> {
  const { outside, realmId: realm } = world;
  await retryOnConflict(outside, async () => {
    const messages = await loadMessages(outside.table, realm, ids);
    const topics = Map.groupBy(messages, ({ conversation }) => conversation);
    for (const here of topics.values()) await addToTopic(world, here);
  });
}

/** Adds the participants of one topic. Throws `ConflictError` if a message or the participants have changed. */
async function addToTopic(
  { outside: { table, uuid }, realmId: realm }: OutboxRun,
  messages: readonly MessageSlot[],
): Promise<void> {
  const [{ channelId, topic = '' } = {}] = messages;
  if (channelId === undefined) return;
  const place = { realm, channelId, topic: folded(topic) };
  const everyone = messages.map(async (message) => {
    const reactions = allReactions(message, await loadReactions(table, realm, message.id));
    return [message.senderId, ...reactions.map(({ userId }) => userId)];
  });
  const people = [...new Set((await Promise.all(everyone)).flat())];
  const keyOf = (userId: number) => key('participant', { ...place, userId });
  const there = await table.getMany(people.map(keyOf));
  const taking = new Set(there.map(({ userId }) => userId));
  const joining = people.filter((userId) => !taking.has(userId));
  const held = messages.map(
    (message): Write => ({ check: messageKey(realm, message.id), when: unmoved(message) }),
  );
  for (const some of chunksOf(joining, STEP)) {
    const add = { participants: some.length };
    const outcome = await table.transact(
      [
        ...held,
        { update: key('topic', place), change: { add }, when: { absent: false } },
        ...some.map((userId): Write => ({ put: keyOf(userId), item: { userId }, when: { absent: true } })),
      ],
      uuid(),
    );
    if (outcome.state !== 'done') throw new ConflictError([]);
  }
}
