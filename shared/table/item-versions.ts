import { type ItemName, isOf, itemKinds, type Key } from './keys.ts';
import type { Item, Write } from './write.ts';

/** The versions that the items of one kind have had. `v` on an item says which one it is of; without it, the first. */
export interface Versions {
  readonly kind: ItemName;
  /**
   * The n-th makes an item of version n + 1 of one of version n. It fills in what is missing and leaves what is there,
   * since an item may have been changed in part by newer code without being lifted.
   */
  readonly lifts: readonly ((item: Item) => Item)[];
  /**
   * The version that new items are written in. Where older functions cannot read the last one, it stays one behind in
   * the release that first knows it: readers first, writers next (infra/UPGRADES.md).
   */
  readonly writes: number;
}

/** An item that newer code wrote. The operator is told; a client hears of a fault, and nothing more. */
export class NewerItem extends Error {
  constructor(kind: string, version: unknown, known: number) {
    super(
      `an item (${kind}) has version ${version}, and this release knows versions up to ${known}: deploy the release that wrote it, or a later one`,
    );
    this.name = 'NewerItem';
  }
}

/** Which kind of item it is. Keys hold addresses and tokens, which nobody is told. */
const nameOf = (item: Item): string =>
  (Object.keys(itemKinds) as ItemName[]).find((name) => isOf(name)(item as unknown as Key)) ?? 'unknown';

/** The last version that is known of a kind. */
export const newestOf = ({ lifts }: Pick<Versions, 'lifts'>): number => lifts.length + 1;

/** An item of a kind in its newest version. Throws `NewerItem` for one that is newer still. */
export function lift({ v = 1, ...item }: Item, versions: Versions): Item {
  const known = newestOf(versions);
  if ((v as number) > known) throw new NewerItem(versions.kind, v, known);
  return versions.lifts.slice((v as number) - 1).reduce((older, step) => step(older), item);
}

/** What the table knows of its items' versions. Kinds that are not named have had one version only. */
export class ItemVersions {
  readonly #kinds: readonly (Versions & { readonly has: (key: Key) => boolean })[];

  constructor(kinds: readonly Versions[]) {
    this.#kinds = kinds.map((versions) => ({ ...versions, has: isOf(versions.kind) }));
  }

  /** A stored item in the newest version that is known. Throws `NewerItem` for one that is newer still. */
  lifted<T extends Item>(stored: T): T {
    const kind = this.#kindOf(stored);
    if (kind !== undefined) return lift(stored, kind) as T;
    if (stored.v !== undefined) throw new NewerItem(nameOf(stored), stored.v, 1);
    return stored;
  }

  /**
   * The write with what it says of versions: a new item its own, and that it does not take the place of a newer one.
   * Updates do neither: they leave what they do not know, and an item in the version that it has.
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

  #kindOf(place: Item | Key): Versions | undefined {
    return this.#kinds.find(({ has }) => has(place as Key));
  }
}
