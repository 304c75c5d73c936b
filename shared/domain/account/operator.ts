import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf, folded } from '../../kernel/text.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { ConflictError, retryOnConflict } from '../../log/commit.ts';
import type { Role } from '../../model/permission/permission.ts';
import { type Account, NO_KEY, newApiKey } from '../../model/user/caller.ts';
import { checkEmail, checkFullName } from '../../model/user/name.ts';
import { isSystemBot, type User } from '../../model/user/user.ts';
import { resetKeys } from './api-key.ts';
import { addPerson, loadNewcomerSnapshot } from './create.ts';

/* Commands of the operator, who is authorized by having access to the table. */

/** An account with its new key, which is shown once. */
export interface KeyedAccount {
  /** As stored. */
  readonly email: string;
  readonly apiKey: string;
  readonly userId: number;
}

/**
 * Adds a person like `POST /users`, with the same checks, except that the operator may add owners.
 *
 * @param isKeyless the key in the result is not stored: they get in by a link for their first password
 */
export async function addPersonAsOperator(
  outside: Outside,
  realmId: string,
  given: { readonly email: string; readonly fullName: string; readonly role: Role },
  isKeyless = false,
): Promise<KeyedAccount> {
  const { table } = outside;
  const person = { ...given, email: checkEmail(given.email), fullName: checkFullName(given.fullName) };
  return retryOnConflict(outside, async () => {
    const [stored, account, snapshot] = await Promise.all([
      table.get('realm', { realm: realmId }),
      table.get('account', { realm: realmId, email: folded(person.email) }),
      loadNewcomerSnapshot(table, realmId),
    ]);
    if (stored === undefined || stored.deactivated) throw badRequest('This organization is out of service.');
    const organization = { realmId, realm: stored };
    const isTaken = account !== undefined;
    const apiKey = newApiKey(outside);
    const userId = await addPerson(
      outside,
      organization,
      commitTo(outside, realmId),
      person,
      { keyDigest: isKeyless ? NO_KEY : digestOf(apiKey) },
      { ...snapshot, isTaken },
    );
    return { email: person.email, apiKey, userId };
  });
}

/**
 * Finds an active account by its address.
 *
 * @throws Refusal `BAD_REQUEST` for an address without an active account, and for the notification bot
 */
export async function accessAccountAsOperator(
  { table }: Pick<Outside, 'table'>,
  realm: string,
  given: string,
): Promise<{ readonly account: Account; readonly user: User }> {
  const address = checkEmail(given);
  const account = await table.get('account', { realm, email: folded(address) });
  const user = account && (await table.get('user', { realm, userId: account.userId }));
  if (account === undefined || user === undefined) {
    throw badRequest(`There is no account with the address '${address}' in this organization.`);
  }
  if (isSystemBot(user)) throw badRequest('The bot of the service itself cannot sign in.');
  if (!user.isActive) throw badRequest(`The account '${address}' is deactivated.`);
  return { account, user };
}

/** Gives an active account a new key; all older ones stop working at once. Of two concurrent calls one is refused. */
export async function renewKeyAsOperator(
  outside: Outside,
  realm: string,
  given: string,
): Promise<KeyedAccount> {
  const { account, user } = await accessAccountAsOperator(outside, realm, given);
  try {
    const { email } = user;
    const apiKey = await resetKeys(outside, commitTo(outside, realm), { realm, email, account });
    return { email, apiKey, userId: user.userId };
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw badRequest(`The key of '${user.email}' was changed at the same moment: try again.`);
  }
}
