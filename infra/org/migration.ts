import { isDeepStrictEqual } from 'node:util';
import { isOf, type Key, key, partition } from '../../shared/table/keys.ts';
import { isRefused } from '../../shared/table/outcome.ts';
import { lift, newestOf, type Versions } from '../../shared/table/stored-item.ts';
import type { Table } from '../../shared/table/table.ts';
import type { Item } from '../../shared/table/write.ts';

/** The progress of a migration: the items of one kind, in one organization. */
export interface Migration {
  readonly version: number;
  /** All items have this version, so that queries and indexes can rely on it. */
  readonly isComplete: boolean;
  /** Items changed so far. */
  readonly changed: number;
  /** The sort key of the last item that was migrated, until all are. */
  readonly after?: string;
}

declare module '../../shared/table/keys.ts' {
  interface ItemTypes {
    schema: Migration;
  }
}

/** `now` and `wait` are in milliseconds. */
interface Store {
  readonly table: Table;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** Most items of one step; a query stops at 1 MB by itself. */
const MAX_STEP = 100;
/** Items that are changed at the same time. */
const CONCURRENCY = 10;
/** Tries to change an item that live functions keep changing, before that is a fault. */
const MAX_TRIES = 8;
/** Pause (ms) per changed item, so that at most a quarter of a partition's writes are used. */
const PAUSE_MS = 4;

/**
 * Brings the items of one kind to their newest version, step by step, until all are or `ends` (ms) is reached. Each step
 * is saved, so that the next run goes on where this one stopped. Several runs at once do no harm.
 *
 * Throws if this release does not write the newest version yet: older items would still be added.
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
  const saved = await table.get(at);
  if (saved !== undefined && saved.version > version) {
    throw new Error(`a later release has brought ${versions.kind} to version ${saved.version}`);
  }
  let migration: Migration = saved?.version === version ? saved : { version, isComplete: false, changed: 0 };
  while (!migration.isComplete && now() < ends) {
    const before = migration.changed;
    migration = await step(table, realm, versions, migration);
    await table.put(at, { ...migration });
    if (!migration.isComplete) await wait(PAUSE_MS * (migration.changed - before));
  }
  return migration;
}

/** Migrates the next items. */
async function step(
  table: Table,
  realm: string,
  versions: Versions,
  { version, changed, after }: Migration,
): Promise<Migration> {
  const pk = partition(versions.kind, { realm } as never);
  const { items, more } = await table.storedPage({ pk, from: after, limit: MAX_STEP });
  const older = items.filter(isOf(versions.kind));
  let count = 0;
  for (let start = 0; start < older.length; start += CONCURRENCY) {
    const some = older.slice(start, start + CONCURRENCY);
    const changes = await Promise.all(some.map((item) => migrateItem(table, versions, item)));
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
 * Migrates one item, unless it is the same in the newest version. Conditional on all of its attributes: if a live function
 * changed it meanwhile, the item is read and migrated again.
 */
async function migrateItem(table: Table, versions: Versions, stored: Item & Key): Promise<boolean> {
  const { pk, sk } = stored;
  let item: (Item & Key) | undefined = stored;
  for (let attempt = 0; item !== undefined; attempt++) {
    if (attempt === MAX_TRIES)
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

/** The attributes to change. An item that differs in its version only is left as it is. */
function difference(seen: Item, versions: Versions): { set: Record<string, unknown>; remove: string[] } {
  const lifted = lift(seen, versions);
  return {
    set: Object.fromEntries(
      Object.entries(lifted).filter(([name, value]) => !isDeepStrictEqual(seen[name], value)),
    ),
    remove: Object.keys(seen).filter((name) => name !== 'v' && !(name in lifted)),
  };
}
