import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as outbox } from '../../functions/workers/outbox.ts';
import { STEP } from '../../shared/domain/move/step.ts';
import { type Left, outboxKey } from '../../shared/domain/outbox/outbox.ts';
import { key } from '../../shared/table/keys.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient, said } from '../support/event-queue.ts';
import { conflict, fault, meanwhile, requestOf } from '../support/faults.ts';
import { givenChannel, givenSubscription, givenUser } from '../support/given.ts';
import {
  givenTwoChannels,
  isCommit,
  move,
  refused,
  say,
  sayMany,
  success,
  toldOf,
  topicsOf,
  update,
} from '../support/message-update.ts';
import { deliver, endingAt, kindsOf, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { react } from '../support/reactions.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber, storedCount, storedTopic } from '../support/stored.ts';
import { queued, runQueue } from '../support/worker-run.ts';

/*
 * Moves of more messages than one transaction takes: the first step goes with the request, the others by the outbox.
 */

const all = { propagate_mode: 'change_all' };
const later = { propagate_mode: 'change_later' };

const sorted = (ids: readonly number[]): number[] => ids.toSorted((a, b) => a - b);

describe('DESIGN 7: moving more messages than one transaction takes', () => {
  it.each([false, true])(
    '%s to another channel takes three round trips, cold and warm, and then all of them are there',
    async (leaves) => {
      const realm = await newRealm();
      const { member, moderator } = realm.people;
      const { people, source, target } = await givenTwoChannels(realm, 25);
      const { channelId } = leaves ? target : source;
      const container = realm.container();
      for (const topic of ['tea', 'soup']) {
        const ids = await sayMany(realm, people, source.channelId, topic, 45);
        await react(realm, moderator, ids[3] as number);
        const start = await lastNumber(realm);
        const asked = ids[20] as number;
        container.meter.reset();
        const change = { topic: `${topic} later`, ...all, ...(leaves && { stream_id: target.channelId }) };
        expect(await update(container, member, asked, change)).toMatchObject(success);
        expect(container.meter.calls.filter(isCommit)).toMatchObject([{ depth: 3 }]);
        expect(await topicsOf(realm, [asked])).toEqual([`${topic} later`]);
        await workedOff(realm);
        expect(new Set(await topicsOf(realm, ids))).toEqual(new Set([`${topic} later`]));
        expect(await storedTopic(realm, source.channelId, topic)).toBeUndefined();
        const stored = await storedTopic(realm, channelId, `${topic} later`);
        expect(stored).toMatchObject({ arrived: 46, left: 0, participants: 28 });
        expect(stored).not.toHaveProperty('moving');
        const told = (await toldOf(realm, start)).flat();
        const others = ids.filter((id) => id !== asked);
        expect(told).toEqual([...others.slice(0, STEP - 1), asked, ...others.slice(STEP - 1)]);
      }
      expect(await audit(realm)).toEqual([]);
    },
  );

  it('the request reads and writes no more for 90 messages than for 21', async () => {
    const costs: unknown[] = [];
    for (const count of [21, 90]) {
      const realm = await newRealm();
      const { member } = realm.people;
      const { general } = realm.channels;
      const ids = await sayMany(realm, [member], general, 'tea', count);
      const container = realm.container();
      expect(await update(container, member, ids[0] as number, { topic: 'cake', ...all })).toMatchObject(
        success,
      );
      costs.push([container.meter.roundTrips, container.meter.calls.length]);
    }
    expect(costs[1]).toEqual(costs[0]);
  });

  it.each([
    ['turned away', false],
    ['done, but not heard of', true],
  ])('leaves no mark on its topics if its last step is %s at first', async (_, isDone) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 25);
    expect(await update(realm, member, ids[0] as number, { topic: 'cake', ...all })).toMatchObject(success);
    await sayMany(realm, [member], general, 'tea', 1);
    let met = 0;
    const worker = realm.container((send) => async (command) => {
      const ends = requestOf(command) === 'transact' && /REMOVE #moving/.test(JSON.stringify(command));
      if (!ends || met++ > 0) return send(command);
      if (isDone) await send(command);
      throw isDone ? fault('TimeoutError') : conflict();
    });
    await workedOff(worker);
    expect(met).toBeGreaterThan(0);
    for (const topic of ['tea', 'cake']) {
      const stored = await storedTopic(realm, general, topic);
      expect(stored).toBeDefined();
      expect(stored).not.toHaveProperty('moving');
    }
    expect(await audit(realm)).toEqual([]);
  });

  it('applies the time limit to the oldest message', async () => {
    const realm = await newRealm({ move_messages_within_stream_limit_seconds: 1_000 });
    const { member } = realm.people;
    const { general } = realm.channels;
    await givenSubscription(realm, await givenUser(realm), general);
    const old = await say(realm, member, general, 'tea');
    realm.pass(900_000);
    const ids = await sayMany(realm, [member], general, 'tea', 25);
    const container = realm.container();
    const change = { topic: 'cake', ...all };
    expect(await move(container, member, ids[3] as number, change)).toMatchObject(success);
    expect(container.meter.roundTrips).toBe(3);
    await workedOff(realm);
    realm.pass(300_000);
    expect(await move(realm, member, ids[3] as number, { topic: 'pie', ...all })).toMatchObject({
      body: {
        code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
        first_message_id_allowed_to_move: ids[0],
        total_messages_in_topic: 26,
        total_messages_allowed_to_move: 25,
      },
    });
    expect(new Set(await topicsOf(realm, [old, ...ids]))).toEqual(new Set(['cake']));
    expect(await leftIn(realm)).toEqual([]);
  });
});

