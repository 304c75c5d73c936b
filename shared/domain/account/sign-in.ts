import { badRequest, refusal } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { roles } from '../../model/permission/permission.ts';
import { accessHost } from '../../model/realm/hosts.ts';
import { isForDevelopment } from '../../model/realm/sign-in-methods.ts';
import { isPassword, type Password } from '../../model/user/password.ts';
import { loadUsers } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { addKey } from './api-key.ts';
import { forgetAttempts, requireAttempt } from './attempts.ts';
import { addDeviceKey } from './device-key.ts';
import { newPassword } from './password.ts';

/** Somebody who signs in with a password. */
export interface PasswordSignIn {
  readonly email: string;
  readonly password: string;
  /** The network address of the client. */
  readonly address: string;
  /** What the device is called in the list of keys. */
  readonly label: string;
}

/** An account with the key that a sign-in made for it. */
export interface SignedIn {
  readonly apiKey: string;
  readonly email: string;
  readonly userId: number;
}

/**
 * Signs somebody in with a password: makes a key for their device. Three round trips, and another where the service sends
 * mail.
 *
 * Each try is counted before the password is compared, so that tries at the same time cannot exceed the limit; a success
 * takes the count of its account back. Without an account, or without a password, the same reads and the same work are
 * done.
 *
 * @throws Refusal `AUTHENTICATION_FAILED`, `USER_DEACTIVATED`, `REALM_DEACTIVATED`, `NONEXISTENT_SUBDOMAIN`, or
 *   `RATE_LIMIT_HIT` after too many tries (companion facts 3.12)
 */
export async function signInWithPassword(
  outside: Outside,
  queues: Queues,
  host: string,
  { email, password, address, label }: PasswordSignIn,
): Promise<SignedIn> {
  const { table } = outside;
  const accountKey = { kind: 'account', email } as const;
  const resolved = await accessHost(outside, host, [accountKey]);
  const { realm } = resolved;
  const account = resolved.follow(accountKey);
  // No user has the number 0: the same reads are made for an unknown address.
  const userId = account?.userId ?? 0;
  const [organization, user, stored] = await Promise.all([
    table.get('realm', { realm }),
    table.get('user', { realm, userId }),
    table.get('password', { realm, userId }),
    requireAttempt(outside, realm, 'sign-in to an account', folded(email)),
    requireAttempt(outside, realm, 'sign-in from an address', address),
  ]);
  if (!(await isPassword(stored, password, outside.passwordCost)) || user === undefined)
    throw refusal('wrongPassword');
  checkMaySignIn(user, organization?.deactivated !== false);
  const [apiKey] = await Promise.all([
    addDeviceKey(outside, queues, { realm, userId, email: user.email, account }, label),
    forgetAttempts(outside, realm, 'sign-in to an account', folded(email)),
  ]);
  return { apiKey, email: user.email, userId };
}

/**
 * Signs somebody in without a password, on a developer's machine.
 *
 * @throws Refusal `BAD_REQUEST` in a deployment, and those of a sign-in with a password
 */
export async function signInForDevelopment(
  outside: Outside,
  host: string,
  { email, label }: Pick<PasswordSignIn, 'email' | 'label'>,
): Promise<SignedIn> {
  const accountKey = { kind: 'account', email } as const;
  const resolved = await accessForDevelopment(outside, host, [accountKey]);
  const { realm } = resolved;
  const account = resolved.follow(accountKey);
  if (account === undefined) throw refusal('wrongPassword');
  const { userId } = account;
  const [organization, user] = await Promise.all([
    outside.table.get('realm', { realm }),
    outside.table.get('user', { realm, userId }),
  ]);
  if (user === undefined || user.isBot) throw refusal('wrongPassword');
  checkMaySignIn(user, organization?.deactivated !== false);
  return { apiKey: await addKey(outside, realm, user.email, label, account), email: user.email, userId };
}

/** The people who can sign in without a password: administrators, and the others. Two round trips. */
export async function accessDevelopmentUsers(
  outside: Outside,
  host: string,
): Promise<{ readonly administrators: User[]; readonly others: User[] }> {
  const { realm } = await accessForDevelopment(outside, host, []);
  const all = await loadUsers(outside, realm);
  const people = all.filter(({ isActive, isBot }) => isActive && !isBot);
  return {
    administrators: people.filter(({ role }) => role <= roles.administrator),
    others: people.filter(({ role }) => role > roles.administrator),
  };
}

async function accessForDevelopment(
  outside: Outside,
  host: string,
  lookupKeys: readonly LookupKey[],
): Promise<Resolved> {
  if (!isForDevelopment(outside.environment)) throw badRequest('This is not a development server.');
  return accessHost(outside, host, lookupKeys);
}

/** Refuses people of an organization that is out of service, and deactivated people. */
export function checkMaySignIn(user: Pick<User, 'isActive'>, isOutOfService: boolean): void {
  if (isOutOfService) throw refusal('organizationDeactivated');
  if (!user.isActive) throw refusal('userDeactivated');
}

/**
 * Decides a change of one's own password, and hashes the new one. The current one is counted as a sign-in is: a stolen key is no way to guess it.
 * Somebody who has none yet needs none.
 *
 * @throws Refusal `BAD_REQUEST` if the current one is wrong or the new one too weak, `RATE_LIMIT_HIT` after too many tries
 */
export async function preparePasswordChange(
  outside: Outside,
  realm: string,
  { userId, email, fullName }: User,
  { from = '', to }: { readonly from: string | undefined; readonly to: string },
): Promise<Password> {
  const [stored] = await Promise.all([
    outside.table.get('password', { realm, userId }),
    requireAttempt(outside, realm, 'sign-in to an account', folded(email)),
  ]);
  if (stored !== undefined && !(await isPassword(stored, from, outside.passwordCost))) {
    throw badRequest('The old password is not the current one.');
  }
  const [password] = await Promise.all([
    newPassword(outside, to, [email, fullName]),
    forgetAttempts(outside, realm, 'sign-in to an account', folded(email)),
  ]);
  return password;
}
