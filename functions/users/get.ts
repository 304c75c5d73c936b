import { loadProfiles } from '../../shared/domain/profile/value.ts';
import { getUser } from '../../shared/endpoints/users.ts';
import { accessUser } from '../../shared/model/subscription/user-access.ts';
import { userObject } from '../../shared/model/user/object.ts';
import { userIdOf, userLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getUser, {
  keys: (input) => userLookupKeys(input.user),
  load: async ({ input, resolved, outside, realm }) => {
    const userId = userIdOf(input.user, resolved);
    if (userId === undefined) return {};
    const [user, profile] = await Promise.all([
      outside.table.get('user', { realm, userId }),
      input.include_custom_profile_fields ? loadProfiles(outside, realm, [userId]) : undefined,
    ]);
    return { user, profile };
  },
  run: async ({ input, caller, outside }, { user: found, profile }) => {
    const user = await accessUser(outside, caller, found);
    return { user: userObject(user, { clientGravatar: input.client_gravatar ?? true, profile }) };
  },
});
