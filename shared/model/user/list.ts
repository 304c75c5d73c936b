import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { isGuest } from '../permission/permission.ts';
import type { Caller } from './caller.ts';
import { addressLookupKey } from './principals.ts';
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

/** The address in the name of a user, as a pointer to look up before anything else. */
export function userLookupKeys(name: string): LookupKey<'account'>[] {
  const pointer = isNumeral(name) ? undefined : addressLookupKey(name);
  return pointer === undefined ? [] : [pointer];
}

/** The id that the name of a user leads to; undefined where it leads nowhere. */
export function userIdOf(name: string, resolved: Resolved): number | undefined {
  if (isNumeral(name)) return isId(Number(name)) ? Number(name) : undefined;
  const pointer = addressLookupKey(name);
  return pointer && resolved.follow(pointer)?.userId;
}

/** The owner of the bot that a name leads to, after the look-up of `targetLookupKeys`; undefined where it is no bot. */
export function ownerIdOf(name: string, resolved: Resolved): number | undefined {
  const [pointer] = targetLookupKeys(name);
  return pointer && resolved.follow(pointer)?.ownerId;
}

/** The same for a request that rests on more of the user, who is read with the look-up where an id is given. */
export const targetLookupKeys = (name: string): LookupKey<'account' | 'user'>[] =>
  isNumeral(name) ? (isId(Number(name)) ? [{ kind: 'user', id: Number(name) }] : []) : userLookupKeys(name);

/**
 * The user that a name leads to, from the look-up of `targetPointers` or, where that gave an address, read after it;
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
