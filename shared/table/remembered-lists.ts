import { type ItemName, type ItemOf, isOf, key, realmOf } from './keys.ts';
import { keyOf, type Write } from './write.ts';

/**
 * The lists that containers remember (`shared/kernel/list-cache.ts`), each with the attributes of its items that are no part
 * of it. `Table.transact` gives a list another version with every write of such an item, unless only these change. `Table`
 * writes the items of these kinds in transactions only.
 */
export const rememberedKinds = {
  user: ['arrivals', 'bots', 'mutes', 'alertWords', 'changed'],
  profile: ['changed'],
} as const satisfies { readonly [K in ItemName]?: readonly (keyof ItemOf<K> | 'changed')[] };

export type RememberedKind = keyof typeof rememberedKinds;

/** An item as it stands in a list that containers remember. */
export type Listed<K extends RememberedKind> = Omit<ItemOf<K>, (typeof rememberedKinds)[K][number]>;

/** The log number of the last change of a list; of a change without one, something that no other change has. */
export type ListVersion = number | string;

declare module './keys.ts' {
  interface ItemTypes {
    listVersions: { readonly [K in RememberedKind]?: ListVersion };
  }
}

const kinds = (Object.keys(rememberedKinds) as RememberedKind[]).map((kind) => ({
  kind,
  has: isOf(kind),
  leftOut: new Set<string>(['pk', 'sk', ...rememberedKinds[kind]]),
}));

const isVersion = isOf('listVersions');

/** The writes, and one more for each organization of which they change remembered lists. */
export function withListVersions(writes: readonly Write[], version: ListVersion): readonly Write[] {
  const changed = new Map<string, Partial<Record<RememberedKind, ListVersion>>>();
  for (const write of writes) {
    const at = keyOf(write);
    const list = 'check' in write ? undefined : kinds.find(({ has }) => has(at));
    if (list === undefined || changesOnly(write, list.leftOut)) continue;
    changed.set(realmOf(at), { ...changed.get(realmOf(at)), [list.kind]: version });
  }
  if (changed.size === 0 || writes.some((write) => isVersion(keyOf(write)))) return writes;
  return [
    ...writes,
    ...[...changed].map(([realm, set]) => ({ update: key('listVersions', { realm }), change: { set } })),
  ];
}

/** Whether a write changes these attributes only. */
const changesOnly = (write: Write, attributes: ReadonlySet<string>): boolean =>
  'update' in write &&
  Object.values(write.change)
    .flatMap((part: object) => (Array.isArray(part) ? (part as string[]) : Object.keys(part)))
    .every((attribute) => attributes.has(attribute));

/** The items of a list as containers remember them. Nobody can change them. */
export function listed<K extends RememberedKind>(kind: K, items: readonly ItemOf<K>[]): readonly Listed<K>[] {
  const leftOut = kinds.find((each) => each.kind === kind)?.leftOut ?? new Set();
  const kept = items.map((item) => {
    const fields: Record<string, unknown> = {};
    for (const name in item) if (!leftOut.has(name)) fields[name] = item[name];
    return Object.freeze(fields) as Listed<K>;
  });
  return Object.freeze(kept);
}
