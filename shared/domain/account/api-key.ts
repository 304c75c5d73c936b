import { badRequest } from '../../kernel/errors.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf, firstCodePoints, folded } from '../../kernel/text.ts';
import type { Commit } from '../../log/bulk.ts';
import { carryOutUnchanged } from '../../log/carry-out.ts';
import { type Change, retryOnConflict } from '../../log/commit.ts';
import {
  type Account,
  type ApiKey,
  credentialsChanged,
  doSetKeys,
  FIRST_KEY,
  type KeyUse,
  keysOf,
  keyWith,
  MAX_KEYS,
  MAX_LABEL,
  newApiKey,
} from '../../model/user/caller.ts';
import type { Write } from '../../table/write.ts';

/** An account that is about to get other keys. */
export interface KeyOwner {
  readonly realm: string;
  readonly email: string;
  /** As it was read. A commit fails if its keys have changed since. */
  readonly account: Account;
}

/** The caller of a request, with their keys as they were read for it. */
export const ownKeys = ({
  realm,
  email,
  resolved,
}: {
  readonly realm: string;
  readonly email: string;
  readonly resolved: Resolved;
}): KeyOwner => ({ realm, email, account: resolved.existing({ kind: 'account', email }) });

/**
 * Adds a key for a device that has just signed in, and returns it. Only the caller learns it. An account has at most
 * `MAX_KEYS` keys: the new one then takes the place of the oldest with the same label, or else of the oldest.
 *
 * @param label what the device is called
 * @param known the account, if it was read just now
 * @param more other writes of the same transaction
 * @throws Refusal `BAD_REQUEST` if there is no account with this address
 */
export async function addKey(
  outside: Outside,
  realm: string,
  email: string,
  label: string,
  known?: Account,
  more: readonly Write[] = [],
): Promise<string> {
  let before = known;
  const apiKey = newApiKey(outside);
  const added = newKey(outside, digestOf(apiKey), label);
  return retryOnConflict(outside, async () => {
    const account = before ?? (await outside.table.get('account', { realm, email: folded(email) }));
    before = undefined;
    if (account === undefined) throw badRequest('There is no account with this address.');
    // A transaction whose reply was lost may have stored it already.
    if (keyWith(account, added.digest)) return apiKey;
    const keys = doSetKeys(realm, email, account, withKey(account, added));
    await carryOutUnchanged(outside, [keys, ...more]);
    return apiKey;
  });
}

const newKey = (outside: Pick<Outside, 'uuid' | 'now'>, digest: string, label: string): ApiKey => ({
  id: outside.uuid().slice(0, 8),
  digest,
  label: firstCodePoints(label.toWellFormed().trim(), MAX_LABEL) || 'Unnamed device',
  created: Math.floor(outside.now() / 1000),
});

/** The keys of an account with another one, in place of an older one if there are too many. */
function withKey(account: Account, added: ApiKey): ApiKey[] {
  const keys = keysOf(account);
  if (keys.length < MAX_KEYS) return [...keys, added];
  const replaced = keys.find(({ label }) => label === added.label) ?? keys[0];
  return [...keys.filter((each) => each !== replaced), added];
}

/**
 * Replaces one key; the old one stops working at once, and waiting polls that use it end. Only the caller learns the new
 * one. The device keeps its name in the list.
 *
 * @param keyId the key that is replaced
 */
export async function replaceKey(
  outside: Outside,
  commit: Commit,
  owner: KeyOwner,
  keyId: string,
): Promise<string> {
  const apiKey = newApiKey(outside);
  const made = { digest: digestOf(apiKey), created: Math.floor(outside.now() / 1000) };
  const keys = keysOf(owner.account).map((each) => (each.id === keyId ? { ...each, ...made } : each));
  await commit(1, () => doChangeKeys(owner, keys));
  return apiKey;
}

/** Ends all keys of an account, and gives it a new first one. Waiting polls of the account end. */
export async function resetKeys(outside: Outside, commit: Commit, owner: KeyOwner): Promise<string> {
  const apiKey = newApiKey(outside);
  const first = { ...newKey(outside, digestOf(apiKey), ''), id: FIRST_KEY };
  await commit(1, () => doChangeKeys(owner, [first]));
  return apiKey;
}

/**
 * Finds the key to revoke.
 *
 * @throws Refusal `BAD_REQUEST` if the account has no key with this id
 */
export function checkRevokeKey({ account }: KeyOwner, keyId: string): ApiKey {
  const found = keysOf(account).find(({ id }) => id === keyId);
  if (found === undefined) throw badRequest('There is no API key with this ID.');
  return found;
}

/** Revokes a key, with the entry that ends waiting polls which use it. */
export const doRevokeKey = (owner: KeyOwner, revoked: ApiKey): Change<void> =>
  doChangeKeys(
    owner,
    keysOf(owner.account).filter(({ id }) => id !== revoked.id),
  );

const doChangeKeys = ({ realm, email, account }: KeyOwner, keys: readonly ApiKey[]): Change<void> => ({
  writes: [doSetKeys(realm, email, account, keys)],
  entries: [credentialsChanged(account.userId)],
  result: undefined,
});

/** Loads when the keys of a user were used last. One round trip. */
export const loadKeyUses = (
  { table }: Pick<Outside, 'table'>,
  realm: string,
  userId: number,
): Promise<KeyUse[]> => table.all('keyUse', { realm, userId });

const DAY_SECONDS = 86_400;

/** The keys of an account as clients see them. A key that was never used after the day it was made was used that day. */
export const keyObjects = (account: Account, uses: readonly KeyUse[], current: string) =>
  keysOf(account).map(({ id, label, created = null }) => {
    const day = uses.find(({ keyId }) => keyId === id)?.day;
    const madeOn = created === null ? null : created - (created % DAY_SECONDS);
    return {
      id,
      label,
      created,
      last_used: day === undefined ? madeOn : day * DAY_SECONDS,
      is_current: id === current,
    };
  });
