import { badRequest, refusal } from '../../kernel/errors.ts';
import { codePoints, sha256 } from '../../kernel/text.ts';
import type { Caller } from '../../model/user/caller.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';

/** A value that a bot has stored. */
interface BotValue {
  readonly key: string;
  readonly value: string;
}

/** How much a bot has stored. */
interface BotStorage {
  /** Code points of all keys and values. */
  readonly used: number;
  /** How many keys there are. */
  readonly keys: number;
  /** Incremented by each change, for optimistic locking. */
  readonly version: number;
}

/** How much more, or less, a change stores. */
type Growth = Pick<BotStorage, 'used' | 'keys'>;

declare module '../../table/keys.ts' {
  interface ItemTypes {
    botValue: BotValue;
    botStorage: BotStorage;
  }
}

/** Most keys of one bot (docs/LIMITS.md): one transaction can remove all of them. */
export const MAX_KEYS = 90;

/** Most code points of all keys and values of one bot (docs/LIMITS.md), so that one reply can hold them. */
export const MAX_STORED = 1_000_000;

/** Bots only (companion facts 3.9). */
export function checkIsBot({ user }: Pick<Caller, 'user'>): void {
  if (!user.isBot) throw refusal('onlyBots');
}

/** A key of any length stands under its digest. */
const valueKey = (realm: string, userId: number, name: string): Key<'botValue'> =>
  key('botValue', { realm, userId, digest: sha256(name).toString('base64url') });

/** What a bot has stored under these keys, or all of it, and how much that is. One round trip. */
export async function loadBotStorage(
  table: Table,
  realm: string,
  userId: number,
  names: readonly string[] | undefined,
) {
  const [values, storage] = await Promise.all([
    names === undefined
      ? table.all('botValue', { realm, userId })
      : table.getMany([...new Set(names)].map((name) => valueKey(realm, userId, name))),
    table.get('botStorage', { realm, userId }),
  ]);
  return { values, storage };
}

type Loaded = Awaited<ReturnType<typeof loadBotStorage>>;

/** The values, in the order of their keys. An unknown key is refused. */
export function accessBotValues(names: readonly string[] | undefined, { values }: Loaded): BotValue[] {
  const known = new Set(values.map((value) => value.key));
  if (names?.some((name) => !known.has(name))) throw badRequest('There is nothing stored under this key.');
  return values.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

const sizeOf = (name: string, value: string): number => codePoints(name) + codePoints(value);

const total = (values: readonly Pick<BotValue, 'key' | 'value'>[]): number =>
  values.reduce((sum, { key: name, value }) => sum + sizeOf(name, value), 0);

/** Checks that there is room for these values. Returns how much more, or less, is stored with them. */
export function checkBotStorage(
  given: Readonly<Record<string, string>>,
  { values, storage }: Loaded,
): Growth {
  const wanted = Object.entries(given).map(([name, value]) => ({ key: name, value }));
  const used = total(wanted) - total(values);
  const keys = wanted.length - values.length;
  if ((storage?.keys ?? 0) + keys > MAX_KEYS) throw badRequest(`A bot stores at most ${MAX_KEYS} keys.`);
  if (used > 0 && (storage?.used ?? 0) + used > MAX_STORED)
    throw badRequest(`A bot stores at most ${MAX_STORED} characters.`);
  return { used, keys };
}

/** Counts a change, on condition that there was no other since it was decided. */
const doCount = (realm: string, userId: number, storage: BotStorage | undefined, more: Growth): Write => ({
  put: key('botStorage', { realm, userId }),
  item: {
    used: (storage?.used ?? 0) + more.used,
    keys: (storage?.keys ?? 0) + more.keys,
    version: (storage?.version ?? 0) + 1,
  },
  when: hasVersion(storage?.version),
});

/** Stores values. Fails if anything was stored or removed since they were read. */
export const doStoreValues = (
  realm: string,
  userId: number,
  given: Readonly<Record<string, string>>,
  { storage }: Loaded,
  more: Growth,
): Write[] => [
  ...Object.entries(given).map(
    ([name, value]): Write => ({ put: valueKey(realm, userId, name), item: { key: name, value } }),
  ),
  doCount(realm, userId, storage, more),
];

/** Removes values. Fails if anything was stored or removed since they were read. */
export const doRemoveValues = (
  realm: string,
  userId: number,
  values: readonly BotValue[],
  { storage }: Loaded,
): Write[] => [
  ...values.map((value): Write => ({ delete: valueKey(realm, userId, value.key) })),
  doCount(realm, userId, storage, { used: -total(values), keys: -values.length }),
];
