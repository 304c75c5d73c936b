import { describe, expect, it } from 'vitest';
import { commitInParts } from '../../shared/log/bulk.ts';
import { type Change, ConflictError, MAX_WRITES } from '../../shared/log/commit.ts';

interface Crowd {
  readonly name: string;
  readonly people: readonly number[];
}

const crowd = (name: string, size: number): Crowd => ({
  name,
  people: Array.from({ length: size }, (_, i) => i),
});

/** One write for each person. */
const plan = (crowds: readonly Crowd[]): Change<undefined> => ({
  writes: crowds.flatMap(({ people }) => people.map((i) => ({ check: { pk: String(i), sk: '' } }))) as never,
  entries: [],
  result: undefined,
});

/** Does the jobs, and returns the people that were done, by crowd. `fail` may throw for a transaction, from 1. */
async function done(
  jobs: readonly Crowd[],
  fail: (transaction: number) => void = () => {},
): Promise<string[]> {
  const list: string[] = [];
  let transactions = 0;
  const commit = async <T>(_: number, planned: (numbers: readonly number[]) => Change<T>): Promise<T> => {
    fail(++transactions);
    const { writes, result } = planned([]);
    expect(writes.length).toBeLessThan(MAX_WRITES);
    return result;
  };
  const parts = commitInParts(commit, jobs, plan, (some) =>
    list.push(...some.flatMap(({ name, people }) => people.map((i) => `${name}${i}`))),
  );
  await parts.catch((error: unknown) => list.push(String((error as Error).name)));
  return list;
}

describe('a change in parts', () => {
  it('does each part once, whether all fit into one transaction or not', async () => {
    for (const size of [0, 1, 2, 98, 99, 100, 101, 250]) {
      const crowds = [crowd('a', size), crowd('b', 3)];
      const list = await done(crowds);
      expect(list.sort()).toEqual(crowds.flatMap(({ name, people }) => people.map((i) => name + i)).sort());
    }
  });

  it('finishes the other parts after a conflict, and reports it', async () => {
    const list = await done([crowd('a', 90), crowd('b', 90)], (transaction) => {
      if (transaction === 1) throw new ConflictError([]);
    });
    expect(list).toHaveLength(91);
    expect(list.at(-1)).toBe('ConflictError');
  });

  it('begins no further part after another error', async () => {
    const list = await done([crowd('a', 250)], (transaction) => {
      if (transaction === 2) throw new Error('broken');
    });
    expect(list).toHaveLength(MAX_WRITES);
    expect(list.at(-1)).toBe('Error');
  });
});
