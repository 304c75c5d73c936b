import { isDeepStrictEqual } from 'node:util';
import type { KnownHead } from '../log/checkpoint.ts';
import type { Linkifiers } from '../markdown/linkifier-engine.ts';
import { type ItemName, type ItemOf, idOf, type Key, key } from '../table/keys.ts';
import { BATCH, type Table } from '../table/table.ts';
import type { KnownLists } from './list-cache.ts';
import { folded } from './text.ts';

/** A name in a request. It is looked up before anything else, because other items are found by it. */
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
  /** A message leads to its channel or its participants. Too large and too short-lived to be cached. */
  | { readonly kind: 'message'; readonly id: number }
  /** A user leads to their bots, and a bot to its owner. Never cached: decisions need it as it is now. */
  | { readonly kind: 'user'; readonly id: number }
  /** Where the account's last fetch found its messages. A hint even when it is fresh. */
  | { readonly kind: 'places'; readonly email: string };

export type LookupKey<K extends AnyLookupKey['kind'] = AnyLookupKey['kind']> = Extract<
  AnyLookupKey,
  { readonly kind: K }
>;

/** A full name as a lookup key. */
export const fullNameKey = (name: string): LookupKey<'fullName'> => ({ kind: 'fullName', name });

/** The type of the item behind a lookup key of this kind. */
type ItemBehind<K extends AnyLookupKey['kind']> = ItemOf<K extends 'message' ? 'slot' : K>;

/** The key of the item behind a lookup key. Names are folded here. */
function itemKey(realm: string, lookupKey: LookupKey): Key {
  switch (lookupKey.kind) {
    case 'account':
      return key('account', { realm, email: folded(lookupKey.email) });
    case 'channelName':
      return key('channelName', { realm, name: folded(lookupKey.name) });
    case 'fullName':
      return key('fullName', { realm, name: folded(lookupKey.name) });
    // Group and emoji names are unique as they are spelled (wire facts 7 and 11).
    case 'groupName':
      return key('groupName', { realm, name: lookupKey.name });
    case 'emojiName':
      return key('emojiName', { realm, name: lookupKey.name });
    case 'groupGraph':
      return key('groupGraph', { realm });
    case 'owners':
      return key('owners', { realm });
    case 'organization':
      return key('organization', { realm });
    case 'message':
      return key('slot', { realm, seq: lookupKey.id });
    case 'user':
      return key('user', { realm, userId: lookupKey.id });
    case 'places':
      return key('places', { realm, email: folded(lookupKey.email) });
  }
}

/** Kinds that are never cached. */
const isUncached = ({ kind }: LookupKey): boolean => kind === 'message' || kind === 'user';

const isHint = ({ kind }: LookupKey): boolean => kind === 'places';

/** The result of a look-up: the realm, and the items behind the lookup keys. */
export class Resolved {
  readonly realm: string;
  readonly #items: ReadonlyMap<string, object>;
  /** Items of kinds that are only hints: two equal results may differ in them. */
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

  /** The item behind a lookup key of this look-up, or undefined if there is none. */
  follow<P extends LookupKey>(lookupKey: P): ItemBehind<P['kind']> | undefined {
    const from = isHint(lookupKey) ? this.#hints : this.#items;
    return from.get(idOf(itemKey(this.realm, lookupKey))) as ItemBehind<P['kind']> | undefined;
  }

  /** The item behind a lookup key that must exist, such as the caller's own account. */
  existing<P extends LookupKey>(lookupKey: P): NonNullable<ItemBehind<P['kind']>> {
    const item = this.follow(lookupKey);
    if (item === undefined) throw new Error(`this ${lookupKey.kind} was not looked up`);
    return item;
  }

