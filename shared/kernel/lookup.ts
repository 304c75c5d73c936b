import { isDeepStrictEqual } from 'node:util';
import { type ItemName, type ItemOf, type Key, key } from '../table/keys.ts';
import { BATCH, type Table } from '../table/table.ts';
import { folded } from './folding.ts';
import type { GroupGraph } from './group-graph.ts';

/** A name that leads to an id. Pointers are what must be known before anything else can be read. */
type AnyLookupKey =
  | { readonly kind: 'account'; readonly email: string }
  | { readonly kind: 'channelName'; readonly name: string }
  | { readonly kind: 'groupName'; readonly name: string }
  | { readonly kind: 'fullName'; readonly name: string }
  | { readonly kind: 'emojiName'; readonly name: string }
  /** The graph of groups leads from a group to those in it. */
  | { readonly kind: 'groupGraph' }
  /** The owners of the organization lead to what each of them has set. */
  | { readonly kind: 'owners' }
  /** The organization leads to the hosts at which it answers. */
  | { readonly kind: 'organization' }
  /** A message leads to its channel or its people. It is too large and too fleeting to be remembered. */
  | { readonly kind: 'message'; readonly id: number }
  /** A user leads to their bots, and a bot to its owner. What is decided on it must be as it is now. */
  | { readonly kind: 'user'; readonly id: number }
  /** Where the messages of an account were to be found lately: a hint by itself, which is not held to be true. */
  | { readonly kind: 'places'; readonly email: string };

export type LookupKey<K extends AnyLookupKey['kind'] = AnyLookupKey['kind']> = Extract<
  AnyLookupKey,
  { readonly kind: K }
>;

/** The type of the item behind a lookup key of this kind. */
type ItemBehind<K extends AnyLookupKey['kind']> = ItemOf<K extends 'message' ? 'slot' : K>;

/** The key of the item behind a pointer. Names are folded here, so that callers give them as they came. */
function itemKey(realm: string, pointer: LookupKey): Key {
  switch (pointer.kind) {
    case 'account':
      return key('account', { realm, email: folded(pointer.email) });
    case 'channelName':
      return key('channelName', { realm, name: folded(pointer.name) });
    case 'fullName':
      return key('fullName', { realm, name: folded(pointer.name) });
    // Group and emoji names are unique as they are spelled (wire facts 7 and 11).
    case 'groupName':
      return key('groupName', { realm, name: pointer.name });
    case 'emojiName':
      return key('emojiName', { realm, name: pointer.name });
    case 'groupGraph':
      return key('groupGraph', { realm });
    case 'owners':
      return key('owners', { realm });
    case 'organization':
      return key('organization', { realm });
    case 'message':
      return key('slot', { realm, seq: pointer.id });
    case 'user':
      return key('user', { realm, userId: pointer.id });
    case 'places':
      return key('places', { realm, email: folded(pointer.email) });
  }
}

/** Whether nothing is gained by remembering where it led. */
const isFleeting = ({ kind }: LookupKey): boolean => kind === 'message' || kind === 'user';

const isHint = ({ kind }: LookupKey): boolean => kind === 'places';

/** A key as one text, for maps. */
const idOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/** What is known of a request before its own reads: the realm, and where its names lead. */
export class Resolved {
  readonly realm: string;
  readonly #items: ReadonlyMap<string, object>;
  /** What need not be true, so that two look-ups may differ in it. */
  readonly #hints: ReadonlyMap<string, object>;

  constructor(
    realm: string,
    items: ReadonlyMap<string, object>,
    hints: ReadonlyMap<string, object> = new Map<string, object>(),
  ) {
    this.realm = realm;
    this.#items = items;
    this.#hints = hints;
  }

  /** The item behind a pointer that the endpoint asked for, or undefined where the name leads nowhere. */
  follow<P extends LookupKey>(pointer: P): ItemBehind<P['kind']> | undefined {
    const from = isHint(pointer) ? this.#hints : this.#items;
    return from.get(idOf(itemKey(this.realm, pointer))) as ItemBehind<P['kind']> | undefined;
  }

