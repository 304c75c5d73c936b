import { refusal } from '../../kernel/errors.ts';
import { type GroupGraph, noGroups, sizeOfGraph } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded, isSameSecret } from '../../kernel/text.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { type Standing, standingOf } from '../permission/permission.ts';
import type { Realm } from '../realm/realm.ts';
import type { User } from './user.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    account: Account;
    keyUse: KeyUse;
  }
}

/** An account, found by its email address. The item also keeps addresses unique. */
export interface Account {
  readonly userId: number;
  /** SHA-256 of the first API key, hex; `NO_KEY` if there is none. The key itself is not stored. */
  readonly keyDigest: string;
  /** When the first key was made, in seconds since 1970. Missing in accounts from before version 0.10. */
  readonly keyCreated?: number;
  /** Further keys, one for each device that signed in, in the order in which they were made. */
  readonly keys?: readonly ApiKey[];
  /** Owner of a bot, so that their rights can be read beside the bot's. */
  readonly ownerId?: number;
}

/** An API key of an account, which is one device that signed in. */
export interface ApiKey {
  /** Unique within the account. */
  readonly id: string;
  /** SHA-256 of the key, hex. */
  readonly digest: string;
  /** What the device is called, at most `MAX_LABEL` code points. */
  readonly label: string;
  /** When it was made, in seconds since 1970. Unknown for the first key of an old account. */
  readonly created?: number;
}

/** The last day on which a key was used. There is none for the day on which the key was made. */
export interface KeyUse {
  readonly keyId: string;
  /** Days since 1970. */
  readonly day: number;
}

/** A digest that no key has: accounts of the service itself, and those whose first key was revoked. */
export const NO_KEY = 'f'.repeat(64);

/** The id of the key that came with the account. */
export const FIRST_KEY = 'first';

/** Most keys of an account, so that its item stays within one read unit. */
export const MAX_KEYS = 12;

/** Most code points of a label. */
export const MAX_LABEL = 40;

/** The keys of an account, the first one first. */
export const keysOf = ({ keyDigest, keyCreated: created, keys = [] }: Account): readonly ApiKey[] =>
  keyDigest === NO_KEY
    ? keys
    : [
        {
          id: FIRST_KEY,
          digest: keyDigest,
          label: 'First API key',
          ...(created !== undefined && { created }),
        },
        ...keys,
      ];

/**
 * The key of an account that has this digest, or undefined. It takes as long for an unknown account as for one with a
 * single key, and it compares in constant time.
 */
export function keyWith(account: Account | undefined, digest: string): ApiKey | undefined {
  const presented = Buffer.from(digest, 'hex');
  const keys = account ? keysOf(account) : [];
  const candidates = keys.length > 0 ? keys : [{ id: '', digest: NO_KEY, label: '' }];
  const found = candidates.filter((each) => isSameSecret(Buffer.from(each.digest, 'hex'), presented));
  return keys.length > 0 ? found[0] : undefined;
}

/** Replaces the keys of an account. Fails if they have changed since `account` was read. */
export const doSetKeys = (realm: string, email: string, account: Account, keys: readonly ApiKey[]): Write => {
  const first = keys.find(({ id }) => id === FIRST_KEY);
  const set = {
    keyDigest: first?.digest ?? NO_KEY,
    keys: keys.filter((each) => each !== first),
    ...(first?.created !== undefined && { keyCreated: first.created }),
  };
  return {
    update: key('account', { realm, email: folded(email) }),
    change: { set },
    when: { equals: { keyDigest: account.keyDigest, keys: account.keys } },
  };
};

/** The type of the log entry about changed keys and passwords. No client gets it. */
export const CREDENTIALS_CHANGED = 'credentials';

/** Wakes all waiting polls of an organization that goes out of service or comes back: each checks its caller again. */
export const everyCredentialChanged = (): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: CREDENTIALS_CHANGED },
});

/** Wakes the waiting polls of a user whose keys or password have changed: each checks its own key. */
export const credentialsChanged = (userId: number): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: { type: CREDENTIALS_CHANGED },
});

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 32;
/** The largest multiple of the alphabet length that fits a byte: larger bytes would favour some letters. */
const MAX_UNBIASED_BYTE = 256 - (256 % ALPHABET.length);

/**
 * A new API key: 32 random alphanumerics (wire facts 1.3). Shown once, stored only as its digest: so many random characters
 * need no salt and no slow hash.
 */
export function newApiKey(outside: Pick<Outside, 'randomBytes'>): string {
  let apiKey = '';
  while (apiKey.length < LENGTH) {
    for (const byte of outside.randomBytes(LENGTH)) {
      if (byte < MAX_UNBIASED_BYTE && apiKey.length < LENGTH) apiKey += ALPHABET[byte % ALPHABET.length];
    }
  }
  return apiKey;
}