  /** Whether two look-ups led to the same items. */
  equals(other: Resolved): boolean {
    return this.realm === other.realm && isDeepStrictEqual(this.#items, other.#items);
  }
}

/** Most items that a container caches; the oldest go first. */
const MAX_ITEMS = 10_000;

/** Most organizations whose graph of groups a container caches: one has at most 100 KB. */
const MAX_GRAPHS = 50;

/** A map that forgets the entry that was set longest ago once it has more than `max`. */
class BoundedMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(id: string): V | undefined {
    return this.#entries.get(id);
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  set(id: string, value: V): void {
    this.#entries.delete(id);
    this.#entries.set(id, value);
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/** An account that was over its request limit: until when (ms), and for requests of this weight or more. */
interface OverLimit {
  readonly weight: number;
  readonly until: number;
}

/** What a warm container keeps of earlier look-ups. Only hints: each use is verified in parallel. */
export class LookupCache {
  readonly #items = new BoundedMap<object | undefined>(MAX_ITEMS);
  readonly #overLimit = new BoundedMap<OverLimit>(MAX_ITEMS);
  readonly #keyUses = new BoundedMap<number>(MAX_ITEMS);
  /** By realm: the graph of groups that was read last; right while the organization's version is the same. */
  readonly graphs = new BoundedMap<GroupGraph>(MAX_GRAPHS);
  /** By realm: its linkifiers, ready for use; right while the organization has the same version of them. */
  readonly linkifiers = new BoundedMap<{
    readonly version: number;
    readonly compiled: Linkifiers | undefined;
  }>(MAX_GRAPHS);
  /** Whole lists, each right while it has the same version. */
  readonly lists: KnownLists = {
    user: new Map(),
    profile: new Map(),
    emoji: new Map(),
    channel: new Map(),
    group: new Map(),
  };
  /** By realm: how many slots the log had for its last seconds when they were read last. */
  readonly recentSlots = new BoundedMap<number>(MAX_ITEMS);
  /** By user and realm: how many slots of the log there were for each message that they fetched. */
  readonly paces = new BoundedMap<number>(MAX_ITEMS);
  /** By realm: the end of the log when a registration read it last. */
  readonly heads = new BoundedMap<KnownHead>(MAX_ITEMS);

  /** The realm to which a host led last time. */
  realmOf(host: string): string | undefined {
    const own = hostKey(host);
    return this.has(own) ? (this.recall(own) ?? this.recall(otherHosts))?.realm : undefined;
  }

  /** Where these keys led last time; undefined unless all of them are cached. */
  cached(host: string, lookupKeys: readonly LookupKey[]): Resolved | undefined {
    const realm = this.realmOf(host);
    if (realm === undefined) return undefined;
    const [items, hints] = [new Map<string, object>(), new Map<string, object>()];
    for (const lookupKey of lookupKeys) {
      const id = idOf(itemKey(realm, lookupKey));
      if (!this.#items.has(id)) return undefined;
      const item = this.#items.get(id);
      if (item !== undefined) (isHint(lookupKey) ? hints : items).set(id, item);
    }
    return new Resolved(realm, items, hints);
  }

  /** The cached item; undefined also if it is cached that there was none. */
  recall<N extends ItemName>(key: Key<N>): ItemOf<N> | undefined {
    return this.#items.get(idOf(key)) as ItemOf<N> | undefined;
  }

  has(key: Key): boolean {
    return this.#items.has(idOf(key));
  }

  /** Caches an item, or that there is none: most emoji names in a text are not custom ones. */
  keep<N extends ItemName>(key: Key<N>, item: ItemOf<N> | undefined): void {
    this.#items.set(idOf(key), item);
  }

  /** The last day (since 1970) on which the use of an API key was noted from here. */
  usedOn(keyUse: Key<'keyUse'>): number | undefined {
    return this.#keyUses.get(idOf(keyUse));
  }

  noteUse(keyUse: Key<'keyUse'>, day: number): void {
    this.#keyUses.set(idOf(keyUse), day);
  }

  /** When the account was over its request limit last, and with which weight. */
  overLimit(realm: string, userId: number): OverLimit | undefined {
    return this.#overLimit.get(`${userId}/${realm}`);
  }

  /** Notes that an account is over its request limit. Within one minute the smallest refused weight counts. */
  noteOverLimit(realm: string, userId: number, { weight, until }: OverLimit): void {
    const before = this.overLimit(realm, userId);
    const smallest = before !== undefined && before.until >= until ? Math.min(weight, before.weight) : weight;
    this.#overLimit.set(`${userId}/${realm}`, { until, weight: smallest });
  }
}

/** Looks up keys in a realm that is known. One round trip. */
export async function lookUpIn(
  table: Table,
  realm: string,
  lookupKeys: readonly LookupKey[],
): Promise<Resolved> {
  const items = await Promise.all(
    lookupKeys.map(async (lookupKey): Promise<[string, object][]> => {
      const key = itemKey(realm, lookupKey);
      const item = await table.get(key);
      return item === undefined ? [] : [[idOf(key), item]];
    }),
  );
  return new Resolved(realm, new Map(items.flat()));
}

/** The realm that answers at hosts that nobody registered: the first organization of a deployment. */
export const HOME = 'main';

const hostKey = (host: string): Key<'host'> => key('host', { host });

/** Leads all hosts that nobody registered to one realm. */
const otherHosts = hostKey('*');

/** The realm id of an organization that is created for this host. */
export const realmIdFor = (host: string): string => host.toLowerCase();

/** The realms to look in: the cached one, or the two that it can be in a cold container. */
const candidatesFor = (cache: LookupCache, host: string): readonly string[] => {
  const cached = cache.realmOf(host);
  return cached === undefined ? [...new Set([realmIdFor(host), HOME])] : [cached];
};

/** Items by which the realm of a host is found: its own, and the one for all other hosts. */
const HOST_ITEMS = 2;

/** Whether one batch of gets has room for looking up these keys. */
export const fitsOneBatch = (cache: LookupCache, host: string, lookupKeys: readonly LookupKey[]): boolean =>
  HOST_ITEMS + lookupKeys.length * candidatesFor(cache, host).length <= BATCH;

/**
 * Looks up which realm answers at the host, and where the keys lead in it. One round trip.
 *
 * A cold container does not know the realm yet, so it looks in the two that it can be: the one that an organization
 * created for this host has, and the home realm. Returns undefined when no realm answers here.
 *
 * A host that was registered when it was cached is read alone: while it is, the item for all other hosts says nothing.
 *
 * New items are cached only if `isTrusted` accepts the result: callers without a valid key would push out useful ones.
 * Items that are cached already are refreshed for every caller.
 */
export async function lookUp(
  table: Table,
  cache: LookupCache,
  host: string,
  lookupKeys: readonly LookupKey[],
  isTrusted: (resolved: Resolved) => boolean,
  candidates = candidatesFor(cache, host),
): Promise<Resolved | undefined> {
  const isRegistered = cache.recall(hostKey(host)) !== undefined;
  const [own, others, ...perRealm] = await Promise.all([
    table.get(hostKey(host)),
    isRegistered ? undefined : table.get(otherHosts),
    ...candidates.map(async (realm) => {
      const entries = lookupKeys.map(async (lookupKey) => {
        const key = itemKey(realm, lookupKey);
        return { lookupKey, key, item: await table.get(key) };
      });
      return { realm, entries: await Promise.all(entries) };
    }),
  ]);
  if (isRegistered && own === undefined) {
    cache.keep(hostKey(host), undefined);
    return lookUp(table, cache, host, lookupKeys, isTrusted);
  }
  const realm = (own ?? others)?.realm;
  const store = <N extends ItemName>(key: Key<N>, item: ItemOf<N> | undefined, mayAdd: boolean): void => {
    if (mayAdd || cache.has(key)) cache.keep(key, item);
  };
  if (realm === undefined) {
    store(hostKey(host), undefined, false);
    store(otherHosts, undefined, false);
    return undefined;
  }
  const entries = perRealm.find((candidate) => candidate.realm === realm)?.entries;
  // The host was given to another realm since it was cached.
  if (entries === undefined) return lookUp(table, cache, host, lookupKeys, isTrusted, [realm]);
  const [items, hints] = [new Map<string, object>(), new Map<string, object>()];
  for (const { lookupKey, key, item } of entries) {
    if (item !== undefined) (isHint(lookupKey) ? hints : items).set(idOf(key), item);
  }
  const resolved = new Resolved(realm, items, hints);
  const mayAdd = isTrusted(resolved);
  store(hostKey(host), own, mayAdd);
  if (own === undefined) store(otherHosts, others, mayAdd);
  for (const { lookupKey, key, item } of entries) {
    if (!isUncached(lookupKey)) store(key, item, mayAdd);
  }
  return resolved;
}

/** Whether a number can be an id at all; others lead nowhere. */
export const isId = (id: number): boolean => Number.isSafeInteger(id) && id > 0 && id < 1e12;

/** Which named groups contain which groups: the whole graph of an organization in one item (DESIGN 6). */
export interface GroupGraph {
  readonly version: number;
  /** Group id (as text, since it is an attribute name) -> the groups directly inside it. */
  readonly edges: Readonly<Record<string, readonly number[]>>;
  /** Group -> those who came into it with its creation and are not stored one by one yet (`pending-members.ts`). */
  readonly arriving?: Readonly<Record<string, readonly number[]>>;
}

declare module '../table/keys.ts' {
  interface ItemTypes {
    groupGraph: GroupGraph;
  }
}

/** How many IDs these lists of a graph hold. */
export const sizeOfLists = (lists: GroupGraph['edges']): number =>
  Object.values(lists).reduce((sum, list) => sum + list.length, 0);

/** How many IDs a graph holds: its size. */
export const sizeOfGraph = ({ edges, arriving = {} }: GroupGraph): number =>
  sizeOfLists(edges) + sizeOfLists(arriving);

export const noGroups: GroupGraph = { version: 0, edges: {} };
