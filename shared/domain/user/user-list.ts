import { key, partition } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { isId } from '../channel/channel-access.ts';
import type { Known, Pointer } from '../pointer.ts';
import { badRequest, type Refusal } from '../problems.ts';
import { addressPointer } from './principals.ts';
import type { Account, User } from './user.ts';

/** All users of an organization by their ids, deactivated ones and the bot of the service too. One round trip. */
export const loadUsers = (table: Table, realm: string): Promise<User[]> =>
  table.all<User>({ pk: partition('user', { realm }) });

/** Most users that are read one by one; for more, all are read. */
const FEW = 100;

/** The users with these ids, as far as they exist, ascending; all users where no ids are given. One round trip. */
export async function loadUsersById(
  table: Table,
  realm: string,
  ids: readonly number[] | undefined,
): Promise<User[]> {
  if (ids === undefined) return loadUsers(table, realm);
  const wanted = new Set(ids.filter(isId));
  const users =
    wanted.size <= FEW
      ? await table.getMany<User>([...wanted].map((userId) => key('user', { realm, userId })))
      : (await loadUsers(table, realm)).filter(({ userId }) => wanted.has(userId));
  return users.sort((a, b) => a.userId - b.userId);
}

/** How a path names a user: digits are an id, anything else is an email address. */
const isNumeral = (name: string): boolean => /^\d+$/.test(name);

/** The address in the name of a user, as a pointer to look up before anything else. */
export function userPointers(name: string): Pointer[] {
  const pointer = isNumeral(name) ? undefined : addressPointer(name);
  return pointer === undefined ? [] : [pointer];
}

/** The id that the name of a user leads to; undefined where it leads nowhere. */
export function userIdOf(name: string, known: Known): number | undefined {
  if (isNumeral(name)) return isId(Number(name)) ? Number(name) : undefined;
  const pointer = addressPointer(name);
  return pointer && known.follow<Account>(pointer)?.userId;
}

/** The answer to every name of a user that leads nowhere the caller may go. */
export const noSuchUser = (): Refusal => badRequest('There is no such user.');
