import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { type ListSource, loadList } from '../../kernel/list-cache.ts';
import { isId, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import { codePoints, firstCodePoints } from '../../kernel/text.ts';
import { key } from '../../table/keys.ts';
import type { Listed } from '../../table/remembered-lists.ts';
import type { Table } from '../../table/table.ts';
import { isGuest } from '../permission/permission.ts';
import { limits } from '../realm/realm.ts';
import type { Caller } from './caller.ts';
import type { User } from './user.ts';

/**
 * All users of an organization, including deactivated ones and the system bot, in the order of their ids. One round trip, or
 * two (`loadList`).
 */
export const loadUsers = (
  source: ListSource,
  realm: string,
  whole?: number,
): Promise<readonly Listed<'user'>[]> => loadList(source, 'user', realm, whole);

/** With more ids than this, all users are read. */
const MAX_SINGLE_READS = 100;

/** The valid ids, each once; undefined if all users should be read instead. */
export function idsToRead(ids: readonly number[] | undefined): number[] | undefined {
  const unique = [...new Set(ids?.filter(isId))];
  return ids === undefined || unique.length > MAX_SINGLE_READS ? undefined : unique;
}

/** The existing users with these ids, ascending; all users without ids. One round trip. */
export async function loadUsersById(
  source: ListSource,
  realm: string,
  ids: readonly number[] | undefined,
): Promise<Listed<'user'>[]> {
  const few = idsToRead(ids);
  const users =
    few === undefined
      ? await loadUsers(source, realm)
      : await source.table.getMany(few.map((userId) => key('user', { realm, userId })));
  const wanted = ids && new Set(ids);
  return users.filter(({ userId }) => wanted?.has(userId) ?? true).sort((a, b) => a.userId - b.userId);
}

/** The lookup key of a user in a path, by id (digits) or by email address; undefined if there is no such user. */
function pathLookupKey(name: string): LookupKey<'account'> | LookupKey<'user'> | undefined {
  if (!/^\d+$/.test(name)) return addressLookupKey(name);
  return isId(Number(name)) ? { kind: 'user', id: Number(name) } : undefined;
}

/** The lookup keys of a user path parameter, for requests that need the user item or the owner of a bot. */
export const targetLookupKeys = (name: string): LookupKey<'account' | 'user'>[] => {
  const lookupKey = pathLookupKey(name);
  return lookupKey === undefined ? [] : [lookupKey];
};

/** The same for requests that need only the id: an id is not looked up. */
export const userLookupKeys = (name: string): LookupKey<'account'>[] =>
  targetLookupKeys(name).filter((lookupKey) => lookupKey.kind === 'account');

/** The user id that a path parameter resolves to, or undefined. */
export function userIdOf(name: string, resolved: Resolved): number | undefined {
  const lookupKey = pathLookupKey(name);
  return lookupKey?.kind === 'user' ? lookupKey.id : lookupKey && resolved.follow(lookupKey)?.userId;
}

/** The owner of the bot that a path parameter resolves to (after `targetLookupKeys`), or undefined. */
export function ownerIdOf(name: string, resolved: Resolved): number | undefined {
  const lookupKey = pathLookupKey(name);
  return lookupKey && resolved.follow(lookupKey)?.ownerId;
}

/** The user of a path parameter, from the lookup of `targetLookupKeys` or, for an address, read after it. */
export async function loadTarget(table: Table, name: string, resolved: Resolved): Promise<User | undefined> {
  const lookupKey = pathLookupKey(name);
  if (lookupKey?.kind === 'user') return resolved.follow(lookupKey);
  const userId = userIdOf(name, resolved);
  return userId === undefined ? undefined : table.get('user', { realm: resolved.realm, userId });
}

/** The error for every user that does not exist or is hidden from the caller. */
export const noSuchUser = (): Refusal => badRequest('There is no such user.');

/** The same for account management. Guests get the permission error instead, so that they cannot probe for users. */
export const noSuchAccount = ({ standing }: Pick<Caller, 'standing'>): Refusal =>
  isGuest(standing) ? refusal('notAdministrator') : noSuchUser();

/** Users that a request names, by id or by email address. None means the caller. */
export type Principals = readonly number[] | readonly string[];

/** Longest part of an unknown address that an error quotes, in characters. */
const MAX_QUOTED = 100;

/** The lookup key of an address; undefined if it is too long to exist. */
export const addressLookupKey = (email: string): LookupKey<'account'> | undefined => {
  const address = email.trim();
  return codePoints(address) > limits.email ? undefined : { kind: 'account', email: address };
};

/** The lookup keys of the addresses among principals. */
export const principalLookupKeys = (principals: Principals = []): LookupKey[] =>
  principals.flatMap((principal) =>
    typeof principal === 'string' ? (addressLookupKey(principal) ?? []) : [],
  );

function idOf(principal: number | string, resolved: Resolved): number | undefined {
  if (typeof principal === 'number') return isId(principal) ? principal : undefined;
  const lookupKey = addressLookupKey(principal);
  return lookupKey && resolved.follow(lookupKey)?.userId;
}

/** The ids of the principals, each once; the caller if there are none. */
export const principalIds = (
  principals: Principals | undefined,
  resolved: Resolved,
  callerId: number,
): number[] =>
  principals === undefined || principals.length === 0
    ? [callerId]
    : [...new Set(principals.flatMap((principal) => idOf(principal, resolved) ?? []))];

/**
 * The users that principals name, each once and in order.
 *
 * @throws Refusal `BAD_REQUEST` for the first one who is unknown or deactivated
 */
export function accessPrincipals(
  principals: Principals | undefined,
  resolved: Resolved,
  users: ReadonlyMap<number, User>,
  caller: User,
): User[] {
  if (principals === undefined || principals.length === 0) return [caller];
  const people = new Map<number, User>();
  for (const principal of principals) {
    const user = users.get(idOf(principal, resolved) ?? 0);
    if (!user?.isActive) {
      const kind = typeof principal === 'string' ? 'email address' : 'ID';
      throw badRequest(
        `There is no active user with the ${kind} ${firstCodePoints(String(principal), MAX_QUOTED)}.`,
      );
    }
    people.set(user.userId, user);
  }
  return [...people.values()];
}
