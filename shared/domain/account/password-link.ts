import { badRequest, inField, type Refusal, refusal } from '../../kernel/errors.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { carryOut } from '../../log/carry-out.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { retryOnConflict } from '../../log/commit.ts';
import { accessHost } from '../../model/realm/hosts.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { credentialsChanged } from '../../model/user/caller.ts';
import { doMakeLink, doUseLink, loadLink, newToken, PASSWORD_LINK_SECONDS } from '../../model/user/link.ts';
import { doSetPassword } from '../../model/user/password.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { doLeaveMail, sendsMail, wakeMail } from '../mail-out/letter.ts';
import { requireAttempt } from './attempts.ts';
import { newPassword } from './password.ts';

const deadLink = (): Refusal =>
  badRequest('This link does not work any more: it was used, or it has expired. Ask for a new one.');

/** The account of a link for a new password. */
export interface LinkedAccount {
  readonly realm: string;
  readonly organization: Realm;
  readonly user: User;
}

/**
 * Loads the account whose password a link lets somebody set. Three round trips.
 *
 * @param host the host of the request, which names the organization
 * @throws Refusal `BAD_REQUEST` for an unknown, used or expired link, or a deactivated account; `NONEXISTENT_SUBDOMAIN`,
 *   `REALM_DEACTIVATED`
 */
export async function accessLinkedAccount(
  outside: Outside,
  host: string,
  token: string,
): Promise<LinkedAccount> {
  const { realm } = await accessHost(outside, host);
  const [organization, link] = await Promise.all([
    outside.table.get('realm', { realm }),
    loadLink(outside, realm, token),
  ]);
  if (organization === undefined || organization.deactivated) throw refusal('organizationDeactivated');
  const user =
    link?.kind === 'password' ? await outside.table.get('user', { realm, userId: link.userId }) : undefined;
  if (user === undefined || !user.isActive) throw deadLink();
  return { realm, organization, user };
}

/**
 * Sets a password by a link, and uses the link up. Keys of the account go on working, and other links too. The log says
 * that the credentials have changed. Of two requests with one link, one is refused.
 *
 * @throws Refusal as `accessLinkedAccount`, and `BAD_REQUEST` if the password is too short, too long or too weak; it names the field
 */
export async function setPasswordByLink(
  outside: Outside,
  host: string,
  token: string,
  given: string,
): Promise<{ readonly realm: string; readonly userId: number; readonly email: string }> {
  const { realm, user } = await accessLinkedAccount(outside, host, token);
  const { userId, email, fullName } = user;
  const about = [email, fullName];
  const password = await inField('password', () => newPassword(outside, given, about));
  await retryOnConflict(outside, async () => {
    await accessLinkedAccount(outside, host, token);
    await commitTo(outside, realm)(1, () => ({
      writes: [
        doUseLink(realm, token),
        doSetPassword(realm, userId, password),
        { check: key('user', { realm, userId }), when: { equals: { isActive: true } } },
      ],
      entries: [credentialsChanged(userId)],
      result: undefined,
    }));
  });
  return { realm, userId, email };
}

/**
 * Makes a link for a new password, which the operator hands on.
 *
 * @returns the token
 */
export async function makePasswordLink(outside: Outside, realm: string, userId: number): Promise<string> {
  const token = newToken(outside);
  const expires = Math.floor(outside.now() / 1_000) + PASSWORD_LINK_SECONDS;
  const { state } = await carryOut(outside, [
    doMakeLink(realm, token, { kind: 'password', userId, expires }),
  ]);
  if (state === 'refused') throw new Error('a new link exists already');
  return token;
}

/**
 * Sends a user a link for a new password, if the account exists. Neither the reply nor its time reveals whether it does:
 * in either case the request is counted and a job is stored.
 *
 * @param request the address of the account, and the network address of the client
 * @throws Refusal `NONEXISTENT_SUBDOMAIN`, `RATE_LIMIT_HIT` (companion facts 5), or `BAD_REQUEST` if the service sends no
 *   mail
 */
export async function requestPasswordLink(
  outside: Outside,
  queues: Queues,
  host: string,
  request: { readonly email: string; readonly address: string },
): Promise<void> {
  if (!sendsMail(outside)) throw badRequest('This service sends no mail.');
  const email = folded(request.email.trim());
  const accountKey = { kind: 'account', email } as const;
  const resolved = await accessHost(outside, host, [accountKey]);
  const { realm } = resolved;
  await Promise.all([
    requireAttempt(outside, realm, 'password link for an account', email),
    requireAttempt(outside, realm, 'password link for an account in a day', email),
    requireAttempt(outside, realm, 'password link from an address', request.address),
  ]);
  // No user has the number 0: the worker sends nothing for it.
  const userId = resolved.follow(accountKey)?.userId ?? 0;
  const job = outside.uuid();
  await carryOut(outside, doLeaveMail(realm, job, [{ what: 'password', userId }], outside.now()));
  await wakeMail(outside, queues, realm, job);
}
