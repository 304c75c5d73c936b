import { loadAcquaintances } from '../../shared/domain/user/acquaintances.ts';
import { isSystemBot } from '../../shared/domain/user/user.ts';
import { seesEveryone } from '../../shared/domain/user/user-access.ts';
import { loadUsersById } from '../../shared/domain/user/user-list.ts';
import { userObject } from '../../shared/domain/user/user-object.ts';
import { listUsers } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listUsers, {
  load: ({ input, outside, realm }) => loadUsersById(outside.table, realm, input.user_ids),
  run: async ({ input, caller, outside, realm, userId }, users) => {
    const known = seesEveryone(caller) ? undefined : await loadAcquaintances(outside.table, realm, userId);
    const telling = {
      clientGravatar: input.client_gravatar ?? true,
      profileData: input.include_custom_profile_fields ?? false,
    };
    const members = users.filter(
      (user) => !isSystemBot(user) && (known === undefined || user.isBot || known.has(user.userId)),
    );
    return { members: members.map((user) => userObject(user, telling)) };
  },
});
