import { SETTLE } from '../log/log.ts';
import type { ItemOf } from '../table/keys.ts';
import { type Listed, type ListVersion, listed, type RememberedKind } from '../table/remembered-lists.ts';
import type { Table } from '../table/table.ts';

/** Most bytes of the lists of a container, as JSON: in memory half as many more. Those loaded longest ago go first. */
const MAX_BYTES = 16_000_000;

/** Most organizations of which a container knows the versions. */
const MAX_LISTS = 1_000;

/**
 * How long (ms) a list is used. It is right for ever, but for what bypasses `Table`: functions of an older release during an
 * upgrade, and the hands of an operator.
 */
const MAX_AGE = 15 * 60_000;

/** What a container knows of a list. */
interface Known {
  /** Undefined while nothing of the list has changed since lists have versions. */
  readonly version: ListVersion | undefined;
  /** When this version was seen first, ms. */
  readonly seen: number;
  readonly list?: { readonly items: readonly object[]; readonly bytes: number; readonly read: number };
}

/** The lists that a container remembers, each with its version. */
export class ListCache {
  readonly #known = new Map<string, Known>();
  #bytes = 0;

  get(id: string): Known | undefined {
    return this.#known.get(id);
  }

  set(id: string, known: Known): void {
    this.#remove(id);
    if ((known.list?.bytes ?? 0) > MAX_BYTES) return;
    this.#known.set(id, known);
    this.#bytes += known.list?.bytes ?? 0;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= MAX_BYTES && this.#known.size <= MAX_LISTS) return;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    this.#bytes -= this.#known.get(id)?.list?.bytes ?? 0;
    this.#known.delete(id);
  }
}

/** What loading a remembered list needs of the outside. */
export interface ListSource {
  readonly table: Table;
  readonly cache: { readonly lists: ListCache };
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
  const id = `${kind}/${realm}`;
  const known = lists.get(id);
  let begun = now();
  const remembered = known?.list && begun - known.list.read < MAX_AGE ? known.list.items : undefined;
  const [versions, beside] = await Promise.all([
    table.get('listVersions', { realm }),
    remembered ? undefined : table.all<RememberedKind>(kind, { realm }),
  ]);
  const version = versions?.[kind];
  const isSame = known !== undefined && known.version === version;
  if (remembered && isSame) return remembered as readonly Listed<K>[];
  const seen = isSame ? known.seen : now();
  if (beside === undefined) begun = now();
  const read = (beside ?? (await table.all<RememberedKind>(kind, { realm }))) as ItemOf<K>[];
  const items = listed(kind, read);
  const isWhole =
    version === undefined || (typeof version === 'number' && version <= whole) || begun - seen >= SETTLE;
  const bytes = items.reduce((sum, item) => sum + JSON.stringify(item).length, 0);
  lists.set(id, { version, seen, ...(isWhole && { list: { items, bytes, read: begun } }) });
  return items;
}
