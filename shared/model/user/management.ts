import { type Refusal, refusal } from '../../kernel/errors.ts';
import type { Table } from '../../table/table.ts';
import { isAdministrator, type Role, roles } from '../permission/permission.ts';
import type { Caller } from './caller.ts';
import type { User } from './user.ts';

/** The fields of an account that decide who may manage it. */
type ManagedAccount = Pick<User, 'role' | 'isBot' | 'ownerId'>;

/** Loads the owner of a bot; undefined for a person. One round trip for a bot, none for a person. */
export const loadBotOwner = async (
  table: Table,
  realm: string,
  account: { readonly ownerId?: number | undefined } | undefined,
): Promise<User | undefined> =>
  account?.ownerId === undefined ? undefined : table.get('user', { realm, userId: account.ownerId });

/**
 * Checks that the caller may manage an account: key, name, role, profile, owner, activation (specification 5).
 * Administrators may, and owners their bots, but nobody with a lower role than the account or the owner of the bot: a
 * bot key gives access to both. A deactivated owner counts with their former role.
 *
 * @param owner the owner of a bot from `loadBotOwner`; if missing, only an organization owner may manage the bot
 * @throws Refusal `UNAUTHORIZED_PRINCIPAL`, or `BAD_REQUEST` if a role below administrator is missing
 */
export function checkManages(
  { user, standing }: Pick<Caller, 'user' | 'standing'>,
  account: ManagedAccount,
  owner: Pick<User, 'userId' | 'role'> | undefined,
): void {
  const isOwnBot = account.isBot && account.ownerId === user.userId;
  if (!isAdministrator(standing) && !isOwnBot) throw refusal('notAdministrator');
  const ownerRole = owner?.userId === account.ownerId ? owner?.role : undefined;
  const needed = account.isBot ? highest(account.role, ownerRole ?? roles.owner) : account.role;
  if (standing.role > needed) throw missingRole(needed);
}

/** Whether incoming mail of this user may appear as the bot: they own it and can manage it. */
export const mayActAsBot = (owner: Pick<User, 'userId' | 'role'>, bot: User): boolean =>
  bot.isBot && bot.isActive && bot.ownerId === owner.userId && owner.role <= bot.role;

/** The role with more rights, which has the lower number. */
const highest = (one: Role, other: Role): Role => (one < other ? one : other);

function missingRole(needed: Role): Refusal {
  if (needed === roles.owner) return refusal('notOwner');
  return refusal(needed === roles.administrator ? 'notAdministrator' : 'insufficientPermission');
}
