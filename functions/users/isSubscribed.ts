import { getUserSubscription } from '../../shared/endpoints/users.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessMetadata, loadChannel } from '../../shared/model/channel/access.ts';
import { accessUser } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getUserSubscription, {
  parse: ({ user, stream_id: channelId }) => ({ userId: user, channelId }),
  load: async ({ input, outside: { table }, realm, userId: callerId }) => {
    const { userId, channelId } = input;
    const [user, seen, subscription] = await Promise.all([
      isId(userId) ? table.get('user', { realm, userId }) : undefined,
      loadChannel(table, realm, channelId, callerId),
      isId(userId) && isId(channelId) ? table.get('subscription', { realm, userId, channelId }) : undefined,
    ]);
    return { user, seen, subscription };
  },
  run: async ({ caller, outside }, { user, seen, subscription }) => {
    await accessUser(outside, caller, user);
    accessMetadata(caller.standing, seen);
    return { is_subscribed: subscription !== undefined };
  },
});
