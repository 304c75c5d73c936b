import { beforeEach, describe, expect, it } from 'vitest';
import type { KnownLists } from '../../shared/kernel/list-cache.ts';
import { SETTLE } from '../../shared/log/log.ts';
import { loadUsers } from '../../shared/model/user/principals.ts';
import type { ListVersion } from '../../shared/table/remembered-lists.ts';
import type { Table } from '../../shared/table/table.ts';

/** A store with a list of names for each realm, which counts how often lists are read. */
const store = {
  version: undefined as ListVersion | undefined,
  names: {} as Record<string, readonly string[]>,
  reads: 0,
  now: 0,
};

const table = {
  get: async () => ({ user: store.version }),
  all: async (_: string, { realm }: { realm: string }) => {
    store.reads++;
    return (store.names[realm] ?? []).map((fullName, userId) => ({ userId, fullName, mutes: [] }));
  },
} as unknown as Table;

let lists: KnownLists;

/** The names in a list, and how often it was read for that. */
async function load(realm: string, whole?: number) {
  const before = store.reads;
  const users = await loadUsers({ table, cache: { lists }, now: () => store.now }, realm, whole);
  return [users.map(({ fullName }) => fullName).join(), store.reads - before];
}

beforeEach(() => {
  Object.assign(store, { version: undefined, names: { a: ['ann'], b: ['bob'] }, reads: 0, now: 1_000_000 });
  lists = {
    user: new Map(),
    profile: new Map(),
    emoji: new Map(),
    channel: new Map(),
    group: new Map(),
  };
});

describe('a list that a container remembers', () => {
  it('is not read again while it has the same version', async () => {
    expect(await load('a')).toEqual(['ann', 1]);
    expect(await load('a')).toEqual(['ann', 0]);
  });

  it('is read again when it has another one', async () => {
    await load('a');
    Object.assign(store, { version: 5, names: { a: ['ann', 'amy'] } });
    expect(await load('a', 5)).toEqual(['ann,amy', 1]);
    expect(await load('a', 5)).toEqual(['ann,amy', 0]);
  });

  it('is that of its organization', async () => {
    await load('a');
    expect(await load('b')).toEqual(['bob', 1]);
    expect([await load('a'), await load('b')]).toEqual([
      ['ann', 0],
      ['bob', 0],
    ]);
  });

  it('is not remembered while parts of its last change may be unseen', async () => {
    store.version = 5;
    expect(await load('a', 4)).toEqual(['ann', 1]);
    store.now += SETTLE - 1;
    expect(await load('a', 4)).toEqual(['ann', 1]);
    store.now += 1;
    store.names.a = ['anne'];
    expect(await load('a', 4)).toEqual(['anne', 1]);
    expect(await load('a', 4)).toEqual(['anne', 0]);
  });

  it('is not remembered if it changed again meanwhile', async () => {
    store.version = 5;
    await load('a');
    store.now += SETTLE;
    store.version = 6;
    expect([await load('a'), await load('a')]).toEqual([
      ['ann', 1],
      ['ann', 1],
    ]);
  });

  it('is not remembered at first sight of a change without a number', async () => {
    store.version = 'some token';
    expect([await load('a', 9), await load('a', 9)]).toEqual([
      ['ann', 1],
      ['ann', 1],
    ]);
    store.now += SETTLE;
    expect([await load('a', 9), await load('a', 9)]).toEqual([
      ['ann', 1],
      ['ann', 0],
    ]);
  });

  it('is read again after a quarter of an hour, as an operator may have changed it', async () => {
    await load('a');
    store.names.a = ['anne'];
    store.now += 15 * 60_000 - 1;
    expect(await load('a')).toEqual(['ann', 0]);
    store.now += 1;
    expect(await load('a')).toEqual(['anne', 1]);
  });

  it('has nothing that is private, and cannot be changed', async () => {
    const users = await loadUsers({ table, cache: { lists }, now: () => store.now }, 'a');
    expect(users).toEqual([{ userId: 0, fullName: 'ann' }]);
    expect([Object.isFrozen(users), Object.isFrozen(users[0])]).toEqual([true, true]);
  });

  it('makes room for others: all together have at most 8 MB', async () => {
    const megabytes = (count: number) => Array(count).fill('x'.repeat(1_000_000));
    store.names = { a: megabytes(3), b: megabytes(3), c: megabytes(3), huge: megabytes(9) };
    const reads = async (realm: string) => (await load(realm))[1];
    for (const realm of ['a', 'b', 'c']) await reads(realm);
    expect([await reads('b'), await reads('c'), await reads('a')]).toEqual([0, 0, 1]);
    expect([await reads('huge'), await reads('huge')]).toEqual([1, 1]);
    expect([await reads('c'), await reads('a')]).toEqual([0, 0]);
  });
});
