import { presenceObject, singlePresenceObject, withActiveTime } from '../../shared/domain/presence/object.ts';
import { loadPresence, seconds } from '../../shared/domain/presence/presence.ts';
import { getPresence } from '../../shared/endpoints/presence.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { accessUser } from '../../shared/model/subscription/user-access.ts';
import { noSuchUser, userIdOf, userLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getPresence, {
  keys: (input) => userLookupKeys(input.user),
  load: async ({ input, resolved, outside: { table, now }, realm }) => {
    const userId = userIdOf(input.user, resolved);
    if (userId === undefined) return undefined;
    const [user, { last }] = await Promise.all([
      table.get('user', { realm, userId }),
      loadPresence(table, realm, userId, seconds(now())),
    ]);
    return { user, last };
  },
  run: async ({ input, caller, outside }, loaded) => {
    const { user, last } = loaded ?? {};
    if (!user?.isActive) throw noSuchUser();
    await accessUser(outside, caller, user);
    if (user.isBot) throw badRequest('Bots have no presence.');
    if (last === undefined || caller.realm.settings.presence_disabled) {
      throw badRequest(`Nothing is known of the presence of ${user.fullName}.`);
    }
    const now = seconds(outside.now());
    const shown = withActiveTime(last, user);
    return {
      presence: { ...(!input.slim_presence && singlePresenceObject(shown, now)), ...presenceObject(shown) },
      server_timestamp: outside.now() / 1000,
    };
  },
});
