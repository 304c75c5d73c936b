import type { Outside, Vault } from '../../kernel/outside.ts';
import { commit } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';
import type { CallProvider } from './call-provider.ts';

/** What a provider gave us to act for a person. It is never stored in clear. */
export interface CallToken {
  readonly access: string;
  readonly refresh: string | undefined;
  /** When the access ends, ms. */
  readonly expires: number;
}

/** A token as stored. */
interface StoredToken {
  readonly sealed: string;
  /** Made anew with each token, so that nobody overwrites or erases one that they have not seen. */
  readonly version: string;
  /** Until then (ms) somebody is refreshing it. */
  readonly refreshing?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    callToken: StoredToken;
  }
}

/** A token that was opened, with the version that it has. */
export interface OpenedToken extends CallToken {
  readonly version: string;
}

/** Whose token it is. */
export interface Holder {
  readonly realm: string;
  readonly userId: number;
  readonly provider: CallProvider;
}

const keyFor = ({ realm, userId, provider }: Holder) =>
  key('callToken', { realm, userId, provider: provider.name });

const contextOf = ({ realm, userId, provider }: Holder) => ({
  purpose: 'video call token',
  realm,
  userId: `${userId}`,
  provider: provider.name,
});

/** The tokens that a person has, by provider: only whether they are there. One round trip. */
export async function loadTokenPresence(
  { table }: Outside,
  realm: string,
  userId: number,
  names: readonly CallProvider['name'][],
): Promise<ReadonlySet<string>> {
  const stored = await Promise.all(
    names.map(async (name) => {
      const found = await table.get('callToken', { realm, userId, provider: name });
      return found && name;
    }),
  );
  return new Set(stored.filter((name) => name !== undefined));
}

/** The person's token, or undefined where there is none. One round trip, and one to the key service. */
export async function loadToken(
  { table }: Outside,
  vault: Vault,
  holder: Holder,
): Promise<OpenedToken | undefined> {
  const stored = await table.get(keyFor(holder));
  if (stored === undefined) return undefined;
  const token: CallToken = JSON.parse(await vault.open(stored.sealed, contextOf(holder)));
  return { ...token, version: stored.version };
}

const told = ({ userId, provider }: Holder, value: boolean): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: { type: `has_${provider.name}_token`, value },
});

const logOf = ({ table, now, wait }: Outside, { realm }: Holder) => ({ table, realm, now, wait });

/** Stores the token of a new consent, whatever there was before, and tells the person's clients. */
export async function storeToken(
  outside: Outside,
  vault: Vault,
  holder: Holder,
  token: CallToken,
): Promise<void> {
  const item: StoredToken = {
    sealed: await vault.seal(JSON.stringify(token), contextOf(holder)),
    version: outside.uuid(),
  };
  await commit(logOf(outside, holder), 1, () => ({
    writes: [{ put: keyFor(holder), item: { ...item } }],
    entries: [told(holder, true)],
    result: undefined,
  }));
}

/** Erases the token of this version, and tells the person's clients. Throws `ConflictError` where it is another one by now. */
export const eraseToken = (outside: Outside, holder: Holder, version: string): Promise<void> =>
  commit(logOf(outside, holder), 1, () => ({
    writes: [{ delete: keyFor(holder), when: { equals: { version } } }],
    entries: [told(holder, false)],
    result: undefined,
  }));

/**
 * Takes the sole right to refresh the token of this version for some time (ms). Providers honour a refresh token
 * once: of two who used it, the second would be told that the person took their consent back.
 */
export async function leaseRefresh(
  { table, now }: Outside,
  holder: Holder,
  version: string,
  time: number,
): Promise<boolean> {
  try {
    const refreshing = now() + time;
    await table.update(
      keyFor(holder),
      { set: { refreshing } },
      { equals: { version }, below: { refreshing: now() } },
    );
    return true;
  } catch (error) {
    if (isRefused(error)) return false;
    throw error;
  }
}

/** Puts a refreshed token in the place of the one of this version; false where that is gone. Clients hear nothing of it. */
export async function replaceToken(
  { table, uuid }: Outside,
  vault: Vault,
  holder: Holder,
  before: string,
  token: CallToken,
): Promise<OpenedToken | undefined> {
  const version = uuid();
  const sealed = await vault.seal(JSON.stringify(token), contextOf(holder));
  const item: StoredToken = { sealed, version };
  try {
    await table.put(keyFor(holder), { ...item }, { equals: { version: before } });
    return { ...token, version };
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

/** Lets others refresh the token of this version, after a refresh of ours that came to nothing. */
export async function releaseRefresh({ table }: Outside, holder: Holder, version: string): Promise<void> {
  await table
    .update(keyFor(holder), { remove: ['refreshing'] }, { equals: { version } })
    .catch((error: unknown) => {
      if (!isRefused(error)) throw error;
    });
}