  /** The item behind a lookup key that is known to lead somewhere, as that of the caller's own account. */
  existing<P extends LookupKey>(pointer: P): NonNullable<ItemBehind<P['kind']>> {
    const item = this.follow(pointer);
    if (item === undefined) throw new Error(`this ${pointer.kind} was not looked up`);
    return item;
  }

  /** Whether two look-ups found the same. */
  equals(other: Resolved): boolean {
    return this.realm === other.realm && isDeepStrictEqual(this.#items, other.#items);
  }
}

/** Most names that a container remembers; the oldest go first. */
const REMEMBERED = 10_000;

/** Most organizations whose graph of groups a container remembers: one has at most 100 KB. */
const MAX_GRAPHS = 50;

function dropOldest(remembered: Map<string, unknown>, most: number): void {
  const oldest = remembered.keys().next().value;
  if (remembered.size > most && oldest !== undefined) remembered.delete(oldest);
}

/** An account that was over its limit: until when (ms), and for requests that count as how many. */
interface Spent {
  readonly weight: number;
  readonly until: number;
}

/** What a warm container remembers of earlier look-ups. Only hints: each use is verified beside it. */
export class LookupCache {
  readonly #items = new Map<string, object | undefined>();
  readonly #spent = new Map<string, Spent>();
  readonly #paces = new Map<string, number>();

