import { loadProfiles } from '../../shared/domain/profile/value.ts';
import { listUsers } from '../../shared/endpoints/users.ts';
import { loadSubscriberIds } from '../../shared/model/subscription/object.ts';
import {
  accessibleUserIds,
  canAccessAllUsers,
  loadSharedSpaces,
} from '../../shared/model/subscription/user-access.ts';
import { userObject } from '../../shared/model/user/object.ts';
import { loadUsersById } from '../../shared/model/user/principals.ts';
import { isSystemBot } from '../../shared/model/user/user.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listUsers, {
  load: async ({ input, outside, realm, userId }) => {
    const [users, profile, places] = await Promise.all([
      loadUsersById(outside, realm, input.user_ids),
      input.include_custom_profile_fields ? loadProfiles(outside, realm, input.user_ids) : undefined,
      // Only guests may need it, but who they are is known too late for another round trip.
      loadSharedSpaces(outside.table, realm, userId),
    ]);
    return { users, profile, places };
  },
  run: async ({ input, caller, outside: { table }, realm, userId }, { users, profile, places }) => {
    const known = canAccessAllUsers(caller)
      ? undefined
      : await accessibleUserIds(places, userId, (channelId) => loadSubscriberIds(table, realm, channelId));
    const telling = { clientGravatar: input.client_gravatar ?? true, profile };
    const members = users.filter(
      (user) => !isSystemBot(user) && (known === undefined || user.isBot || known.has(user.userId)),
    );
    return { members: members.map((user) => userObject(user, telling)) };
  },
});