describe('the messages that follow', () => {
  it('are those that existed, that the mover may read, and for change_later those after the message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const protectedHistory = { isPrivate: true, historyPublicToSubscribers: false };
    const { channelId } = await givenChannel(realm, protectedHistory, [admin]);
    const before = await sayMany(realm, [admin], channelId, 'tea', 24);
    await givenSubscription(realm, member, channelId, { since: await lastNumber(realm) });
    const after = await sayMany(realm, [admin], channelId, 'tea', 24);
    expect(await update(realm, member, after[5] as number, { topic: 'cake', ...all })).toMatchObject(success);
    const since = await say(realm, admin, channelId, 'tea');
    await workedOff(realm);
    expect(new Set(await topicsOf(realm, [...before, since]))).toEqual(new Set(['tea']));
    expect(new Set(await topicsOf(realm, after))).toEqual(new Set(['cake']));
    const kept = await storedTopic(realm, channelId, 'tea');
    expect(kept).toMatchObject({ arrived: 49, left: 24, maxId: since });
    expect(kept).not.toHaveProperty('moving');
    expect(await update(realm, admin, after[2] as number, { topic: 'pie', ...later })).toMatchObject(success);
    await workedOff(realm);
    expect(await topicsOf(realm, after.slice(0, 4))).toEqual(['cake', 'cake', 'pie', 'pie']);
    expect(await audit(realm)).toEqual([]);
  });

  it('cause one notice with their number in the old and the new topic, once all have moved', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 26);
    const client = await givenClient(realm, admin, { event_types: ['message'] });
    const who = `@_**Max Member|${member.userId}**`;
    const both = { send_notification_to_old_thread: true, send_notification_to_new_thread: true };
    const told = async (id: number, change: object): Promise<string[]> => {
      expect(await update(realm, member, id, { ...both, ...change })).toMatchObject(success);
      expect(said(await client.poll())).toEqual([]);
      await workedOff(realm);
      return said(await client.poll());
    };
    expect(await told(ids[2] as number, { stream_id: random, ...later })).toEqual([
      `24 messages were moved here from #**general>tea** by ${who}.`,
      `24 messages were moved from this topic to #**random>tea** by ${who}.`,
    ]);
    expect(await told(ids[5] as number, { stream_id: general, topic: '✔ tea', ...all })).toEqual([
      `This topic was moved here from #**random>tea** by ${who}.`,
      `This topic was moved to #**general>✔ tea** by ${who}.`,
    ]);
    const resolve = { topic: 'tea', ...all, send_notification_to_old_thread: false };
    expect(await told(ids[5] as number, resolve)).toEqual([`${who} has marked this topic as unresolved.`]);
  });

  it('also follow if only the spelling of the topic changes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 30);
    expect(await move(realm, member, ids[7] as number, { topic: 'Tea', ...all })).toMatchObject(success);
    await workedOff(realm);
    expect(new Set(await topicsOf(realm, ids))).toEqual(new Set(['Tea']));
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({ topic: 'Tea', arrived: 30, left: 0 });
    expect(await audit(realm)).toEqual([]);
  });

  it('stay if the channel takes no named topics any more and those that moved before were deleted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 22);
    const asked = ids[0] as number;
    expect(await update(realm, member, asked, { stream_id: random, topic: 'cake', ...all })).toMatchObject(
      success,
    );
    for (const id of ids.slice(0, STEP))
      await realm.call(deleteMessage, admin, {}, { path: { message_id: id } });
    await realm.outside.table.update(key('channelCount', { realm: realm.realm, channelId: random }), {
      set: { onlyEmptyTopic: true },
    });
    await deliver(realm, messagesOf(await leftIn(realm)));
    expect(new Set(await topicsOf(realm, ids.slice(STEP)))).toEqual(new Set(['tea']));
    expect(await storedTopic(realm, general, 'tea')).not.toHaveProperty('moving');
    expect(await storedCount(realm, random)).toMatchObject({ onlyEmptyTopic: true });
  });
});

