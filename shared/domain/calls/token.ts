import type { Outside, Vault } from '../../kernel/outside.ts';
import { commitTo } from '../../log/checkpoint.ts';
import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import { ignoreRefused } from '../../table/outcome.ts';
import { hasVersion } from '../../table/write.ts';
import type { CallProvider } from './provider.ts';

/** An OAuth token of one person at one provider. It is never stored in clear. */
export interface CallToken {
  readonly access: string;
  readonly refresh: string | undefined;
  /** When the access token expires, ms. */
  readonly expires: number;
}

/** A token as stored. */
interface StoredToken {
  readonly sealed: string;
  /** New for each token, so that nobody overwrites or erases a token that they have not read. */
  readonly version: string;
  /** A request holds the refresh until this time (ms). */
  readonly refreshing?: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    callToken: StoredToken;
  }
}

/** A decrypted token with its version. */
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

/** The providers at which the person has a token. One round trip. */
export async function loadTokenPresence(
  { table }: Outside,
  realm: string,
  userId: number,
  names: readonly CallProvider['name'][],
): Promise<ReadonlySet<string>> {
  const keys = names.map((name) => key('callToken', { realm, userId, provider: name }));
  const stored = await Promise.all(keys.map((each) => table.get(each)));
  return new Set(names.filter((_, i) => stored[i] !== undefined));
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

const tokenEvent = ({ userId, provider }: Holder, value: boolean): EventEntry => ({
  kind: 'event',
  hearers: { users: [userId] },
  payload: { type: `has_${provider.name}_token`, value },
});

/** A new token to be stored. */
const sealed = async ({ uuid }: Outside, vault: Vault, holder: Holder, token: CallToken) => ({
  sealed: await vault.seal(JSON.stringify(token), contextOf(holder)),
  version: uuid(),
});

/** Stores the token of a new consent in place of any older one, with an event for the person's clients. */
export async function storeToken(
  outside: Outside,
  vault: Vault,
  holder: Holder,
  token: CallToken,
): Promise<void> {
  const item = await sealed(outside, vault, holder, token);
  await commitTo(outside, holder.realm)(1, () => ({
    writes: [{ put: keyFor(holder), item }],
    entries: [tokenEvent(holder, true)],
    result: undefined,
  }));
}

/** Erases the token of this version, with an event. Throws `ConflictError` if another token has replaced it. */
export const eraseToken = (outside: Outside, holder: Holder, version: string): Promise<void> =>
  commitTo(outside, holder.realm)(1, () => ({
    writes: [{ delete: keyFor(holder), when: hasVersion(version) }],
    entries: [tokenEvent(holder, false)],
    result: undefined,
  }));

/**
 * Takes the lease to refresh the token of this version, for `time` ms. Returns false if another request holds it. A
 * refresh token works only once: the second of two requests that use it would look like a withdrawn consent.
 */
export async function leaseRefresh(
  { table, now }: Outside,
  holder: Holder,
  version: string,
  time: number,
): Promise<boolean> {
  const change = { set: { refreshing: now() + time } };
  const when = { ...hasVersion(version), below: { refreshing: now() } };
  return (await table.update(keyFor(holder), change, when).catch(ignoreRefused)) !== undefined;
}

/** Replaces the token of this version by a refreshed one, without an event. Returns undefined if it is gone. */
export async function replaceToken(
  outside: Outside,
  vault: Vault,
  holder: Holder,
  before: string,
  token: CallToken,
): Promise<OpenedToken | undefined> {
  const item = await sealed(outside, vault, holder, token);
  const put = outside.table.put(keyFor(holder), item, hasVersion(before));
  return put.then(() => ({ ...token, version: item.version })).catch(ignoreRefused);
}

/** Releases the refresh lease after a failed refresh. */
export const releaseRefresh = ({ table }: Outside, holder: Holder, version: string): Promise<unknown> =>
  table.update(keyFor(holder), { remove: ['refreshing'] }, hasVersion(version)).catch(ignoreRefused);
