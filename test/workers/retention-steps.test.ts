import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/workers/retention.ts';
import { MAX_WRITES } from '../../shared/log/commit.ts';
import { key } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { edited } from '../support/channel-state.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import {
  DAY,
  endingAt,
  givenDays,
  givenTopic,
  justBefore,
  left,
  run,
  runner,
} from '../support/retention-run.ts';
import { firstOf, loggedAfter, storedConversation, storedCount, storedTopic } from '../support/stored.ts';
import { runSchedule } from '../support/worker-run.ts';

/** The ids in the deletion events after this number of the log, in order. */
const told = async (realm: TestRealm, after: number): Promise<number[]> =>
  (await loggedAfter(realm, after)).flatMap((entry) =>
    entry.kind === 'event' && entry.payload.type === 'delete_message'
      ? (entry.payload.message_ids as number[])
      : [],
  );

const rising = (ids: readonly number[]): number[] => [...ids].sort((a, b) => a - b);

describe('a limit that was raised just before (4.2)', () => {
  it.each([
    ['of the channel, to more days', { message_retention_days: '30' }],
    ['of the channel, to unlimited', { message_retention_days: 'unlimited' }],
    [
      'of the channel, to that of the organization, which is higher',
      { message_retention_days: 'realm_default' },
    ],
  ])('%s is respected', async (_, change) => {
    const realm = await newRealm({ message_retention_days: 40 });
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [owner]);
    const ids = await sentMany(realm, owner, { to: channelId }, 3);
    realm.pass(2 * DAY);
    await run(realm, { faults: justBefore(() => edited(realm, owner, channelId, change)) });
    expect(await left(realm, ids)).toEqual(ids);
  });

  it('of the organization is respected, in channels and direct messages', async () => {
    for (const days of [30, -1]) {
      const realm = await newRealm({ message_retention_days: 1 });
      const { member, admin } = realm.people;
      const direct = await sent(realm, member, { people: [admin] });
      const id = await sent(realm, member, { to: realm.channels.general });
      realm.pass(2 * DAY);
      await run(realm, { faults: justBefore(() => givenDays(realm, days)) });
      expect(await left(realm, [direct, id])).toEqual([direct, id]);
    }
  });

  it('that was lowered during a run takes effect on the same day', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 30 }, [owner]);
    const id = await sent(realm, owner, { to: channelId });
    realm.pass(2 * DAY);
    const lowered = () => edited(realm, owner, channelId, { message_retention_days: '1' });
    await run(realm, { faults: justBefore(lowered, /^Update/) });
    expect(await left(realm, [id])).toEqual([id]);
    await run(realm);
    expect(await left(realm, [id])).toEqual([]);
  });

  it('keeps earlier versions of a message that was edited often', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [owner]);
    const id = await sent(realm, owner, { to: channelId });
    // Ten of them are kept with the message.
    for (let i = 0; i < 22; i++) await update(realm, owner, id, { content: `version ${i}` });
    realm.pass(2 * DAY);
    const unlimited = { message_retention_days: 'unlimited' };
    await run(realm, { faults: justBefore(() => edited(realm, owner, channelId, unlimited)) });
    const edits = await realm.outside.table.all('edit', { realm: realm.realm, messageId: id });
    expect(edits).toHaveLength(12);
  });
});

