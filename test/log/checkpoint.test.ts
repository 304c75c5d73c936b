import { describe, expect, it } from 'vitest';
import {
  commitAndCheckpoint,
  type KnownHead,
  saveCheckpoint,
  stableHead,
} from '../../shared/log/checkpoint.ts';
import { type Change, commit } from '../../shared/log/commit.ts';
import { allocate, fill, GIVEN_UP, type Log, SETTLE, WHOLE } from '../../shared/log/log.ts';
import { KEPT } from '../../shared/log/slot.ts';
import { key } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import { type Mishap, mishaps, refusedWith } from '../support/faults.ts';
import { messageTo, slotsOf } from '../support/log-entries.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

async function scene() {
  const realm = await newRealm();
  const { log } = realm;
  const say = (content: string, taken?: readonly number[], writes: readonly Write[] = []): Promise<number> =>
    commit(
      log,
      1,
      ([id]) => ({
        writes,
        entries: [messageTo(realm.channels.general, 1, content)],
        result: id as number,
      }),
      taken && Promise.resolve(taken),
    );
  const checkpoint = async (): Promise<number | undefined> =>
    (await log.table.get('solid', { realm: realm.realm }))?.seq;
  return { realm, log, say, checkpoint, start: (await checkpoint()) as number };
}

/** A write of something that all registrations read. */
const markOf = ({ realm, channels }: TestRealm): Write => ({
  update: key('channelCount', { realm, channelId: channels.general }),
  change: { set: { lastActiveDay: 1 } },
});

/** A write of something that only the registrations of the member read. */
const ownOf = ({ realm, people }: TestRealm): Write => ({
  put: key('star', { realm, userId: people.member.userId, messageId: 1 }),
  item: { messageId: 1 },
});

/** What a send writes that no registration reads. */
const aroundMessage = ({ realm, people, channels }: TestRealm): readonly Write[] => [
  { put: key('sent', { realm, userId: people.member.userId, token: 'one' }), item: { messageId: 1 } },
  {
    update: key('topic', { realm, channelId: channels.general, topic: 'greetings' }),
    change: { add: { arrived: 1 } },
  },
  { check: key('channel', { realm, channelId: channels.general }), when: { absent: false } },
];

/** The log as another container reads it, which notes how long it waits and how many slots it gets. */
function waiting(realm: TestRealm) {
  const slots: number[] = [];
  const { log, meter } = realm.container((store) => async (command) => {
    const answer = (await store(command)) as { readonly Items?: readonly unknown[] };
    if (answer.Items) slots.push(answer.Items.length);
    return answer;
  });
  const waits: number[] = [];
  const patient: Log = { ...log, wait: async (ms) => void waits.push(ms) };
  return { patient, waits, meter, slots };
}

const later = (log: Log, ms: number): Log => ({ ...log, now: () => log.now() + ms });

/** Writes many numbers fast, as a writer that gives them back at once. */
async function growBy(log: Log, count: number): Promise<number> {
  const numbers = await allocate(log, count);
  await fill(log, numbers.at(-1) as number, { width: count });
  return numbers.at(-1) as number;
}