describe('the worker that moves the rest', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])(
    'leaves whole steps if it ends with its transaction %i, and the next one continues',
    async (nth) => {
      const realm = await newRealm();
      const { member, admin } = realm.people;
      const { general } = realm.channels;
      const ids = await sayMany(realm, [member, admin], general, 'tea', 43);
      const start = await lastNumber(realm);
      const client = await givenClient(realm, admin, { event_types: ['message'] });
      const change = { topic: 'cake', ...later, send_notification_to_old_thread: true };
      expect(await update(realm, member, ids[1] as number, change)).toMatchObject(success);
      const messages = messagesOf(await leftIn(realm));
      const { batchItemFailures } = await deliver(endingAt(realm, nth), messages);
      if (nth < 6) expect(batchItemFailures).toHaveLength(1);
      const moved = (await topicsOf(realm, ids)).filter((topic) => topic === 'cake').length;
      const stored = await storedTopic(realm, general, 'cake');
      expect(stored?.maxId).toBeGreaterThanOrEqual(ids[1] as number);
      expect((stored?.arrived ?? 0) - (stored?.left ?? 0)).toBeGreaterThanOrEqual(moved);
      await deliver(realm, messages);
      await deliver(realm, messages);
      expect(await leftIn(realm)).toEqual([]);
      expect(await topicsOf(realm, ids)).toEqual(ids.map((_, i) => (i === 0 ? 'tea' : 'cake')));
      expect(sorted((await toldOf(realm, start)).flat())).toEqual(ids.slice(1));
      const who = `@_**Max Member|${member.userId}**`;
      expect(said(await client.poll())).toEqual([
        `42 messages were moved here from #**general>tea** by ${who}.`,
        `42 messages were moved from this topic to #**general>cake** by ${who}.`,
      ]);
      expect(await audit(realm)).toEqual([]);
    },
  );

  it('stops when it has no time left, and leaves the rest to another', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 30);
    expect(await move(realm, member, ids[0] as number, { topic: 'cake', ...all })).toMatchObject(success);
    const messages = messagesOf(await leftIn(realm));
    expect(
      await runQueue(
        realm,
        outbox,
        messages.map((body) => queued(body)),
        5,
      ),
    ).toEqual({
      batchItemFailures: [],
    });
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({ arrived: 30, left: STEP });
    expect(await leftIn(realm)).toHaveLength(1);
    await workedOff(realm);
    expect(await storedTopic(realm, general, 'tea')).toBeUndefined();
  });

  it('moves and notifies once if several run at once, for queue messages that come twice and late', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member, admin], general, 'tea', 61);
    const start = await lastNumber(realm);
    const client = await givenClient(realm, admin, { event_types: ['message'] });
    expect(await update(realm, member, ids[60] as number, { topic: 'cake', ...all })).toMatchObject(success);
    const messages = messagesOf(await leftIn(realm));
    const runs = await Promise.all([1, 2, 3].map(() => deliver(realm.container(), messages)));
    // Who was overtaken too often is called again.
    if (runs.some(({ batchItemFailures }) => batchItemFailures.length > 0)) await deliver(realm, messages);
    expect(await leftIn(realm)).toEqual([]);
    expect(sorted((await toldOf(realm, start)).flat())).toEqual(ids);
    expect(said(await client.poll())).toHaveLength(1);
    // Messages that a user moved back meanwhile are not moved again by a late queue message.
    expect(await move(realm, admin, ids[0] as number, { topic: 'tea' })).toMatchObject(success);
    await deliver(realm, messages);
    expect(await topicsOf(realm, ids.slice(0, 2))).toEqual(['tea', 'cake']);
    expect(await audit(realm)).toEqual([]);
  });

  it('moves nothing more if another one took over during a step', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 22);
    expect(await move(realm, member, ids[0] as number, { topic: 'cake', ...all })).toMatchObject(success);
    const messages = messagesOf(await leftIn(realm));
    const overtaken = realm.container(
      meanwhile(async () => {
        await deliver(realm, messages);
        expect(await move(realm, admin, ids[4] as number, { topic: 'tea' })).toMatchObject(success);
      }),
    );
    expect(await deliver(overtaken, messages)).toEqual({ batchItemFailures: [] });
    expect(await topicsOf(realm, ids.slice(3, 6))).toEqual(['cake', 'tea', 'cake']);
    expect(await audit(realm)).toEqual([]);
  });
});

