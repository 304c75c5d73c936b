import { describe, expect, it } from 'vitest';
import { type Change, ConflictError, commit } from '../../shared/log/commit.ts';
import { allocate, fill, type Log, release } from '../../shared/log/log.ts';
import type { Entry } from '../../shared/log/slot.ts';
import { key } from '../../shared/table/keys.ts';
import { conflict, fault, lost, type Mishap, mishaps, refusedWith, unheard } from '../support/faults.ts';
import { contentsIn, entriesIn, eventFor, messageTo, slotsOf } from '../support/log-entries.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** A realm, its log through a connection with mishaps, and an item that counts how often a change was applied. */
async function scene(plan: Parameters<typeof mishaps>[0] = {}) {
  const realm = await newRealm();
  const { log } = realm.container(mishaps(plan));
  const counted = key('quota', { realm: realm.realm, kind: 'applied' });
  const applied = async (): Promise<number> => (await realm.outside.table.get(counted))?.used ?? 0;
  const count = { update: counted, change: { add: { used: 1 } } };
  const say =
    (content: string) =>
    (numbers: readonly number[]): Change<number> => ({
      writes: [count],
      entries: [messageTo(realm.channels.general, realm.people.member.userId, content)],
      result: numbers[0] as number,
    });
  return { realm, log, counted, applied, count, say, truth: realm.log };
}

const entries = (...given: Entry[]): Entry[] => given;

/** Lets the clock of a log run away, so that the time of a commit is up after its first failure. */
const hasty = (log: Log): Log => {
  let now = Date.now();
  return {
    ...log,
    now: () => {
      now += 5_000;
      return now;
    },
    wait: async () => {},
  };
};

describe('a commit', () => {
  it('stores a message and the events before it in one slot', async () => {
    const { log, realm, truth } = await scene();
    const { general } = realm.channels;
    const ids = await commit(log, 3, (numbers) => ({
      writes: [],
      entries: entries(eventFor({ type: 'a' }), messageTo(general, 1, 'hello'), eventFor({ type: 'b' })),
      result: numbers,
    }));
    const [first, second] = await slotsOf(truth);
    expect(first).toMatchObject({ seq: ids[1], width: 2, kind: 'message', id: ids[1], content: 'hello' });
    expect(second).toMatchObject({ seq: ids[2], width: 1, kind: 'event' });
    expect((await entriesIn(truth)).map(({ seq }) => seq)).toEqual(ids);
  });

  it.each<[string, Mishap]>([
    ['a request that never arrived', lost],
    ['a reply that never arrived', unheard],
    ['a conflict with another transaction', refusedWith(conflict)],
    ['throttling', refusedWith(() => fault('ThrottlingException'))],
    ['trouble inside the store', refusedWith(() => fault('InternalServerError'))],
  ])('happens once in spite of %s', async (_, mishap) => {
    const { log, say, applied, truth } = await scene({ transact: [mishap, mishap] });
    const id = await commit(log, 1, say('once'));
    expect((await entriesIn(truth)).map(({ seq }) => seq)).toEqual([id]);
    expect(await applied()).toBe(1);
  });

  it('recognizes its own slot even if the store does not say which condition failed', async () => {
    const silent: Mishap = async (send) =>
      send().catch((error: { CancellationReasons?: { Item?: unknown }[] }) => {
        for (const reason of error.CancellationReasons ?? []) delete reason.Item;
        throw error;
      });
    const { log, say, applied, truth } = await scene({ transact: [unheard, silent] });
    await commit(log, 1, say('once'));
    expect(await contentsIn(truth)).toEqual(['once']);
    expect(await applied()).toBe(1);
  });

  it('takes new numbers after a reader filled its slot', async () => {
    const { log, say, applied, truth } = await scene();
    const taken = await allocate(truth, 3);
    for (const seq of [...taken].reverse().slice(0, 2)) await fill(truth, seq);
    const id = await commit(log, 1, say('late'), Promise.resolve(taken));
    expect(id).toBeGreaterThan(taken[2] as number);
    expect(await contentsIn(truth)).toEqual(['late']);
    expect(await applied()).toBe(1);
    // What the reader left open of its numbers is filled, so that nobody waits for it.
    expect((await slotsOf(truth)).map(({ seq }) => seq)).toEqual([...taken, id]);
  });

  it('cannot succeed late once a reader has filled its slot', async () => {
    let late = async (): Promise<unknown> => undefined;
    const held: Mishap = async (send) => {
      late = send;
      const [open] = await allocate(truth, 1);
      await fill(truth, (open as number) - 1);
      throw fault('TimeoutError');
    };
    const { log, say, applied, truth } = await scene({ transact: [held] });
    await commit(log, 1, say('once'));
    await expect(late()).rejects.toMatchObject({ name: 'TransactionCanceledException' });
    expect(await contentsIn(truth)).toEqual(['once']);
    expect(await applied()).toBe(1);
  });

  it('is recognized as done if it succeeds between two tries', async () => {
    let first = async (): Promise<unknown> => undefined;
    const { log, say, applied, truth } = await scene({
      transact: [
        async (send) => {
          first = send;
          throw fault('TimeoutError');
        },
        async (send) => {
          await first();
          return send();
        },
      ],
    });
    const id = await commit(log, 1, say('once'));
    expect((await entriesIn(truth)).map(({ seq }) => seq)).toEqual([id]);
    expect(await applied()).toBe(1);
  });
});

