import { describe, expect, it } from 'vitest';
import { commitAndCheckpoint, saveCheckpoint, stableHead } from '../../shared/log/checkpoint.ts';
import { type Change, commit } from '../../shared/log/commit.ts';
import { allocate, fill, GIVEN_UP, type Log, SETTLE, WHOLE } from '../../shared/log/log.ts';
import { KEPT } from '../../shared/log/slot.ts';
import { key } from '../../shared/table/keys.ts';
import { type Mishap, mishaps, refusedWith } from '../support/faults.ts';
import { messageTo, slotsOf } from '../support/log-entries.ts';
import { newRealm } from '../support/realm.ts';

async function scene() {
  const realm = await newRealm();
  const { log } = realm;
  const say = (content: string, taken?: readonly number[]): Promise<number> =>
    commit(
      log,
      1,
      ([id]) => ({
        writes: [],
        entries: [messageTo(realm.channels.general, 1, content)],
        result: id as number,
      }),
      taken && Promise.resolve(taken),
    );
  const checkpoint = async (): Promise<number | undefined> =>
    (await log.table.get('solid', { realm: realm.realm }))?.seq;
  return { realm, log, say, checkpoint, start: (await checkpoint()) as number };
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
    await say('one');
    const { log, meter } = realm.container();
    const waits: number[] = [];
    const patient: Log = { ...log, wait: async (ms) => void waits.push(ms) };
    await stableHead(patient);
    expect(waits).toEqual([SETTLE]);
    expect(meter.roundTrips).toBe(1);
    await stableHead({ ...patient, now: () => log.now() + WHOLE });
    expect(waits).toHaveLength(1);
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