describe('further moves before the worker runs', () => {
  const given = async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 24);
    expect(await move(realm, member, ids[3] as number, { topic: 'cake', ...all })).toMatchObject(success);
    return { realm, ids };
  };

  it.each([
    ['back', 3, { topic: 'tea', ...all }, 'tea', 'tea'],
    ['back, by one that did not go yet', 22, { topic: 'tea', ...all }, 'tea', 'tea'],
    ['on', 3, { topic: 'pie', ...all }, 'pie', 'pie'],
    ['on, by one that did not go yet', 22, { topic: 'pie', ...all }, 'pie', 'pie'],
    ['one back', 22, { topic: 'tea' }, 'tea', 'cake'],
    ['one on', 22, { topic: 'pie' }, 'pie', 'cake'],
    ['one that went', 3, { topic: 'pie' }, 'pie', 'cake'],
  ] as const)(
    '%s: have the same result as if each had been completed at once',
    async (_, nth, change, there, others) => {
      const { realm, ids } = await given();
      const { admin } = realm.people;
      expect(await move(realm, admin, ids[nth] as number, change)).toMatchObject(success);
      await workedOff(realm);
      expect(await topicsOf(realm, ids)).toEqual(ids.map((_, i) => (i === nth ? there : others)));
      expect(await audit(realm)).toEqual([]);
    },
  );

  it('are refused if they name the target of the move under way', async () => {
    const { realm, ids } = await given();
    const { admin } = realm.people;
    for (const id of [ids[3], ids[22]] as number[])
      expect(await move(realm, admin, id, { topic: 'cake', ...all })).toMatchObject(refused);
    expect(kindsOf(await leftIn(realm))).toEqual(['policies']);
    expect(new Set(await topicsOf(realm, ids))).toEqual(new Set(['cake']));
  });

  it('may bring other messages to the topic that the rest is leaving', async () => {
    const { realm, ids } = await given();
    const { admin } = realm.people;
    const { general } = realm.channels;
    const other = await say(realm, admin, general, 'soup');
    expect(await move(realm, admin, other, { topic: 'tea' })).toMatchObject(success);
    await workedOff(realm);
    expect(await topicsOf(realm, [other, ...ids.slice(19, 21)])).toEqual(['tea', 'cake', 'cake']);
  });

  it('find the topics as they are if the first move was given up', async () => {
    const { realm, ids } = await given();
    const { admin } = realm.people;
    const { general } = realm.channels;
    const [job] = await leftIn(realm);
    await realm.outside.table.transact([{ delete: outboxKey(job as Left) }], randomUUID());
    expect(await move(realm, admin, ids[22] as number, { topic: 'pie' })).toMatchObject(success);
    expect(await topicsOf(realm, ids.slice(19, 24))).toEqual(['cake', 'tea', 'tea', 'pie', 'tea']);
    expect(await storedTopic(realm, general, 'tea')).not.toHaveProperty('moving');
  });
});
