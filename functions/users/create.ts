import { roles } from '../../shared/domain/group/system-group.ts';
import type { Pointer } from '../../shared/domain/pointer.ts';
import { badRequest } from '../../shared/domain/problems.ts';
import { checkAddressAllowed, checkSameDomains, loadDomains } from '../../shared/domain/realm/domains.ts';
import { loadChannels } from '../../shared/domain/subscription/subscription-object.ts';
import { digestOf, newApiKey } from '../../shared/domain/user/api-key.ts';
import { checkNewRole } from '../../shared/domain/user/role-change.ts';
import { addUser, defaultChannels } from '../../shared/domain/user/user-add.ts';
import { checkEmail, checkFullName } from '../../shared/domain/user/user-text.ts';
import { createUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

/** The account, its groups, its subscriptions, and the news of them in a few default channels. */
const EVENTS = 8;

const account = (email: string): Pointer => ({ kind: 'account', email: checkEmail(email) });

export const handler = serve(createUser, {
  pointers: ({ email }) => [account(email)],
  load: async ({ outside: { table }, realm }) => {
    const [channels, domains] = await Promise.all([loadChannels(table, realm), loadDomains(table, realm)]);
    return { channels, domains };
  },
  ahead: EVENTS,
  run: async ({ input, caller, realm, commit, known, outside }, { channels, domains }) => {
    const email = checkEmail(input.email);
    const fullName = checkFullName(input.full_name);
    const role = checkNewRole(caller, input.role ?? roles.member);
    checkAddressAllowed(email, caller.realm, domains);
    if (known.follow(account(email))) {
      throw badRequest(`There is already an account with the address '${email}'.`);
    }
    const apiKey = newApiKey(outside);
    const dateJoined = new Date(outside.now()).toISOString();
    const user = { email, fullName, role, isBot: false, dateJoined, timezone: '' };
    const ground = caller.realm.settings.emails_restricted_to_domains
      ? [checkSameDomains(realm, domains)]
      : [];
    const defaults = defaultChannels(channels);
    const userId = await addUser(caller, commit, user, digestOf(apiKey), defaults, ground);
    return { user_id: userId, api_key: apiKey };
  },
});
