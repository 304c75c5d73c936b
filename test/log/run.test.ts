import type { QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { commit } from '../../shared/log/commit.ts';
import {
  allocate,
  type FirstSeen,
  fill,
  GIVEN_UP,
  GRACE,
  isAnythingAfter,
  type Log,
  type Run,
  readRun,
  SETTLE,
  WHOLE,
} from '../../shared/log/log.ts';
import { type Entry, KEPT } from '../../shared/log/slot.ts';
import { conflict, fault, type Mishap, mishaps, refusedWith } from '../support/faults.ts';
import { contentsIn, eventFor, messageTo, slotsOf } from '../support/log-entries.ts';
import { newRealm } from '../support/realm.ts';

async function scene(plan: Parameters<typeof mishaps>[0] = {}) {
  const realm = await newRealm();
  const { log: reader } = realm.container(mishaps(plan));
  const writer = realm.log;
  const start = (await allocate(writer, 1))[0] as number;
  await fill(writer, start);
  const say = (content: string, taken?: readonly number[]): Promise<number> =>
    commit(
      writer,
      1,
      ([id]) => ({
        writes: [],
        entries: [messageTo(realm.channels.general, 1, content)],
        result: id as number,
      }),
      taken && Promise.resolve(taken),
    );
  return { realm, reader, writer, start, say };
}

/** A message that an event is about. */
const about = { id: 1, senderId: 1, readBySender: false, conversation: 'direct:1,2', people: [1, 2] };

/** The log for a reader whose clock is ahead. */
const later = (log: Log, ms: number): Log => ({ ...log, now: () => log.now() + ms });
/** The same, so many milliseconds after now, however long the test takes. */
const stopped = (log: Log): ((ms: number) => Log) => {
  const start = log.now();
  return (ms) => ({ ...log, now: () => start + ms });
};
/** A log as a reader knows it that has looked before. */
type Memory = Log & { readonly firstSeen: FirstSeen };
/** A reader that has seen what is there, and the same one some milliseconds later. */
async function seen(log: Log, cursor: number) {
  const clock = stopped(log);
  const firstSeen: FirstSeen = new Map();
  const { head } = await look(clock(0), cursor, firstSeen);
  return { head, at: (ms: number): Memory => ({ ...clock(ms), firstSeen }) };
}
const look = (
  log: Log | Memory,
  cursor: number,
  firstSeen: FirstSeen = 'firstSeen' in log ? log.firstSeen : new Map(),
  limit?: number,
): Promise<Run> => readRun(log, cursor, firstSeen, limit);
const said = (run: Run) =>
  run.entries.map((entry) => ('content' in entry ? entry.content : entry.payload.type));

describe('the unbroken run of the log', () => {
  it('is what was committed after the cursor, in order', async () => {
    const { reader, start, say } = await scene();
    await say('one');
    const last = await say('two');
    const run = await look(reader, start);
    expect(said(run)).toEqual(['one', 'two']);
    expect(run).toMatchObject({ head: last, ended: 'end' });
    expect(await look(reader, last)).toEqual({ entries: [], head: last, ended: 'end' });
  });

  it('stops at the first hole even if later entries are visible, and goes on when it is closed', async () => {
    const { reader, writer, start, say } = await scene();
    await say('one');
    const open = await allocate(writer, 2);
    await say('three');
    const run = await look(reader, start);
    expect(said(run)).toEqual(['one']);
    expect(run).toMatchObject({ head: start + 1, ended: 'hole' });
    await say('two', open);
    expect(said(await look(reader, run.head))).toEqual(['two', 'three']);
  });

  it('goes on within a slot when the cursor is one of its inner numbers', async () => {
    const { reader, writer, start } = await scene();
    const events = ['a', 'b', 'c'].map((type) => eventFor({ type }));
    await commit(writer, 3, () => ({ writes: [], entries: events, result: 0 }));
    expect(said(await look(reader, start + 1))).toEqual(['b', 'c']);
    expect(said(await look(reader, start + 2))).toEqual(['c']);
  });

  it('is the same for any size of its pages', async () => {
    const { reader, writer, start, say } = await scene();
    await say('one');
    await fill(writer, (await allocate(writer, 1))[0] as number);
    await commit(writer, 2, () => ({
      writes: [],
      entries: [eventFor({ type: 'a' }), eventFor({ type: 'b' })],
      result: 0,
    }));
    await say('two');
    for (const limit of [1, 2, 3, 5]) {
      const found: unknown[] = [];
      let cursor = start;
      for (let run = await look(reader, cursor, new Map(), limit); ; ) {
        found.push(...said(run));
        cursor = run.head;
        if (run.ended === 'end') break;
        expect(run.ended).toBe('page');
        run = await look(reader, cursor, new Map(), limit);
      }
      expect(found).toEqual(['one', 'a', 'b', 'two']);
    }
  });

  it('ends where a query returns only a part of a transaction, however old that is', async () => {
    let hidden: number | undefined;
    const partial: Mishap = async (send) => {
      const answer = (await send()) as QueryCommandOutput;
      return { ...answer, Items: answer.Items?.filter(({ seq }) => seq !== hidden) };
    };
    const { reader, start, say } = await scene({ query: [partial, partial] });
    hidden = await say('one');
    await say('two');
    expect(await look(later(reader, GIVEN_UP), start)).toMatchObject({ head: start, ended: 'hole' });
    hidden = undefined;
    expect(said(await look(reader, start))).toEqual(['one', 'two']);
  });
});

describe('a hole that stays', () => {
  it('is filled when a reader has seen it for the grace period, and its late writer commits once, with a later number', async () => {
    const { reader, writer, start, say } = await scene();
    const open = await allocate(writer, 3);
    await say('after');
    const { at, head } = await seen(reader, start);
    expect(head).toBe(start);
    expect(await look(at(GRACE - 1), start)).toMatchObject({ head: start, ended: 'hole' });
    expect(said(await look(at(GRACE), start))).toEqual(['after']);
    await say('late', open);
    expect(await contentsIn(writer)).toEqual(['after', 'late']);
  });

  it('gets the whole grace period even if the entry behind it was written long before it was seen', async () => {
    const { reader, writer, start, say } = await scene();
    await allocate(writer, 1);
    // From before the write: it is no older than this clock says, however long it took.
    const clock = stopped(reader);
    await say('after');
    const { at } = await seen(clock(GIVEN_UP - GRACE), start);
    expect(await look(at(GRACE - 1), start)).toMatchObject({ head: start, ended: 'hole' });
    expect(said(await look(at(GRACE), start))).toEqual(['after']);
  });

  it('is filled at once by a reader that sees it for the first time, if the entry behind it is old', async () => {
    const { reader, writer, start, say } = await scene();
    await allocate(writer, 1);
    const clock = stopped(reader);
    await say('after');
    expect(await look(clock(GIVEN_UP - 1), start)).toMatchObject({ head: start, ended: 'hole' });
    expect(said(await look(later(reader, GIVEN_UP), start))).toEqual(['after']);
  });

  it('waits together with others, so that many of them take no longer than one', async () => {
    const { reader, writer, start, say } = await scene();
    for (const content of ['one', 'two', 'three']) {
      await allocate(writer, 1);
      await say(content);
    }
    const { at } = await seen(reader, start);
    expect(said(await look(at(GRACE), start))).toEqual(['one', 'two', 'three']);
  });

  it('waits no longer if something above it is written meanwhile', async () => {
    const { reader, writer, start, say } = await scene();
    await allocate(writer, 1);
    const slow = await allocate(writer, 1);
    await say('after');
    const { at } = await seen(reader, start);
    await say('slow', slow);
    expect(await look(at(GRACE - 1), start)).toMatchObject({ head: start, ended: 'hole' });
    expect(said(await look(at(GRACE), start))).toEqual(['slow', 'after']);
  });

  it('is left to a writer whose request takes as long as the client of DynamoDB waits for it', async () => {
    const { realm, reader, start, say } = await scene();
    const gate = Promise.withResolvers<void>();
    let requests = 0;
    const slow: Mishap = async (send) => {
      requests++;
      await gate.promise;
      return send();
    };
    const { log } = realm.container(mishaps({ put: [slow, slow, slow] }));
    const taken = await allocate(log, 1);
    const entries = [messageTo(realm.channels.general, 1, 'slow')];
    const slowly = commit(log, 1, () => ({ writes: [], entries, result: 0 }), Promise.resolve(taken));
    await say('fast');
    const { at } = await seen(reader, start);
    for (let ms = 50; ms <= 2_000; ms += 50) {
      expect(await look(at(ms), start)).toMatchObject({ head: start, ended: 'hole' });
    }
    gate.resolve();
    await slowly;
    expect(said(await look(at(2_050), start))).toEqual(['slow', 'fast']);
    expect(requests).toBe(1);
  });

  it('is left to a writer that commits at the last moment', async () => {
    let atLast = async (): Promise<unknown> => undefined;
    const overtaken: Mishap = async (send) => {
      await atLast();
      return send();
    };
    const { reader, writer, start, say } = await scene({ put: [overtaken] });
    const open = await allocate(writer, 3);
    await say('after');
    atLast = () => say('before', open);
    const old = later(reader, GIVEN_UP);
    expect(await look(old, start)).toMatchObject({ entries: [], head: start, ended: 'hole' });
    expect(said(await look(old, start))).toEqual(['before', 'after']);
    expect(await slotsOf(writer)).toHaveLength(3);
  });

  it.each<[string, Mishap]>([
    ['a transaction is at it', refusedWith(() => fault('TransactionConflictException'))],
    ['the store throttles', refusedWith(() => fault('ThrottlingException'))],
  ])('waits while %s', async (_, mishap) => {
    const { reader, writer, start, say } = await scene({ put: [mishap] });
    await allocate(writer, 1);
    await say('after');
    const old = later(reader, GIVEN_UP);
    expect(await look(old, start)).toMatchObject({ head: start, ended: 'hole' });
    expect(said(await look(old, start))).toEqual(['after']);
  });

  it('is filled from its top, so that a reader that dies in between leaves no half of a block', async () => {
    const dies = refusedWith(() => new Error('the reader died'));
    const { reader, writer, start, say } = await scene({ put: [undefined, dies] });
    const open = await allocate(writer, 3);
    await say('after');
    const old = later(reader, GIVEN_UP);
    await expect(look(old, start)).rejects.toThrow('the reader died');
    expect((await slotsOf(writer)).map(({ seq }) => seq)).toEqual([start, open[2], start + 4]);
    // No grace again: the tombstone is as old as the entry that stood behind the hole.
    expect(said(await look(old, start))).toEqual(['after']);
    await say('late', open);
    expect(await contentsIn(writer)).toEqual(['after', 'late']);
  });

  it('is filled even if the clock of the writer behind it is far ahead', async () => {
    const { reader, writer, start, say } = await scene();
    await allocate(writer, 1);
    await say('after');
    expect(said(await look(later(reader, -3_600_000), start))).toEqual(['after']);
  });

  it('is filled in several reads if it is very wide', async () => {
    const { reader, writer, start, say } = await scene();
    await allocate(writer, 510);
    await say('after');
    const old = later(reader, GIVEN_UP);
    expect(await look(old, start)).toMatchObject({ head: start, ended: 'hole' });
    expect(said(await look(old, start))).toEqual([]);
    const run = await look(old, start, new Map(), 1_000);
    expect(said(run)).toEqual(['after']);
  });

  it('is skipped without filling if it is so old that its entries may have been deleted', async () => {
    const { reader, writer, start, say } = await scene();
    await allocate(writer, 5);
    await say('after');
    expect(said(await look(later(reader, KEPT + 1), start))).toEqual(['after']);
    expect(await slotsOf(writer)).toHaveLength(2);
  });
});

describe('an entry that is only complete with other items of its transaction', () => {
  it.each<[string, Entry]>([
    ['changes who may see what', eventFor({ type: 'access' }, true)],
    ['is filled when it is told', { ...eventFor({ type: 'realm_emoji' }), fill: 'emoji' }],
    ['tells the flags of a message', { ...eventFor({ type: 'update_message' }), about }],
    [
      'mentions whoever takes part in its topic',
      messageTo(1, 1, '@**topic**', { mentions: { topic: true } }),
    ],
  ])('waits until they are visible: it %s', async (_, entry) => {
    const { reader, writer, start } = await scene();
    const at = await commit(writer, 1, ([seq]) => ({ writes: [], entries: [entry], result: seq as number }));
    const firstSeen: FirstSeen = new Map();
    const passed = stopped(reader);
    expect(await look(passed(0), start, firstSeen)).toMatchObject({ head: start, ended: 'settling' });
    expect((await look(passed(SETTLE - 1), start, firstSeen)).ended).toBe('settling');
    expect(await look(passed(SETTLE), start, firstSeen)).toMatchObject({ head: at, ended: 'end' });
  });

  it('waits for the items of the entry that closed a hole before it, too', async () => {
    const { reader, writer, start, say } = await scene();
    const open = await allocate(writer, 1);
    const filled: Entry = { ...eventFor({ type: 'realm_emoji' }), fill: 'emoji' };
    await commit(writer, 1, () => ({ writes: [], entries: [filled], result: 0 }));
    const firstSeen: FirstSeen = new Map();
    const passed = stopped(reader);
    expect((await look(passed(0), start, firstSeen)).ended).toBe('hole');
    await say('late', open);
    expect(await look(passed(SETTLE), start, firstSeen)).toMatchObject({
      head: start + 1,
      ended: 'settling',
    });
    expect((await look(passed(2 * SETTLE), start, firstSeen)).ended).toBe('end');
  });

  it('does not delay entries of other kinds', async () => {
    const { reader, start, say } = await scene();
    await say('plain');
    expect(said(await look(reader, start))).toEqual(['plain']);
  });

  it('is delivered only after it has been known for a while, and so is everything behind it', async () => {
    const { reader, writer, start, say } = await scene();
    await say('before');
    await commit(writer, 1, () => ({ writes: [], entries: [eventFor({ type: 'access' }, true)], result: 0 }));
    await say('after');
    const firstSeen: FirstSeen = new Map();
    const clock = stopped(reader);
    const run = await look(clock(SETTLE * 5), start, firstSeen);
    expect(said(run)).toEqual(['before']);
    expect(run.ended).toBe('settling');
    expect((await look(clock(SETTLE * 5.5), run.head, firstSeen)).ended).toBe('settling');
    expect(said(await look(clock(SETTLE * 7), run.head, firstSeen))).toEqual(['access', 'after']);
    // Another reader has not known of it for as long.
    expect((await look(clock(SETTLE * 7), run.head)).ended).toBe('settling');
    expect(said(await look(clock(WHOLE), run.head))).toEqual(['access', 'after']);
  });

  it('waits together with others of its kind, so that many of them take no longer than one', async () => {
    const { reader, writer, start } = await scene();
    for (const type of ['a', 'b', 'c', 'd'])
      await commit(writer, 1, () => ({ writes: [], entries: [eventFor({ type }, true)], result: 0 }));
    const firstSeen: FirstSeen = new Map();
    const clock = stopped(reader);
    expect((await look(clock(SETTLE * 5), start, firstSeen)).ended).toBe('settling');
    expect(said(await look(clock(SETTLE * 6.5), start, firstSeen))).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the cheap probe', () => {
  it('returns whether something was written, for half a read unit', async () => {
    const { realm, start, say } = await scene();
    const container = realm.container();
    expect(await isAnythingAfter(container.log, start)).toBe(false);
    await say('one');
    container.meter.reset();
    expect(await isAnythingAfter(container.log, start)).toBe(true);
    expect(container.meter.readUnits).toBe(0.5);
  });
});

describe('an error while reading', () => {
  it('is thrown, not taken for an empty log', async () => {
    const { reader, start } = await scene({ query: [refusedWith(conflict)] });
    await expect(look(reader, start)).rejects.toThrow('TransactionCanceledException');
  });
});
