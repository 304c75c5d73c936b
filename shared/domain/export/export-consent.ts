import { loadUsers } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import type { Table } from '../../table/table.ts';
import { consentOf } from './export-request.ts';

/** Of whose private data it is asked whether they consent: people who are here (wire facts 10). */
export const isAsked = ({ isActive, isBot }: Pick<User, 'isActive' | 'isBot'>): boolean => isActive && !isBot;

/** Who consents to the export of their private data, and who does not. Two round trips. */
export async function loadConsents(table: Table, realm: string) {
  const users = await loadUsers(table, realm);
  return Promise.all(users.filter(isAsked).map(({ userId }) => consentOf(table, realm, userId)));
}
