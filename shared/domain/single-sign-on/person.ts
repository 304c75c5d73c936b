import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { retryOnConflict } from '../../log/commit.ts';
import { roles } from '../../model/permission/permission.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { NO_KEY } from '../../model/user/caller.ts';
import { checkFullName, isEmail } from '../../model/user/name.ts';
import { addPerson, loadNewcomerSnapshot } from '../account/create.ts';
import type { Proven } from '../account/device-key.ts';
import { checkMaySignIn } from '../account/sign-in.ts';
import type { Claims } from './provider-api.ts';

/** Somebody whose email address the provider has verified. */
export interface Identity {
  readonly email: string;
  /** For a new person. Without it, only somebody with an account can sign in. */
  readonly name?: string;
}

/**
 * Checks what the provider says about somebody.
 *
 * @throws Refusal if it has no address for them, or has not verified it
 */
export function checkIdentity({ email, emailVerified, name }: Claims): Identity {
  if (typeof email !== 'string' || !isEmail(email)) {
    throw badRequest('The provider does not tell your email address.');
  }
  if (emailVerified !== true) {
    throw badRequest('The provider has not verified your email address. Verify it there, and sign in again.');
  }
  const given = typeof name === 'string' ? name.trim() : '';
  return { email, name: given === '' ? email.slice(0, email.lastIndexOf('@')) : given };
}

/** Makes the account of somebody who has none yet. */
export type Join = (identity: Required<Identity>) => Promise<Omit<Proven, 'account'>>;

/**
 * Finds the account with somebody's address. If there is none, adds them: by `join`, or if the organization lets them in by
 * themselves. Two round trips for an existing account.
 *
 * @throws Refusal `REALM_DEACTIVATED`, `USER_DEACTIVATED`, or `BAD_REQUEST` for the address of a
 *   bot, and for a new person who may not join or whose name is not valid
 */
export async function accessPerson(
  outside: Outside,
  realm: string,
  identity: Identity,
  join?: Join,
): Promise<Proven> {
  const { table } = outside;
  return retryOnConflict(outside, async () => {
    const account = await table.get('account', { realm, email: folded(identity.email) });
    const [organization, user] = await Promise.all([
      table.get('realm', { realm }),
      account && table.get('user', { realm, userId: account.userId }),
    ]);
    const inService = organization?.deactivated === false ? organization : undefined;
    if (inService === undefined) throw refusal('organizationDeactivated');
    if (account === undefined) {
      const { email, name } = identity;
      if (name === undefined) throw noAccount();
      const newcomer = { email, name };
      const joined = await (join?.(newcomer) ?? addNewcomer(outside, realm, inService, newcomer));
      return { ...joined, account: undefined };
    }
    if (user === undefined || user.isBot) throw badRequest('This address does not belong to a person here.');
    checkMaySignIn(user, false);
    return { realm, userId: user.userId, email: user.email, account };
  });
}

const noAccount = (): Refusal =>
  badRequest('There is no account with your address here. Open the link of your invitation, or ask for one.');

/** Adds somebody as `POST /users` would, without a key or password: the sign-in goes on to make a key. */
async function addNewcomer(
  outside: Outside,
  realm: string,
  organization: Realm,
  { email, name }: Required<Identity>,
): Promise<Omit<Proven, 'account'>> {
  const { emails_restricted_to_domains: isRestricted, invite_required: needsInvitation } =
    organization.settings;
  if (needsInvitation || !isRestricted) throw noAccount();
  const person = { email, fullName: checkFullName(name), role: roles.member };
  const snapshot = await loadNewcomerSnapshot(outside.table, realm);
  const userId = await addPerson(
    outside,
    { realmId: realm, realm: organization },
    commitTo(outside, realm),
    person,
    { keyDigest: NO_KEY },
    { ...snapshot, isTaken: false },
  );
  return { realm, userId, email };
}
