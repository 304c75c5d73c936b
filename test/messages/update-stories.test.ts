import { expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { audit } from '../support/audit/audit.ts';
import { givenChannel } from '../support/given.ts';
import { move, refused, say, sayMany, success, topicsOf } from '../support/message-update.ts';
import { deliver, endingAt, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { randomFrom } from '../support/random.ts';
import { newRealm } from '../support/realm.ts';

/*
 * Requests one after the other, while workers come late, twice, or end in the middle: in the end every message is where
 * it would be if each request had been done at once. `MOVES_SEED`, `MOVES_STORIES` and `MOVES_STEPS` search on.
 */

const { MOVES_SEED = '1', MOVES_STORIES = '3', MOVES_STEPS = '12' } = process.env;
const SEEDS = Array.from({ length: Number(MOVES_STORIES) }, (_, i) => Number(MOVES_SEED) + i);
const STEPS = Number(MOVES_STEPS);

const TOPICS = ['tea', 'cake', 'Tea', ''] as const;

it.each(SEEDS)(
  'moves have the same result as if each had been completed at once (story %i)',
  async (seed) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const channels = [
      await givenChannel(realm, {}, [member, admin]),
      await givenChannel(realm, {}, [member]),
    ];
    const [here, there] = channels.map(({ channelId }) => channelId) as [number, number];
    const random = randomFrom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const ids = await sayMany(realm, [member, admin], here, 'tea', 26);
    /** Where each message is to be. */
    const truth = new Map(ids.map((id) => [id, { channelId: here, topic: 'tea' }]));

    const deeds = {
      say: async () => {
        const [channelId, topic] = [pick([here, there]), pick(TOPICS)];
        truth.set(await say(realm, member, channelId, topic), { channelId, topic });
      },
      move: async () => {
        const id = pick([...truth.keys()]);
        const from = truth.get(id) as { channelId: number; topic: string };
        const to = { channelId: pick([here, there]), topic: pick(TOPICS) };
        const mode = pick(['change_all', 'change_all', 'change_later', 'change_one'] as const);
        const change = { stream_id: to.channelId, topic: to.topic, propagate_mode: mode };
        const isMove = from.channelId !== to.channelId || from.topic !== to.topic;
        const told = `${id} ${JSON.stringify([from, to, mode])}`;
        expect(await move(realm, admin, id, change), told).toMatchObject(isMove ? success : refused);
        for (const [other, place] of isMove ? truth : []) {
          const isWith = mode === 'change_all' || (mode === 'change_later' && other >= id) || other === id;
          const same = place.topic.toLowerCase() === from.topic.toLowerCase();
          if (isWith && same && place.channelId === from.channelId) truth.set(other, to);
        }
      },
      remove: async () => {
        const id = pick([...truth.keys()]);
        expect((await realm.call(deleteMessage, admin, {}, { path: { message_id: id } })).status).toBe(200);
        truth.delete(id);
      },
      work: () => workedOff(realm),
      ending: async () =>
        deliver(endingAt(realm, 1 + Math.floor(random() * 6)), messagesOf(await leftIn(realm))),
    };

    for (let step = 0; step < STEPS; step++) {
      const deed = pick(['say', 'move', 'move', 'move', 'move', 'remove', 'work', 'ending'] as const);
      await deeds[deed]();
    }
    await workedOff(realm);
    expect(await topicsOf(realm, [...truth.keys()])).toEqual([...truth.values()].map(({ topic }) => topic));
    expect(await audit(realm)).toEqual([]);
  },
  120_000,
);
