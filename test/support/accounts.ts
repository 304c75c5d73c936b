import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as reactivate } from '../../functions/users/reactivate.ts';
import { handler as update } from '../../functions/users/update.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/*
 * What tests of accounts do again and again.
 */

/** Status and code: which answer it is, without its words. */
export const answer = ({ status, body }: Reply) => [status, body.code];

/** Deactivates a user. */
export const out = (realm: TestRealm, as: Person, { userId }: Pick<Person, 'userId'>): Promise<Reply> =>
  realm.call(deactivate, as, {}, { path: { user: userId } });

/** Reactivates a user. */
export const back = (realm: TestRealm, as: Person, { userId }: Pick<Person, 'userId'>): Promise<Reply> =>
  realm.call(reactivate, as, {}, { path: { user: userId } });

/** Changes an account, as an administrator does. */
export const change = (
  realm: TestRealm,
  as: Person,
  { userId }: Pick<Person, 'userId'>,
  parameters: Record<string, unknown>,
): Promise<Reply> => realm.call(update, as, parameters, { path: { user: userId } });

/** Whether the key of this account is good. */
export const mayCall = async (realm: TestRealm, person: Person): Promise<boolean> =>
  (await realm.call(getOwn, person)).status === 200;

/** The account with the key that a reply tells. */
export const withKey = (person: Person, { body }: Reply): Person => ({ ...person, apiKey: body.api_key });

/** The account of a reply, ready to call. */
export const personIn = ({ body }: Reply, email: string): Person => ({
  email,
  apiKey: body.api_key,
  userId: body.user_id,
});

/** How many owners the organization counts. */
export async function ownersOf({ realm, outside }: TestRealm): Promise<number> {
  const stored = await outside.table.get('owners', { realm });
  return stored?.count ?? 0;
}