/**
 * The authenticated user, with their organization and rights. Read in every request, so that changes take effect at
 * once.
 */
export interface Caller {
  readonly realmId: string;
  readonly user: User;
  readonly standing: Standing;
  /** The standing of the owner of a bot: the bot has those rights too. */
  readonly owner?: Standing;
  readonly realm: Realm;
  readonly graph: GroupGraph;
}

/**
 * A caller whose groups were not read: only what follows from their role is known. Every `Caller` is one too, so what needs
 * no more takes this type.
 */
export type CallerByRole = Omit<Caller, 'standing' | 'owner'> & {
  readonly standing: Omit<Standing, 'groups'>;
};

/** Below this many edges (about 4 KB) a graph costs no more to read than its version. */
const MIN_CACHED_GRAPH = 400;

/**
 * Loads the graph of named groups. It can have 100 KB, so a container with a large cached graph reads only its
 * version. One round trip, or two if a large graph has changed.
 */
export async function loadGraph({ table, cache }: Outside, realm: string): Promise<GroupGraph> {
  const remembered = cache.graphs.get(realm);
  if (remembered !== undefined && sizeOfGraph(remembered) > MIN_CACHED_GRAPH) {
    const stored = await table.get('graphVersion', { realm });
    if ((stored?.version ?? noGroups.version) === remembered.version) return remembered;
  }
  const graph = (await table.get('groupGraph', { realm })) ?? noGroups;
  cache.graphs.set(realm, graph);
  return graph;
}

/** The ids of the named groups that have a user as a direct member. One round trip. */
export async function directGroups(
  outside: Outside,
  realm: string,
  userId: number,
  reading: Promise<GroupGraph> = loadGraph(outside, realm),
): Promise<number[]> {
  const [memberships, graph] = await Promise.all([
    outside.table.all('membership', { realm, userId }),
    reading,
  ]);
  const arriving = Object.entries(graph.arriving ?? {}).filter(([, members]) => members.includes(userId));
  return [...new Set([...memberships.map(({ groupId }) => groupId), ...arriving.map(([id]) => Number(id))])];
}

/**
 * Loads the caller. Throws `REALM_DEACTIVATED` if the organization is deactivated, and `UNAUTHORIZED` if it or the account
 * is unknown, or the account deactivated (wire facts 1.3). One round trip.
 */
export async function accessCaller(
  ...args: [
    outside: Outside,
    realmId: string,
    userId: number,
    ownerId: number | undefined,
    groupsOf?: typeof directGroups,
  ]
): Promise<Caller> {
  const caller = await loadCaller(...args);
  if (caller !== undefined) return caller;
  const [{ table }, realm] = args;
  const organization = await table.get('realm', { realm });
  throw refusal(organization?.deactivated ? 'organizationDeactivated' : 'unauthorized');
}

/** Stands for the groups of a user where nothing depends on them. It saves a query for each user. */
export const unreadGroups = async (): Promise<number[]> => [];

/**
 * Loads a user as a caller; undefined if the account or the organization is not active. `groupsOf` reads the groups of a
 * user. One round trip.
 */
export async function loadCaller(
  outside: Outside,
  realmId: string,
  userId: number,
  ownerId: number | undefined,
  groupsOf: typeof directGroups = directGroups,
): Promise<Caller | undefined> {
  const user = (id: number): Promise<User | undefined> =>
    outside.table.get('user', { realm: realmId, userId: id });
  const reading = loadGraph(outside, realmId);
  const [realm, graph, self, groups, owner, ownerGroups] = await Promise.all([
    outside.table.get('realm', { realm: realmId }),
    reading,
    user(userId),
    groupsOf(outside, realmId, userId, reading),
    ownerId === undefined ? undefined : user(ownerId),
    ownerId === undefined ? [] : groupsOf(outside, realmId, ownerId, reading),
  ]);
  if (realm === undefined || realm.deactivated || self === undefined || !self.isActive) return undefined;
  const standing = (who: User, direct: readonly number[]): Standing =>
    standingOf(who, direct, graph, realm.settings.waiting_period_threshold, outside.now());
  return {
    realmId,
    user: self,
    standing: standing(self, groups),
    // A deactivated owner gives the bot no rights.
    ...(owner?.isActive && { owner: standing(owner, ownerGroups) }),
    realm,
    graph,
  };
}

/** The same for a user whose ID is all that is known: a bot has the rights of its owner too. Two round trips. */
export async function loadCallerWithOwner(
  outside: Outside,
  realmId: string,
  userId: number,
): Promise<Caller | undefined> {
  const user = await outside.table.get('user', { realm: realmId, userId });
  return user && loadCaller(outside, realmId, userId, user.ownerId);
}
