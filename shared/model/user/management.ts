import { type Refusal, refusal } from '../../kernel/errors.ts';
import type { Table } from '../../table/table.ts';
import { isAdministrator, type Role, roles } from '../permission/permission.ts';
import type { Caller } from './caller.ts';
import type { User } from './user.ts';

/** What of an account decides who may manage it. */
type Managed = Pick<User, 'role' | 'isBot' | 'ownerId'>;

/**
 * The account of a bot's owner, whose rights the bot has too; undefined for a person, and where there is no account.
 * One round trip for a bot, none for a person.
 */
export const loadBotOwner = async (
  table: Table,
  realm: string,
  account: { readonly ownerId?: number | undefined } | undefined,
): Promise<User | undefined> =>
  account?.ownerId === undefined ? undefined : table.get('user', { realm, userId: account.ownerId });

/**
 * Refuses a caller who may not manage the account: its key, name, role, profile, owner, and whether it is active
 * (specification 5). Administrators may, and owners of bots may manage those; but nobody who has a lower role than the
 * account itself, or than the owner of a bot. A bot's key opens what the bot was given and what its owner may do, so
 * that whoever gets hold of it needs the rights of both. An owner who is deactivated counts with the role they had.
 *
 * @param owner the owner of a bot, as `loadBotOwner` found them; without them a bot takes an owner of the organization
 * @throws Refusal `UNAUTHORIZED_PRINCIPAL`, or `BAD_REQUEST` where a role below administrators is missing
 */
export function checkManages(
  { user, standing }: Pick<Caller, 'user' | 'standing'>,
  account: Managed,
  owner: Pick<User, 'userId' | 'role'> | undefined,
): void {
  const isOwnBot = account.isBot && account.ownerId === user.userId;
  if (!isAdministrator(standing) && !isOwnBot) throw refusal('notAdministrator');
  const ownerRole = owner?.userId === account.ownerId ? owner?.role : undefined;
  const needed = account.isBot ? highest(account.role, ownerRole ?? roles.owner) : account.role;
  if (standing.role > needed) throw missingRole(needed);
}

/** Whether mail may appear as the account of this bot: its owner must be able to manage it. */
export const mayActAsBot = (owner: Pick<User, 'userId' | 'role'>, bot: User): boolean =>
  bot.isBot && bot.isActive && bot.ownerId === owner.userId && owner.role <= bot.role;

/** The role with more rights: roles with more rights have lower numbers. */
const highest = (one: Role, other: Role): Role => (one < other ? one : other);

function missingRole(needed: Role): Refusal {
  if (needed === roles.owner) return refusal('notOwner');
  return refusal(needed === roles.administrator ? 'notAdministrator' : 'insufficientPermission');
}