describe('bounded steps', () => {
  it('remove a thousand messages in whole transactions of at most a hundred writes, with events, at a counted cost', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member]);
    const ids = await givenTopic(realm, member, channelId, 'tea', 1_000);
    realm.pass(2 * DAY);
    const sizes: number[] = [];
    const counting =
      (store: Send): Send =>
      async (command) => {
        const { TransactItems } = (command as { input: { TransactItems?: object[] } }).input;
        if (TransactItems) sizes.push(TransactItems.length);
        return store(command);
      };
    const busy = runner(realm, { faults: counting });
    await runSchedule(busy, handler);
    expect(await left(realm, ids)).toEqual([]);
    expect(await storedTopic(realm, channelId, 'tea')).toBeUndefined();
    expect(await firstOf(realm, channelId)).toBeNull();
    expect(await told(realm, ids.at(-1) as number)).toEqual(ids);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_WRITES);
    expect(sizes.length).toBeLessThanOrEqual(40);
    // The message, its entries in two indexes, and a share of the events and of the item of its topic.
    expect(busy.meter.writeUnits / 1_000).toBeLessThan(8);
  }, 120_000);

  it('are large enough for the largest conversations and the most edited messages', async () => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member } = realm.people;
    const people: Person[] = [];
    for (let i = 0; i < 79; i++) people.push(await givenUser(realm));
    const ids = await sentMany(realm, member, { people }, 20);
    for (let i = 0; i < 12; i++)
      await update(realm, member, ids.at(-1) as number, { content: `version ${i}` });
    realm.pass(2 * DAY);
    await run(realm);
    expect(await left(realm, ids)).toEqual([]);
    expect(await storedConversation(realm, [member, ...people])).toBeUndefined();
  });

  it('leave valid data if a run ends between two of them, and the next run continues', async () => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const direct = await sentMany(realm, member, { people: [admin] }, 30);
    const ids = [...(await givenTopic(realm, member, channelId, 'tea', 100)), ...direct];
    realm.pass(2 * DAY);
    const start = Math.max(...ids);
    let remaining = ids.length;
    // Each run is ended in its second step: one is done, the other is not.
    for (let runs = 0; remaining > 0; runs++) {
      expect(runs).toBeLessThan(10);
      await run(realm, { faults: endingAt(2) }).catch(() => {});
      const here = await left(realm, ids);
      expect(here.length).toBeLessThan(remaining);
      remaining = here.length;
      const inTopic = here.filter((id) => !direct.includes(id));
      const topic = await storedTopic(realm, channelId, 'tea');
      expect(topic && topic.arrived - topic.left).toBe(inTopic.length || undefined);
      expect(topic?.maxId).toBe(inTopic.at(-1));
      expect(await firstOf(realm, channelId)).toBe(inTopic[0] ?? null);
      expect(rising([...(await told(realm, start)), ...here])).toEqual(rising(ids));
    }
  });

  it('stop when the time of a run is up, which keeps its place for the next run', async () => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member, admin } = realm.people;
    const ids = await sentMany(realm, member, { people: [admin] }, 3);
    const later = await givenTopic(realm, member, realm.channels.general, 'tea', 100);
    realm.pass(2 * DAY);
    // No time at all: nothing happens.
    await run(realm, { seconds: 30 });
    expect(await left(realm, ids)).toEqual(ids);
    // Time that passes with each command is over after a few steps.
    let passed = 0;
    const start = realm.outside.now();
    const slow =
      (store: Send): Send =>
      async (command) => {
        passed += 100;
        return store(command);
      };
    await run(realm, { faults: slow, outside: { now: () => start + passed }, seconds: 32 });
    const rest = await left(realm, [...ids, ...later]);
    expect(rest.length).toBeGreaterThan(0);
    expect(rest.length).toBeLessThan(103);
    const noted = await realm.outside.table.get('retention', { realm: realm.realm });
    expect(noted?.gone).toBeGreaterThanOrEqual(ids.at(-1) as number);
    await run(realm);
    expect(await left(realm, rest)).toEqual([]);
  });

  it('remove each message once in two concurrent runs, with one event', async () => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member]);
    const ids = [
      ...(await givenTopic(realm, member, channelId, 'tea', 60)),
      ...(await givenTopic(realm, member, channelId, 'cake', 60)),
      ...(await sentMany(realm, member, { people: [admin] }, 10)),
    ];
    const start = ids.at(-1) as number;
    realm.pass(2 * DAY);
    const young = await sent(realm, member, { to: channelId, topic: 'tea' });
    const { wait } = realm.outside;
    await Promise.all([1, 2, 3].map(() => run(realm, { outside: { wait } })));
    expect(await left(realm, ids)).toEqual([]);
    expect(rising(await told(realm, start))).toEqual(rising(ids));
    expect(await storedTopic(realm, channelId, 'tea')).toMatchObject({ maxId: young });
    expect(await storedTopic(realm, channelId, 'cake')).toBeUndefined();
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(young);
    expect(await storedConversation(realm, [member, admin])).toBeUndefined();
  });

  it('are done once if their reply was lost, with one event', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member]);
    const ids = await givenTopic(realm, member, channelId, 'tea', 60);
    realm.pass(2 * DAY);
    const losing =
      (store: Send): Send =>
      async (command) => {
        const output = await store(command);
        if (/TransactWrite/.test(command.constructor.name) && Math.random() < 0.5)
          throw Object.assign(new Error('the reply was lost'), { name: 'TimeoutError' });
        return output;
      };
    await run(realm, { faults: losing });
    expect(await left(realm, ids)).toEqual([]);
    expect(await told(realm, ids.at(-1) as number)).toEqual(ids);
  });

  it('leave valid data while users write to the topic and edit removed messages', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member, owner]);
    const ids = await givenTopic(realm, member, channelId, 'tea', 100);
    realm.pass(2 * DAY);
    const writing = async (): Promise<number[]> => {
      const young: number[] = [];
      for (let i = 0; i < 10; i++) {
        young.push(await sent(realm, owner, { to: channelId, topic: 'tea' }));
        await update(realm, member, ids[99 - i] as number, { content: `late ${i}` });
      }
      return young;
    };
    const { wait } = realm.outside;
    const [young] = await Promise.all([writing(), run(realm, { outside: { wait } })]);
    await run(realm);
    expect(await left(realm, ids)).toEqual([]);
    expect(await storedTopic(realm, channelId, 'tea')).toMatchObject({
      maxId: young.at(-1),
      arrived: 110,
      left: 100,
    });
  });

  it('that fail are reported and retried, and do not block others', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const [broken, fine] = [
      await givenChannel(realm, { messageRetentionDays: 1 }, [member]),
      await givenChannel(realm, { messageRetentionDays: 1 }, [member]),
    ];
    const stuck = await sent(realm, member, { to: broken.channelId });
    const id = await sent(realm, member, { to: fine.channelId });
    realm.pass(2 * DAY);
    const breaking =
      (store: Send): Send =>
      async (command) => {
        if (JSON.stringify(command).includes(key('channel', { realm: realm.realm, ...broken }).sk))
          throw new Error('out of order');
        return store(command);
      };
    const trying = runner(realm, { faults: breaking });
    await expect(runSchedule(trying, handler)).rejects.toThrow('some limits could not be kept');
    expect(await left(realm, [stuck, id])).toEqual([stuck]);
    expect(trying.reports).toContainEqual(
      expect.objectContaining({ level: 'ERROR', worker: 'retention', channelId: broken.channelId }),
    );
    await run(realm);
    expect(await left(realm, [stuck])).toEqual([]);
  });
});
