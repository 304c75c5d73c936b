import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { codePoints, firstCodePoints } from '../../kernel/folding.ts';
import { isId } from '../../kernel/id.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { isGuest } from '../permission/permission.ts';
import { limits } from '../realm/realm.ts';
import type { Caller } from './caller.ts';
import type { User } from './user.ts';

/** All users of an organization by their ids, deactivated ones and the bot of the service too. One round trip. */
export const loadUsers = (table: Table, realm: string): Promise<User[]> => table.all('user', { realm });

/** Most users that are read one by one; for more, all are read. */
const FEW = 100;

/** The ids that may lead to somebody, each once; undefined where they are so many that all users are read instead. */
export function fewIds(ids: readonly number[] | undefined): number[] | undefined {
  const wanted = [...new Set(ids?.filter(isId))];
  return ids === undefined || wanted.length > FEW ? undefined : wanted;
}

/** The users with these ids, as far as they exist, ascending; all users where no ids are given. One round trip. */
export async function loadUsersById(
  table: Table,
  realm: string,
  ids: readonly number[] | undefined,
): Promise<User[]> {
  const few = fewIds(ids);
  const users =
    few === undefined
      ? await loadUsers(table, realm)
      : await table.getMany(few.map((userId) => key('user', { realm, userId })));
  const wanted = ids && new Set(ids);
  return users.filter(({ userId }) => wanted?.has(userId) ?? true).sort((a, b) => a.userId - b.userId);
}

/** How a path names a user: digits are an id, anything else is an email address. */
const isNumeral = (name: string): boolean => /^\d+$/.test(name);

/** The address in the name of a user, as a lookup key. */
export function userLookupKeys(name: string): LookupKey<'account'>[] {
  const lookupKey = isNumeral(name) ? undefined : addressLookupKey(name);
  return lookupKey === undefined ? [] : [lookupKey];
}

/** The id that the name of a user leads to; undefined where it leads nowhere. */
export function userIdOf(name: string, resolved: Resolved): number | undefined {
  if (isNumeral(name)) return isId(Number(name)) ? Number(name) : undefined;
  const lookupKey = addressLookupKey(name);
  return lookupKey && resolved.follow(lookupKey)?.userId;
}

/** The owner of the bot that a name leads to, after the look-up of `targetLookupKeys`; undefined where it is no bot. */
export function ownerIdOf(name: string, resolved: Resolved): number | undefined {
  const [lookupKey] = targetLookupKeys(name);
  return lookupKey && resolved.follow(lookupKey)?.ownerId;
}

/** The same for a request that rests on more of the user, who is read with the look-up where an id is given. */
export const targetLookupKeys = (name: string): LookupKey<'account' | 'user'>[] =>
  isNumeral(name) ? (isId(Number(name)) ? [{ kind: 'user', id: Number(name) }] : []) : userLookupKeys(name);

/**
 * The user that a name leads to, from the look-up of `targetLookupKeys` or, where that gave an address, read after it;
 * undefined where it leads nowhere.
 */
export async function loadTarget(table: Table, name: string, resolved: Resolved): Promise<User | undefined> {
  if (isNumeral(name)) {
    return isId(Number(name)) ? resolved.follow({ kind: 'user', id: Number(name) }) : undefined;
  }
  const userId = userIdOf(name, resolved);
  return userId === undefined ? undefined : table.get('user', { realm: resolved.realm, userId });
}

/** The answer to every name of a user that leads nowhere the caller may go. */
export const noSuchUser = (): Refusal => badRequest('There is no such user.');

/**
 * The same to somebody who wants to administer that account. Guests may not know of everybody, and administer nobody:
 * they are told that, whether there is such an account or not.
 */
export const noSuchAccount = ({ standing }: Pick<Caller, 'standing'>): Refusal =>
  isGuest(standing) ? refusal('notAdministrator') : noSuchUser();

/** The people that a request is about: ids or email addresses. Without any it is about the caller. */
export type Principals = readonly number[] | readonly string[];

/** What is told of an address that leads nowhere, in characters. */
const LONGEST_TOLD = 100;

/** An address as it is looked up; what is longer than any address leads nowhere. */
export const addressLookupKey = (email: string): LookupKey<'account'> | undefined => {
  const address = email.trim();
  return codePoints(address) > limits.email ? undefined : { kind: 'account', email: address };
};

/** The addresses among the principals, as names to look up. */
export const principalLookupKeys = (principals: Principals = []): LookupKey[] =>
  principals.flatMap((principal) =>
    typeof principal === 'string' ? (addressLookupKey(principal) ?? []) : [],
  );

function idOf(principal: number | string, resolved: Resolved): number | undefined {
  if (typeof principal === 'number') return isId(principal) ? principal : undefined;
  const lookupKey = addressLookupKey(principal);
  return lookupKey && resolved.follow(lookupKey)?.userId;
}

/** The ids that the principals lead to, each once, for reading; the caller's own if there are no principals. */
export const principalIds = (
  principals: Principals | undefined,
  resolved: Resolved,
  callerId: number,
): number[] =>
  principals === undefined || principals.length === 0
    ? [callerId]
    : [...new Set(principals.flatMap((principal) => idOf(principal, resolved) ?? []))];

/**
 * The people that the principals are, each once and in their order, or a refusal that names the first one who is
 * unknown or deactivated. `users` are those that were read.
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
        `There is no active user with the ${kind} ${firstCodePoints(String(principal), LONGEST_TOLD)}.`,
      );
    }
    people.set(user.userId, user);
  }
  return [...people.values()];
}
