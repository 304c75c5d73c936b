import { listUserChannels } from '../../shared/endpoints/users.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { hasMetadataAccess, loadChannel } from '../../shared/model/channel/access.ts';
import { loadCurrent } from '../../shared/model/subscription/object.ts';
import { accessUser } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listUserChannels, {
  load: async ({ input: { user: userId }, outside: { table }, realm, userId: callerId }) => {
    if (!isId(userId)) return { user: undefined, channels: [] };
    const [user, subscriptions] = await Promise.all([
      table.get('user', { realm, userId }),
      loadCurrent(table, realm, userId),
    ]);
    const channels = await Promise.all(
      subscriptions.map(({ channelId }) => loadChannel(table, realm, channelId, callerId)),
    );
    return { user, channels };
  },
  run: async ({ caller, outside }, { user, channels }) => {
    await accessUser(outside, caller, user);
    const visible = channels.filter((seen) => seen !== undefined && hasMetadataAccess(caller.standing, seen));
    return { subscribed_channel_ids: visible.flatMap((seen) => seen?.channel.channelId ?? []) };
  },
});
