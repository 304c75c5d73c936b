import { isDeepStrictEqual } from 'node:util';
import { lift, newestOf, type Versions } from './item-versions.ts';
import { isOf, type Key, key, partition } from './keys.ts';
import { isRefused } from './outcome.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

/** How far the items of one kind are brought to a version, in one organization. */
export interface Migration {
  readonly version: number;
  /** All of them are of it: what it adds can be relied on by queries and indexes too. */
  readonly isComplete: boolean;
  /** How many were changed. */
  readonly changed: number;
  /** The sort key up to which they are done, while not all are. */
  readonly after?: string;
}

declare module './keys.ts' {
  interface ItemTypes {
    schema: Migration;
  }
}

/** What a migration works with. `now` and `wait` are in milliseconds. */
interface Store {
  readonly table: Table;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** Items that one step looks at, at most: a query stops at 1 MB by itself. */
const STEP = 100;
/** How many of them are changed at the same time. */
const SIDE_BY_SIDE = 10;
/** How often an item is read again that a live function changed meanwhile, before that is a fault. */
const TRIES = 8;
/** Milliseconds to wait for each item that was changed, so that at most a quarter of a partition's writes are used. */
const PACE = 4;

/**
 * Brings the items of one kind to their newest version, one step after the other, until all are or `ends` (ms) is
 * reached. Each step is noted: who begins anew, after whatever end, goes on where that one stopped. Several at once do
 * the same work, and no harm.
 *
 * Throws when this release does not write the newest version yet, since then older items would still arrive.
 */
export async function migrate(
  { table, now, wait }: Store,
  realm: string,
  versions: Versions,
  ends: number,
): Promise<Migration> {
  const version = newestOf(versions);
  if (versions.writes < version) throw new Error(`version ${version} of ${versions.kind} is not written yet`);
  const at = key('schema', { realm, kind: versions.kind });
  const noted = await table.get(at);
  if (noted !== undefined && noted.version > version) {
    throw new Error(`a later release has brought ${versions.kind} to version ${noted.version}`);
  }
  let migration: Migration = noted?.version === version ? noted : { version, isComplete: false, changed: 0 };
  while (!migration.isComplete && now() < ends) {
    const before = migration.changed;
    migration = await step(table, realm, versions, migration);
    await table.put(at, { ...migration });
    if (!migration.isComplete) await wait(PACE * (migration.changed - before));
  }
  return migration;
}

/** Looks at the next items, and changes those that are older. */
async function step(
  table: Table,
  realm: string,
  versions: Versions,
  { version, changed, after }: Migration,
): Promise<Migration> {
  const pk = partition(versions.kind, { realm } as never);
  const { items, more } = await table.storedPage({ pk, from: after, limit: STEP });
  const older = items.filter(isOf(versions.kind));
  let count = 0;
  for (let start = 0; start < older.length; start += SIDE_BY_SIDE) {
    const some = older.slice(start, start + SIDE_BY_SIDE);
    const changes = await Promise.all(some.map((item) => bringUp(table, versions, item)));
    count += changes.filter((isChanged) => isChanged).length;
  }
  const last = items.at(-1)?.sk;
  return {
    version,
    isComplete: !more,
    changed: changed + count,
    ...(more && last !== undefined && { after: last }),
  };
}

/**
 * Changes one item, if it differs from what it would be in the newest version. Held to all that was read of it: where a
 * live function was faster, its change stays and is what is brought up then.
 */
async function bringUp(table: Table, versions: Versions, stored: Item & Key): Promise<boolean> {
  const { pk, sk } = stored;
  let item: (Item & Key) | undefined = stored;
  for (let attempt = 0; item !== undefined; attempt++) {
    if (attempt === TRIES)
      throw new Error(`an item of ${versions.kind} changes faster than it can be migrated`);
    const { pk: _pk, sk: _sk, ...seen } = item as Item;
    const { set, remove } = difference(seen, versions);
    if (Object.keys(set).length === 0 && remove.length === 0) return false;
    const missing = Object.fromEntries(['v', ...Object.keys(set)].map((name) => [name, undefined]));
    try {
      const change = { set: { ...set, v: newestOf(versions) }, remove };
      await table.update({ pk, sk }, change, { absent: false, equals: { ...missing, ...seen } });
      return true;
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    item = (await table.storedPage({ pk, from: sk, to: sk })).items[0];
  }
  return false;
}

/** What must be changed of an item. Its version alone is no reason: an item that is the same in both is left. */
function difference(seen: Item, versions: Versions): { set: Record<string, unknown>; remove: string[] } {
  const lifted = lift(seen, versions);
  return {
    set: Object.fromEntries(
      Object.entries(lifted).filter(([name, value]) => !isDeepStrictEqual(seen[name], value)),
    ),
    remove: Object.keys(seen).filter((name) => name !== 'v' && !(name in lifted)),
  };
}