  /** What the container would guess for these pointers, if it remembers all of them. */
  cached(host: string, wanted: readonly LookupKey[]): Resolved | undefined {
    const realm = this.recall(hostKey(host))?.realm;
    if (realm === undefined) return undefined;
    const [items, hints] = [new Map<string, object>(), new Map<string, object>()];
    for (const pointer of wanted) {
      const id = idOf(itemKey(realm, pointer));
      if (!this.#items.has(id)) return undefined;
      const item = this.#items.get(id);
      if (item !== undefined) (isHint(pointer) ? hints : items).set(id, item);
    }
    return new Resolved(realm, items, hints);
  }

  readonly #graphs = new Map<string, GroupGraph>();

  /** The graph of groups that this container read last; right while the organization's version is the same. */
  graphOf(realm: string): GroupGraph | undefined {
    return this.#graphs.get(realm);
  }

  keepGraph(realm: string, graph: GroupGraph): void {
    this.#graphs.delete(realm);
    this.#graphs.set(realm, graph);
    dropOldest(this.#graphs, MAX_GRAPHS);
  }

  /** What the container remembers of an item; undefined also where it remembers that there was none. */
  recall<N extends ItemName>(key: Key<N>): ItemOf<N> | undefined {
    return this.#items.get(idOf(key)) as ItemOf<N> | undefined;
  }

  /** Remembers that an account has spent its requests until then (ms), for requests that count as many. */
  spent(realm: string, userId: number, { weight, until }: Spent): void {
    const account = `${userId}/${realm}`;
    const before = this.#spent.get(account);
    this.#spent.delete(account);
    const isSame = before !== undefined && before.until >= until;
    this.#spent.set(account, isSame ? { until, weight: Math.min(weight, before.weight) } : { until, weight });
    dropOldest(this.#spent, REMEMBERED);
  }

  spentBy(realm: string, userId: number): Spent | undefined {
    return this.#spent.get(`${userId}/${realm}`);
  }

  /** How many slots the log of an organization had for its last seconds when they were read last; 0 where unknown. */
  pace(realm: string): number {
    return this.#paces.get(realm) ?? 0;
  }

  /** Remembers that. */
  keepPace(realm: string, slots: number): void {
    this.#paces.delete(realm);
    this.#paces.set(realm, slots);
    dropOldest(this.#paces, REMEMBERED);
  }

  /** Whether the container remembers something about this item. */
  has(key: Key): boolean {
    return this.#items.has(idOf(key));
  }

  /** Remembers where a name led, or that it led nowhere: most emoji in a text are no custom ones. */
  keep<N extends ItemName>(key: Key<N>, item: ItemOf<N> | undefined): void {
    const id = idOf(key);
    this.#items.delete(id);
    this.#items.set(id, item);
    dropOldest(this.#items, REMEMBERED);
  }
}

/** Looks up where names lead in a realm that is known already. One round trip. */
export async function lookUpIn(table: Table, realm: string, wanted: readonly LookupKey[]): Promise<Resolved> {
  const found = await Promise.all(
    wanted.map(async (pointer): Promise<[string, object][]> => {
      const at = itemKey(realm, pointer);
      const item = await table.get(at);
      return item === undefined ? [] : [[idOf(at), item]];
    }),
  );
  return new Resolved(realm, new Map(found.flat()));
}

/** The realm that answers at hosts that nobody registered: the first organization of a deployment. */
export const HOME = 'main';

const hostKey = (host: string): Key<'host'> => key('host', { host });

/** The realm id that an organization at this host is given when it is created. */
export const realmIdFor = (host: string): string => host.toLowerCase();

/** The realms in which names are looked up: the remembered one, or the two that a cold container has to try. */
const candidatesFor = (cache: LookupCache, host: string): readonly string[] => {
  const remembered = cache.cached(host, []);
  return remembered ? [remembered.realm] : [...new Set([realmIdFor(host), HOME])];
};

/** Items by which the realm of a host is found: its own, and the one for all other hosts. */
const HOST_ITEMS = 2;

/** Whether a look-up of these names takes no more keys than one batch holds. */
export const fitsOneBatch = (cache: LookupCache, host: string, wanted: readonly LookupKey[]): boolean =>
  HOST_ITEMS + wanted.length * candidatesFor(cache, host).length <= BATCH;

/**
 * Looks everything up in one round trip: which realm answers at the host, and where the names lead in it.
 *
 * A cold container does not know the realm yet, so it looks in the two that it can be: the one that an
 * organization created for this host has, and the home realm. Returns undefined when no realm answers here.
 *
 * Host and names are remembered only for a caller who, by what was found, `isTrusted`; others would push out what is useful. What
 * is remembered already is brought up to date for everybody.
 */
export async function lookUp(
  table: Table,
  cache: LookupCache,
  host: string,
  wanted: readonly LookupKey[],
  isTrusted: (resolved: Resolved) => boolean,
  candidates = candidatesFor(cache, host),
): Promise<Resolved | undefined> {
  const fallback = hostKey('*');
  const [own, home, ...found] = await Promise.all([
    table.get(hostKey(host)),
    table.get(fallback),
    ...candidates.map(async (realm) => {
      const keys = wanted.map((pointer) => itemKey(realm, pointer));
      const items = await Promise.all(keys.map((key) => table.get(key)));
      return { realm, keys, items };
    }),
  ]);
  const host_ = own ?? home;
  const remember = <N extends ItemName>(key: Key<N>, item: ItemOf<N> | undefined, mayAdd: boolean): void => {
    if (mayAdd || cache.has(key)) cache.keep(key, item);
  };
  if (host_ === undefined) {
    remember(hostKey(host), host_, false);
    return undefined;
  }
  const right = found.find(({ realm }) => realm === host_.realm);
  // The host was given to another realm since.
  if (right === undefined) return lookUp(table, cache, host, wanted, isTrusted, [host_.realm]);
  const [items, hints] = [new Map<string, object>(), new Map<string, object>()];
  wanted.forEach((pointer, i) => {
    const [key, item] = [right.keys[i] as Key, right.items[i]];
    if (item !== undefined) (isHint(pointer) ? hints : items).set(idOf(key), item);
  });
  const known = new Resolved(right.realm, items, hints);
  const mayAdd = isTrusted(known);
  remember(hostKey(host), host_, mayAdd);
  wanted.forEach((pointer, i) => {
    const [key, item] = [right.keys[i] as Key, right.items[i]];
    if (!isFleeting(pointer)) remember(key, item, mayAdd);
  });
  return known;
}
