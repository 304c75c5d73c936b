import type { Outside } from '../../kernel/outside.ts';
import { folded, isSameSecret } from '../../kernel/text.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

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
