import { describe, expect, it } from 'vitest';
import { handler as getChannel } from '../../functions/channels/get.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { move, say, sayMany, success, update } from '../support/message-update.ts';
import { idsIn } from '../support/messages.ts';
import { workedOff } from '../support/outbox.ts';
import { randomFrom } from '../support/random.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { withLateIndexes } from './late-indexes.ts';

const { LATE_SEED = '1', LATE_STORIES = '3', LATE_STEPS = '30' } = process.env;
const SEEDS = Array.from({ length: Number(LATE_STORIES) }, (_, i) => Number(LATE_SEED) + i);

const parameters = {
  fetch_event_types: ['message', 'update_message_flags', 'stream'],
  event_types: ['message', 'update_message_flags'],
};

/** The ids of what is unread in each channel, as a registration tells it. */
async function unreadOf(realm: TestRealm, as: Person): Promise<ReadonlyMap<number, readonly number[]>> {
  const { state } = await givenClient(realm, as, parameters);
  const found = new Map<number, number[]>();
  for (const { stream_id, unread_message_ids } of state.unread_msgs.streams)
    found.set(stream_id, [...(found.get(stream_id) ?? []), ...unread_message_ids]);
  return new Map([...found].map(([channelId, ids]) => [channelId, ids.sort((a, b) => a - b)]));
}

const firstOf = async (realm: TestRealm, as: Person, stream_id: number): Promise<number | null> => {
  const { body } = await realm.call(getChannel, as, {}, { path: { stream_id } });
  return body.stream.first_message_id;
};

const removed = async (realm: TestRealm, as: Person, message_id: number): Promise<void> => {
  expect(await realm.call(deleteMessage, as, {}, { path: { message_id } })).toMatchObject({ status: 200 });
};

describe('where an index shows changes ten seconds late', () => {
  it('a message is found by everybody, however many changes of others came after it', async () => {
    const given = await newRealm();
    const { member, admin } = given.people;
    const { channelId } = await givenChannel(given, {}, [member, admin]);
    const { channelId: elsewhere } = await givenChannel(given, {}, [admin]);
    const realm = await withLateIndexes(given, 10_000);
    const id = await say(realm, admin, channelId, 'tea');
    // Each is a slot of its own, as when people write elsewhere.
    await sayMany(realm, [admin], elsewhere, 'talk', 90);
    await sayMany(realm, [admin], elsewhere, 'talk', 90);
    expect((await unreadOf(realm, member)).get(channelId)).toEqual([id]);
    expect(await idsIn(realm, member, { narrow: [['channel', channelId]] })).toEqual([id]);
    expect(await firstOf(realm, member, channelId)).toBe(id);
  });

  it('a message that mentions a user since an edit has the flag of a mention', async () => {
    const given = await newRealm();
    const { member, admin } = given.people;
    const { channelId } = await givenChannel(given, {}, [member, admin]);
    const realm = await withLateIndexes(given, 10_000);
    const { channelId: elsewhere } = await givenChannel(realm, {}, [admin]);
    const id = await say(realm, admin, channelId, 'tea');
    await sayMany(realm, [admin], elsewhere, 'talk', 90);
    realm.pass(60_000);
    expect(await update(realm, admin, id, { content: '@**Max Member**' })).toMatchObject(success);
    const { state } = await givenClient(realm, member, parameters);
    expect(state.unread_msgs).toMatchObject({ count: 1, mentions: [id] });
  });

  it.each(SEEDS)(
    'everybody finds each message where it is now, and no others (story %i)',
    async (seed) => {
      const given = await newRealm();
      const { member, admin, owner } = given.people;
      const channels = [
        await givenChannel(given, {}, [member, admin, owner]),
        await givenChannel(given, {}, [member, admin, owner]),
      ].map(({ channelId }) => channelId);
      const { channelId: elsewhere } = await givenChannel(given, {}, [admin]);
      const realm = await withLateIndexes(given, 10_000);
      const random = randomFrom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
      const truth = new Map<number, { channelId: number; topic: string }>();
      const here = (channelId: number, topic?: string): number[] =>
        [...truth]
          .filter(([, at]) => at.channelId === channelId && (topic === undefined || at.topic === topic))
          .map(([id]) => id)
          .sort((a, b) => a - b);
      const deeds = {
        say: async () => {
          const at = { channelId: pick(channels), topic: pick(['tea', 'cake']) };
          truth.set(await say(realm, admin, at.channelId, at.topic), at);
        },
        talk: () => sayMany(realm, [admin], elsewhere, 'talk', 1 + Math.floor(random() * 60)),
        wait: async () => realm.pass(Math.floor(random() * 4_000)),
        move: async () => {
          const id = pick([...truth.keys()]);
          const from = truth.get(id) as { channelId: number; topic: string };
          const to = { channelId: pick(channels), topic: pick(['tea', 'cake']) };
          if (from.channelId === to.channelId && from.topic === to.topic) return;
          const propagate_mode = pick(['change_one', 'change_later', 'change_all']);
          const change = { stream_id: to.channelId, topic: to.topic, propagate_mode };
          expect(await move(realm, admin, id, change)).toMatchObject(success);
          await workedOff(realm);
          for (const [other, at] of truth) {
            const isWith =
              other === id ||
              (propagate_mode === 'change_later' ? other > id : propagate_mode === 'change_all');
            if (isWith && at.channelId === from.channelId && at.topic === from.topic) truth.set(other, to);
          }
        },
        remove: async () => {
          const id = random() < 0.6 ? Math.min(...truth.keys()) : pick([...truth.keys()]);
          await removed(realm, owner, id);
          truth.delete(id);
        },
      };
      for (let step = 0; step < Number(LATE_STEPS); step++) {
        const deed = pick(['say', 'say', 'say', 'talk', 'wait', 'wait', 'move', 'move', 'remove'] as const);
        if (truth.size === 0 && (deed === 'move' || deed === 'remove')) continue;
        await deeds[deed]();
        if (step % 3 > 0) continue;
        const unread = await unreadOf(realm, member);
        for (const channelId of channels) {
          const told = `step ${step}, channel ${channelId}`;
          expect(unread.get(channelId) ?? [], told).toEqual(here(channelId));
          expect(await idsIn(realm, member, { narrow: [['channel', channelId]] }), told).toEqual(
            here(channelId),
          );
          const topic = pick(['tea', 'cake']);
          const narrow = [
            ['channel', channelId],
            ['topic', topic],
          ];
          expect(await idsIn(realm, member, { narrow }), told).toEqual(here(channelId, topic));
          expect(await firstOf(realm, member, channelId), told).toBe(here(channelId)[0] ?? null);
        }
      }
      expect(await audit(given)).toEqual([]);
    },
    120_000,
  );
});
