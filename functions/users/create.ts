import { addPerson, loadNewcomerSnapshot, type NewCredential } from '../../shared/domain/account/create.ts';
import { newPassword } from '../../shared/domain/account/password.ts';
import { checkNewRole } from '../../shared/domain/account/role.ts';
import { createUser } from '../../shared/endpoints/users.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { digestOf } from '../../shared/kernel/text.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { newApiKey } from '../../shared/model/user/caller.ts';
import { checkEmail, checkFullName } from '../../shared/model/user/name.ts';
import { serve } from '../../shared/serve/serve.ts';

/** The account, its groups, its subscriptions, and the news of them in a few default channels. */
const EVENTS = 8;

const accountOf = (email: string): LookupKey<'account'> => ({ kind: 'account', email });

export const handler = serve(createUser, {
  parse: ({ email, full_name: name, role = roles.member, password }) => ({
    email: checkEmail(email),
    fullName: checkFullName(name),
    role,
    password,
  }),
  keys: ({ email }) => [accountOf(email)],
  load: ({ outside: { table }, realm }) => loadNewcomerSnapshot(table, realm),
  reserve: EVENTS,
  run: async ({ input: { password, ...input }, caller, commit, resolved, outside }, snapshot) => {
    const person = { ...input, role: checkNewRole(caller, input.role) };
    const isTaken = resolved.follow(accountOf(input.email)) !== undefined;
    const add = (credential: NewCredential): Promise<number> =>
      addPerson(outside, caller, commit, person, credential, { ...snapshot, isTaken });
    if (password !== undefined) {
      const about = [input.email, input.fullName];
      return { user_id: await add({ password: await newPassword(outside, password, about) }) };
    }
    const apiKey = newApiKey(outside);
    return { user_id: await add({ keyDigest: digestOf(apiKey) }), api_key: apiKey };
  },
});