describe('the stable head', () => {
  it('is the last number up to which everything is written', async () => {
    const { log, say, start } = await scene();
    expect((await stableHead(log)).seq).toBe(start);
    const one = await say('one');
    expect(await stableHead(log)).toEqual({ seq: one, messageId: one });
    const open = await allocate(log, 2);
    await say('four');
    expect((await stableHead(log)).seq).toBe(one);
    await say('two', open);
    expect((await stableHead(log)).seq).toBe(one + 3);
  });

  it('fills a hole that stays too long, and goes on behind it', async () => {
    const { log, say } = await scene();
    await allocate(log, 2);
    const last = await say('after');
    expect(await stableHead(later(log, GIVEN_UP))).toEqual({ seq: last, messageId: last });
  });

  it('is returned once everything up to it can be read, in one round trip', async () => {
    const { realm, say } = await scene();
    await say('one', undefined, [markOf(realm)]);
    const { patient, waits, meter } = waiting(realm);
    await stableHead(patient);
    expect(waits).toEqual([SETTLE]);
    expect(meter.roundTrips).toBe(1);
    await stableHead(later(patient, WHOLE));
    expect(waits).toHaveLength(1);
  });

  it.each([
    ['messages', 'member', () => []],
    ['messages of clients that may retry, in topics that exist', 'member', aroundMessage],
    ['items of other users', 'admin', (realm: TestRealm) => [...aroundMessage(realm), ownOf(realm)]],
  ] as const)('is returned at once if only %s are new', async (_, name, writes) => {
    const { realm, say } = await scene();
    const one = await say('one', undefined, writes(realm));
    const { patient, waits } = waiting(realm);
    expect(await stableHead(patient, { userIds: [realm.people[name].userId] })).toEqual({
      seq: one,
      messageId: one,
    });
    expect(waits).toEqual([]);
  });

  it.each([
    ['an item of the user', 'member', ownOf],
    ['an item for all', 'admin', markOf],
  ] as const)('is not returned at once if %s is new', async (_, name, write) => {
    const { realm, say } = await scene();
    await say('one', undefined, [...aroundMessage(realm), write(realm)]);
    await say('two');
    const { patient, waits } = waiting(realm);
    await stableHead(patient, { userIds: [realm.people[name].userId] });
    expect(waits).toEqual([SETTLE]);
  });

  it('is not returned at once where a checkpoint has just passed a change', async () => {
    const { realm, log, say, checkpoint } = await scene();
    const last = await say('one', undefined, [markOf(realm)]);
    await growBy(log, 300);
    await saveCheckpoint(log);
    expect(await checkpoint()).toBe(last + 300);
    const { patient, waits } = waiting(realm);
    await stableHead(patient);
    expect(waits).toEqual([SETTLE]);
  });

  it('is not returned at once where more was written lately than one query reads', async () => {
    const { realm, log, say } = await scene();
    await say('one', undefined, [markOf(realm)]);
    for (let i = 0; i < 330; i++) await growBy(log, 1);
    const { patient, waits } = waiting(realm);
    await stableHead(patient);
    expect(waits).toEqual([SETTLE]);
  });

  it('is found from a checkpoint that follows the log, with few reads', async () => {
    const { log, checkpoint, start, realm } = await scene();
    expect(await growBy(log, 300)).toBe(start + 300);
    await saveCheckpoint(log);
    expect(await checkpoint()).toBe(start + 300);
    for (let i = 0; i < 330; i++) await growBy(log, 1);
    const { log: reader, meter } = realm.container();
    expect((await stableHead(reader)).seq).toBe(start + 630);
    expect(await checkpoint()).toBe(start + 630);
    // The first query did not reach the checkpoint.
    expect(meter.calls.map(({ action }) => action).sort()).toEqual(['BatchGet', 'Query', 'Query', 'Update']);
  });

  it('is found by a container that remembers it without reading again what is below', async () => {
    const { realm, say, start } = await scene();
    await say('one', undefined, [markOf(realm)]);
    const { patient, waits, slots } = waiting(realm);
    const heads = new Map<string, KnownHead>();
    await stableHead(patient, { heads });
    const further = later(patient, SETTLE);
    await stableHead(further, { heads });
    const two = await say('two');
    await stableHead(further, { heads, userIds: [] });
    expect(slots).toEqual([1, 0, 1]);
    expect(waits).toEqual([SETTLE]);
    expect(heads.get(realm.realm)).toMatchObject({ seq: two, messageId: two });
    for (let i = 0; i < 330; i++) await growBy(patient, 1);
    expect(await stableHead(further, { heads })).toEqual({ seq: start + 332, messageId: two });
    // What many wrote since may not be whole.
    expect(waits).toEqual([SETTLE, SETTLE]);
  });

  it('is returned later to the next user while what the last one read may not be whole', async () => {
    const { realm, say } = await scene();
    const { admin, member } = realm.people;
    await say('one', undefined, [ownOf(realm)]);
    const { patient, waits } = waiting(realm);
    const heads = new Map<string, KnownHead>();
    await stableHead(patient, { heads, userIds: [admin.userId] });
    expect(waits).toEqual([]);
    await stableHead(patient, { heads, userIds: [member.userId] });
    expect(waits).toEqual([SETTLE]);
    await stableHead(later(patient, SETTLE), { heads, userIds: [member.userId] });
    expect(waits).toEqual([SETTLE]);
  });

  it('never moves the checkpoint back', async () => {
    const { realm, log, checkpoint, start } = await scene();
    await growBy(log, 300);
    const overtaken: Mishap = async (send) => {
      await log.table.update(key('solid', { realm: realm.realm }), { set: { seq: start + 5_000 } });
      return send();
    };
    await saveCheckpoint(realm.container(mishaps({ update: [overtaken] })).log);
    expect(await checkpoint()).toBe(start + 5_000);
  });

  it('is found across numbers whose events were deleted, without filling those', async () => {
    const { log, say, start } = await scene();
    await allocate(log, 40);
    const last = await say('after a long silence');
    expect(await stableHead(later(log, KEPT))).toMatchObject({ seq: last });
    expect(last).toBe(start + 41);
    expect(await slotsOf(log)).toHaveLength(1);
  });
});

describe('a commit', () => {
  it('saves a checkpoint when it takes every 256th number', async () => {
    const { log, checkpoint, start, realm } = await scene();
    const say = (): Promise<number> =>
      commitAndCheckpoint(log, realm.outside.report, 1, ([id]) => ({
        writes: [],
        entries: [messageTo(realm.channels.general, 1, 'here')],
        result: id as number,
      }));
    await growBy(log, 511 - start);
    expect([await say(), await checkpoint()]).toEqual([512, 512]);
    expect([await say(), await checkpoint()]).toEqual([513, 512]);
  });

  it('succeeds and reports it when only the checkpoint fails', async () => {
    const { log, checkpoint, start, realm } = await scene();
    await growBy(log, 511 - start);
    const broken = realm.container(mishaps({ query: [refusedWith(() => new Error('no reads'))] }));
    const plan = (): Change<string> => ({
      writes: [],
      entries: [messageTo(realm.channels.general, 1, 'here')],
      result: 'done',
    });
    expect(await commitAndCheckpoint(broken.log, broken.outside.report, 1, plan)).toBe('done');
    expect(await checkpoint()).toBe(start);
    expect(broken.reports).toEqual([
      { level: 'WARN', message: 'checkpoint not saved', error: 'Error: no reads' },
    ]);
  });
});