describe('a refused commit', () => {
  const taken = (realm: TestRealm) => ({
    put: key('host', { host: realm.host }),
    item: { realm: 'elsewhere' },
    when: { absent: true },
  });

  it('throws a conflict, changes nothing and releases its numbers', async () => {
    const { log, realm, count, applied, truth } = await scene();
    const plan = (): Change<void> => ({
      writes: [count, taken(realm)],
      entries: entries(eventFor({ type: 'a' }), eventFor({ type: 'b' })),
      result: undefined,
    });
    const error = await commit(log, 2, plan).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConflictError);
    expect((error as ConflictError).found).toMatchObject([{ realm: realm.realm }]);
    expect(await applied()).toBe(0);
    expect(await slotsOf(truth)).toMatchObject([{ kind: 'tombstone', width: 2 }]);
  });

  it('leaves one tombstone if the reply to the release gets lost', async () => {
    const { log, counted, truth } = await scene({ put: [unheard] });
    const plan = () => ({
      writes: [{ update: counted, change: { add: { used: 1 } }, when: { equals: { applied: 99 } } }],
      entries: entries(eventFor({ type: 'a' }), eventFor({ type: 'b' })),
      result: 0,
    });
    await expect(commit(log, 2, plan)).rejects.toThrow(ConflictError);
    expect(await slotsOf(truth)).toMatchObject([{ kind: 'tombstone', width: 2 }]);
  });

  it('is not a conflict if its own earlier try, whose reply was lost, fails the condition', async () => {
    const { log, realm, truth } = await scene({ transact: [unheard] });
    const guard = { put: key('sent', { realm: realm.realm, userId: 1, token: 't' }), item: {} };
    const id = await commit(log, 1, ([number]) => ({
      writes: [{ ...guard, when: { absent: true } }],
      entries: [messageTo(realm.channels.general, 1, 'once')],
      result: number,
    }));
    expect((await entriesIn(truth)).map(({ seq }) => seq)).toEqual([id]);
  });

  it('uses the fallback of the refused write, and of no other', async () => {
    const { log, realm, counted, truth } = await scene();
    await commit(log, 1, ([number]) => ({
      writes: [
        {
          update: counted,
          change: { set: { choice: 'first' } },
          when: { equals: { choice: 'something' } },
          fallback: { update: counted, change: { set: { choice: 'second' } } },
        },
        {
          put: key('star', { realm: realm.realm, userId: 1, messageId: 1 }),
          item: { choice: 'first' },
          fallback: { check: counted, when: { absent: true } },
        },
      ],
      entries: [eventFor({ type: 'a' })],
      result: number,
    }));
    expect(await truth.table.get(counted)).toMatchObject({ choice: 'second' });
    expect(await slotsOf(truth)).toHaveLength(1);
  });

  it('releases its numbers if its plan throws', async () => {
    const { log, truth } = await scene();
    const fails = commit(log, 2, () => {
      throw new Error('no plan');
    });
    await expect(fails).rejects.toThrow('no plan');
    const short = commit(log, 2, () => ({ writes: [], entries: [eventFor({ type: 'a' })], result: 0 }));
    await expect(short).rejects.toThrow('a plan for 2 numbers has 1 entries');
    expect(await slotsOf(truth)).toMatchObject([{ kind: 'tombstone' }, { kind: 'tombstone' }]);
  });

  it('releases its numbers if the store rejects the request as invalid', async () => {
    const invalid = refusedWith(() => fault('ValidationException'));
    const { log, say, truth } = await scene({ transact: [invalid] });
    await expect(commit(log, 1, say('never'))).rejects.toThrow('ValidationException');
    expect(await slotsOf(truth)).toMatchObject([{ kind: 'tombstone' }]);
  });
});

