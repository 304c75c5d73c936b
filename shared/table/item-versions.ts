import { type ItemName, isOf, itemKinds, type Key } from './keys.ts';
import type { Item, Write } from './write.ts';

/** The versions of the items of one kind. An item has its version in `v`; without it, it is of version 1. */
export interface Versions {
  readonly kind: ItemName;
  /**
   * The n-th turns version n into n + 1. It adds missing attributes and leaves existing ones: newer code may have updated
   * the item already.
   */
  readonly lifts: readonly ((item: Item) => Item)[];
  /**
   * The version of new items. If older functions cannot read the newest one, it is written one release later: readers
   * first, writers next (infra/UPGRADES.md).
   */
  readonly writes: number;
}

/** An item that newer code wrote: a fault, for the operator. */
export class NewerItem extends Error {
  constructor(kind: string, version: unknown, known: number) {
    super(
      `an item (${kind}) has version ${version}, and this release knows versions up to ${known}: deploy the release that wrote it, or a later one`,
    );
    this.name = 'NewerItem';
  }
}

/** The kind of an item, for error texts: keys may hold addresses and tokens. */
const nameOf = (item: Item): string =>
  (Object.keys(itemKinds) as ItemName[]).find((name) => isOf(name)(item as unknown as Key)) ?? 'unknown';

/** The newest known version of a kind. */
export const newestOf = ({ lifts }: Pick<Versions, 'lifts'>): number => lifts.length + 1;

/** The versions up to the one that this release writes. A newer one, which it only reads, is for the next release. */
export const writtenVersions = (versions: Versions): Versions => ({
  ...versions,
  lifts: versions.lifts.slice(0, versions.writes - 1),
});

/** Brings an item to its newest version. Throws `NewerItem`. */
export function lift({ v = 1, ...item }: Item, versions: Versions): Item {
  const known = newestOf(versions);
  if ((v as number) > known) throw new NewerItem(versions.kind, v, known);
  return versions.lifts.slice((v as number) - 1).reduce((older, step) => step(older), item);
}

/** The versions of all kinds. Kinds that are not listed have one version only. */
export class ItemVersions {
  readonly #kinds: readonly (Versions & { readonly has: (key: Key) => boolean })[];

  constructor(kinds: readonly Versions[]) {
    this.#kinds = kinds.map((versions) => ({ ...versions, has: isOf(versions.kind) }));
  }

  /** Brings a stored item of any kind to its newest version. Throws `NewerItem`. */
  lifted<T extends Item>(stored: T): T {
    const kind = this.#kindOf(stored);
    if (kind !== undefined) return lift(stored, kind) as T;
    if (stored.v !== undefined) throw new NewerItem(nameOf(stored), stored.v, 1);
    return stored;
  }

  /**
   * Adds to a put the version of the item, and the condition that it replaces no newer one. Updates need neither: they
   * leave unknown attributes and the version as they are.
   */
  written<W extends Write>(write: W): W {
    if (!('put' in write)) return write;
    const kind = this.#kindOf(write.put);
    const isPlain = kind === undefined || kind.writes === 1;
    const item = isPlain ? write.item : { ...write.item, v: kind.writes };
    if (write.when?.absent) return { ...write, item };
    const known = kind === undefined ? 1 : newestOf(kind);
    return { ...write, item, when: { ...write.when, below: { ...write.when?.below, v: known + 1 } } };
  }

  #kindOf(item: Item | Key): Versions | undefined {
    return this.#kinds.find(({ has }) => has(item as Key));
  }
}
