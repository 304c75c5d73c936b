import { SETTLE } from '../log/log.ts';
import { type Listed, type ListVersion, listed, type RememberedKind } from '../table/remembered-lists.ts';
import type { Table } from '../table/table.ts';

/** Most bytes of all lists of a kind in a container, as JSON: in memory half as many more. Those loaded longest ago go first. */
const MAX_BYTES = 8_000_000;

/** Most organizations for which a container knows the version of such a list. */
const MAX_LISTS = 1_000;

/**
 * How long (ms) a list is used. It is right for ever, but for what bypasses `Table`: functions of an older release during an
 * upgrade, and the hands of an operator.
 */
const MAX_AGE = 15 * 60_000;

/** What a container knows of a list. */
interface Known<K extends RememberedKind> {
  /** Undefined while nothing of the list has changed since lists have versions. */
  readonly version: ListVersion | undefined;
  /** When this version was seen first, ms. */
  readonly seen: number;
  readonly list?: { readonly items: readonly Listed<K>[]; readonly bytes: number; readonly read: number };
}

/** The lists that a container remembers, by kind and realm, in the order in which they were loaded. */
export type KnownLists = { readonly [K in RememberedKind]: Map<string, Known<K>> };

/** What loading a remembered list needs of the outside. */
export interface ListSource {
  readonly table: Table;
  readonly cache: { readonly lists: KnownLists };
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Loads all items of a list, with all changes that were done before. A container that remembers the list reads only its
 * version, in the batch of this tick. One round trip; two if the remembered list has changed.
 *
 * What is read is remembered if it surely has all of the change that its version stands for. Parts of a transaction may stay
 * unseen for `SETTLE` after others (`shared/log/log.ts`), so that change must be known for so long, or to be whole.
 *
 * @param whole a log number up to which everything can be read in full, as after `stableHead`
 */
export async function loadList<K extends RememberedKind>(
  { table, cache: { lists }, now }: ListSource,
  kind: K,
  realm: string,
  whole = 0,
): Promise<readonly Listed<K>[]> {
  const ofKind: RememberedKind = kind;
  const read = () => table.all(ofKind, { realm });
  const known = lists[kind].get(realm);
  let begun = now();
  const remembered = known?.list && begun - known.list.read < MAX_AGE ? known.list.items : undefined;
  const [versions, beside] = await Promise.all([
    table.get('listVersions', { realm }),
    remembered ? undefined : read(),
  ]);
  const version = versions?.[kind];
  const isSame = known !== undefined && known.version === version;
  if (remembered && isSame) return remembered;
  const seen = isSame ? known.seen : now();
  if (beside === undefined) begun = now();
  const items = listed(kind, beside ?? (await read()));
  const isWhole =
    version === undefined || (typeof version === 'number' && version <= whole) || begun - seen >= SETTLE;
  const bytes = isWhole ? items.reduce((sum, item) => sum + JSON.stringify(item).length, 0) : 0;
  const isKept = isWhole && bytes <= MAX_BYTES;
  lists[kind].delete(realm);
  lists[kind].set(realm, { version, seen, ...(isKept && { list: { items, bytes, read: begun } }) });
  makeRoom(lists[kind]);
  return items;
}

function makeRoom<K extends RememberedKind>(lists: Map<string, Known<K>>): void {
  let bytes = 0;
  for (const { list } of lists.values()) bytes += list?.bytes ?? 0;
  for (const [oldest, { list }] of lists) {
    if (bytes <= MAX_BYTES && lists.size <= MAX_LISTS) return;
    lists.delete(oldest);
    bytes -= list?.bytes ?? 0;
  }
}