describe('a commit whose time is up', () => {
  it('makes sure that it has not happened and will not', async () => {
    const sends: (() => Promise<unknown>)[] = [];
    const held: Mishap = async (send) => {
      sends.push(send);
      throw fault('TimeoutError');
    };
    const { log, count, applied, truth } = await scene({ transact: [held, held, held] });
    const two = entries(eventFor({ type: 'a' }), eventFor({ type: 'b' }));
    const never = commit(hasty(log), 2, () => ({ writes: [count], entries: two, result: 0 }));
    await expect(never).rejects.toThrow('TimeoutError');
    expect(sends.length).toBeGreaterThan(0);
    for (const send of sends) await expect(send()).rejects.toThrow();
    expect(await entriesIn(truth)).toEqual([]);
    expect(await applied()).toBe(0);
  });

  it('succeeds after all if a try had worked whose reply was lost', async () => {
    const { log, say, applied, truth } = await scene({ transact: [unheard, lost, lost] });
    await commit(hasty(log), 1, say('once'));
    expect(await contentsIn(truth)).toEqual(['once']);
    expect(await applied()).toBe(1);
  });
});

describe('numbers allocated ahead', () => {
  it('are used from the top, and one slot covers those that were too many', async () => {
    const { log, say, truth } = await scene();
    const taken = await allocate(truth, 3);
    expect(await commit(log, 1, say('one'), Promise.resolve(taken))).toBe(taken[2]);
    expect(await slotsOf(truth)).toMatchObject([{ seq: taken[2], width: 3 }]);
  });

  it('are released if they are too few', async () => {
    const { log, truth } = await scene();
    const taken = await allocate(truth, 1);
    const two = entries(eventFor({ type: 'a' }), eventFor({ type: 'b' }));
    await commit(log, 2, () => ({ writes: [], entries: two, result: 0 }), Promise.resolve(taken));
    expect(await slotsOf(truth)).toMatchObject([{ seq: taken[0], kind: 'tombstone' }, { width: 2 }]);
  });

  it('are released after a conflict, but not if they are used', async () => {
    const conflicting = refusedWith(() => fault('TransactionConflictException'));
    const { log, say, truth } = await scene({ put: [conflicting, unheard] });
    const numbers = await allocate(truth, 2);
    // The reply to the tombstone is lost; the next try finds the slot taken, which is as good.
    expect(await release(log, numbers)).toBe(false);
    const id = await commit(log, 1, say('used'));
    expect(await release(log, [id])).toBe(false);
    expect(await slotsOf(truth)).toMatchObject([{ kind: 'tombstone', width: 2 }, { kind: 'message' }]);
  });
});

describe('changes of one item under numbers that were allocated early', () => {
  it('are stored in the order of the log', async () => {
    const { log, counted, truth } = await scene();
    const name = (value: string) => (): Change<void> => ({
      writes: [{ update: counted, change: { set: { name: value } }, lastWriterWins: true }],
      entries: [eventFor({ type: 'renamed', value })],
      result: undefined,
    });
    const early = await allocate(truth, 1);
    await commit(log, 1, name('second'));
    await commit(log, 1, name('last'), Promise.resolve(early));
    const told = (await entriesIn(truth)).map((entry) => 'payload' in entry && entry.payload.value);
    expect(told).toEqual(['second', 'last']);
    expect(await truth.table.get(counted)).toMatchObject({ name: 'last' });
  });

  it('throw a conflict if their snapshot changed too', async () => {
    const { log, counted, truth } = await scene();
    const rename = (value: string, from: string | undefined) => (): Change<void> => ({
      writes: [
        {
          update: counted,
          change: { set: { name: value } },
          when: { equals: { name: from } },
          lastWriterWins: true,
        },
      ],
      entries: [eventFor({ type: 'renamed', value })],
      result: undefined,
    });
    const early = await allocate(truth, 1);
    await commit(log, 1, rename('first', undefined));
    await expect(commit(log, 1, rename('other', undefined), Promise.resolve(early))).rejects.toThrow(
      ConflictError,
    );
    expect(await truth.table.get(counted)).toMatchObject({ name: 'first' });
  });
});
