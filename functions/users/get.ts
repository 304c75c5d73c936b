import type { User } from '../../shared/domain/user/user.ts';
import { hiddenUsers } from '../../shared/domain/user/user-access.ts';
import { noSuchUser, userIdOf, userPointers } from '../../shared/domain/user/user-list.ts';
import { userObject } from '../../shared/domain/user/user-object.ts';
import { getUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';

export const handler = serve(getUser, {
  pointers: (input) => userPointers(input.user),
  load: async ({ input, known, outside, realm }) => {
    const userId = userIdOf(input.user, known);
    return userId === undefined ? undefined : outside.table.get<User>(key('user', { realm, userId }));
  },
  run: async ({ input, caller, outside }, user) => {
    if (user === undefined) throw noSuchUser();
    const hidden = await hiddenUsers(outside, caller, [user]);
    if (hidden.has(user.userId)) throw noSuchUser();
    const telling = {
      clientGravatar: input.client_gravatar ?? true,
      profileData: input.include_custom_profile_fields ?? false,
    };
    return { user: userObject(user, telling) };
  },
});
