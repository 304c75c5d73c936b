import { isDeepStrictEqual } from 'node:util';
import { type Key, key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { folded } from './folding.ts';

/** A name that leads to an id. Pointers are what must be known before anything else can be read. */
export type Pointer =
  | { readonly kind: 'account'; readonly email: string }
  | { readonly kind: 'channelName'; readonly name: string }
  | { readonly kind: 'groupName'; readonly name: string }
  | { readonly kind: 'fullName'; readonly name: string }
  | { readonly kind: 'emojiName'; readonly name: string }
  /** A message leads to its channel or its people. It is too large and too fleeting to be remembered. */
  | { readonly kind: 'message'; readonly id: number };

/** The key of the item behind a pointer. Names are folded here, so that callers give them as they came. */
function pointerKey(realm: string, pointer: Pointer): Key {
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
    case 'message':
      return key('slot', { realm, seq: pointer.id });
  }
}

/** A key as one text, for maps. */
const idOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/** What is known of a request before its own reads: the realm, and where its names lead. */
export class Known {
  readonly realm: string;
  readonly #items: ReadonlyMap<string, Item>;

  constructor(realm: string, items: ReadonlyMap<string, Item>) {
    this.realm = realm;
    this.#items = items;
  }

  /** The item behind a pointer that the endpoint asked for, or undefined where the name leads nowhere. */
  follow<T = Item>(pointer: Pointer): T | undefined {
    return this.#items.get(idOf(pointerKey(this.realm, pointer))) as T | undefined;
  }

  /** Whether two look-ups found the same. */
  equals(other: Known): boolean {
    return this.realm === other.realm && isDeepStrictEqual(this.#items, other.#items);
  }
}

/** Most names that a container remembers; the oldest go first. */
const REMEMBERED = 10_000;

/** What a warm container remembers of earlier look-ups. Only hints: each use is verified beside it. */
export class Memory {
  readonly #items = new Map<string, Item | undefined>();

  /** What the container would guess for these pointers, if it remembers all of them. */
  guess(host: string, wanted: readonly Pointer[]): Known | undefined {
    const realm = this.#items.get(idOf(hostKey(host)))?.realm;
    if (typeof realm !== 'string') return undefined;
    const items = new Map<string, Item>();
    for (const pointer of wanted) {
      const id = idOf(pointerKey(realm, pointer));
      if (!this.#items.has(id)) return undefined;
      const item = this.#items.get(id);
      if (item !== undefined) items.set(id, item);
    }
    return new Known(realm, items);
  }

  /** Remembers where a name led, or that it led nowhere: most emoji in a text are no custom ones. */
  keep(key: Key, item: Item | undefined): void {
    const id = idOf(key);
    this.#items.delete(id);
    this.#items.set(id, item);
    const oldest = this.#items.keys().next().value;
    if (this.#items.size > REMEMBERED && oldest !== undefined) this.#items.delete(oldest);
  }
}

/** The realm that answers at hosts that nobody registered: the first organization of a deployment. */
export const HOME = 'main';

const hostKey = (host: string): Key => key('host', { host });

/** The realm id that an organization at this host is given when it is created. */
export const realmIdFor = (host: string): string => host.toLowerCase();

/**
 * Looks everything up in one round trip: which realm answers at the host, and where the names lead in it.
 *
 * A cold container does not know the realm yet, so it looks in the two that it can be: the one that an
 * organization created for this host has, and the home realm. Returns undefined when no realm answers here.
 */
export async function lookUp(
  table: Table,
  memory: Memory,
  host: string,
  wanted: readonly Pointer[],
): Promise<Known | undefined> {
  const remembered = memory.guess(host, []);
  const candidates = remembered ? [remembered.realm] : [...new Set([realmIdFor(host), HOME])];
  const fallback = hostKey('*');
  const [own, home, ...found] = await Promise.all([
    table.get(hostKey(host)),
    table.get(fallback),
    ...candidates.map(async (realm) => {
      const keys = wanted.map((pointer) => pointerKey(realm, pointer));
      const items = await Promise.all(keys.map((key) => table.get(key)));
      return { realm, keys, items };
    }),
  ]);
  const host_ = own ?? home;
  memory.keep(hostKey(host), host_);
  if (typeof host_?.realm !== 'string') return undefined;
  const right = found.find(({ realm }) => realm === host_.realm);
  // The host was given to another realm since: now that is remembered, so the second look is right.
  if (right === undefined) return lookUp(table, memory, host, wanted);
  const known = new Map<string, Item>();
  right.keys.forEach((key, i) => {
    const item = right.items[i];
    if (wanted[i]?.kind !== 'message') memory.keep(key, item);
    if (item !== undefined) known.set(idOf(key), item);
  });
  return new Known(right.realm, known);
}
