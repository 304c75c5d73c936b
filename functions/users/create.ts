import { addPerson, loadNewcomerSnapshot } from '../../shared/domain/account/create.ts';
import { checkNewRole } from '../../shared/domain/account/role.ts';
import { createUser } from '../../shared/endpoints/users.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { checkEmail, checkFullName } from '../../shared/model/user/name.ts';
import { serve } from '../../shared/serve/serve.ts';

/** The account, its groups, its subscriptions, and the news of them in a few default channels. */
const EVENTS = 8;

const accountOf = (email: string): LookupKey<'account'> => ({ kind: 'account', email });

export const handler = serve(createUser, {
  parse: ({ email, full_name: name, role = roles.member }) => ({
    email: checkEmail(email),
    fullName: checkFullName(name),
    role,
  }),
  keys: ({ email }) => [accountOf(email)],
  load: ({ outside: { table }, realm }) => loadNewcomerSnapshot(table, realm),
  reserve: EVENTS,
  run: async ({ input, caller, commit, resolved, outside }, snapshot) => {
    const person = { ...input, role: checkNewRole(caller, input.role) };
    const isTaken = resolved.follow(accountOf(input.email)) !== undefined;
    const { userId, apiKey } = await addPerson(outside, caller, commit, person, { ...snapshot, isTaken });
    return { user_id: userId, api_key: apiKey };
  },
});
