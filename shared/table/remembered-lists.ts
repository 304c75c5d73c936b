import { type ItemName, type ItemOf, isOf } from './keys.ts';

/**
 * The lists that containers remember (`shared/kernel/list-cache.ts`), each with the attributes of its items that are no part
 * of it. `Table.transact` gives a list another version with every write of such an item, unless only these change. `Table`
 * writes the items of these kinds in transactions only.
 */
export const rememberedKinds = {
  user: ['arrivals', 'bots', 'mutes', 'alertWords', 'changed'],
  profile: ['changed'],
  emoji: [],
  channel: ['changed'],
  group: ['changed'],
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

/** How to recognize an item of each kind, and the attributes that its list leaves out. */
export const rememberedLists = (Object.keys(rememberedKinds) as RememberedKind[]).map((kind) => ({
  kind,
  has: isOf(kind),
  leftOut: new Set<string>(['pk', 'sk', ...rememberedKinds[kind]]),
}));

/** The items of a list as containers remember them. Nobody can change them. */
export function listed<K extends RememberedKind>(
  kind: K,
  items: readonly ItemOf<RememberedKind>[],
): readonly Listed<K>[] {
  const leftOut = rememberedLists.find((each) => each.kind === kind)?.leftOut ?? new Set();
  const kept = items.map((item) => {
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(item)) if (!leftOut.has(name)) fields[name] = value;
    return Object.freeze(fields) as Listed<K>;
  });
  return Object.freeze(kept);
}
