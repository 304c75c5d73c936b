import { statusObject } from '../../shared/domain/presence/status.ts';
import { getUserStatus } from '../../shared/endpoints/users.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessUser } from '../../shared/model/subscription/user-access.ts';
import { noSuchUser } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getUserStatus, {
  load: async ({ input, outside: { table }, realm }) => {
    const { user: userId } = input;
    if (!isId(userId)) return undefined;
    const [user, status] = await Promise.all([
      table.get('user', { realm, userId }),
      table.get('userStatus', { realm, userId }),
    ]);
    return { user, status };
  },
  run: async ({ caller, outside }, loaded) => {
    const { user, status } = loaded ?? {};
    // A bot says nothing of itself.
    if (!user?.isActive || user.isBot) throw noSuchUser();
    await accessUser(outside, caller, user);
    return { status: statusObject(status) };
  },
});
