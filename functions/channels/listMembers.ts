import { listChannelMembers } from '../../shared/endpoints/channels.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessMetadata, loadChannel } from '../../shared/model/channel/access.ts';
import { loadSubscriberIds } from '../../shared/model/subscription/object.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listChannelMembers, {
  load: async ({ input: { stream_id: channelId }, outside: { table }, realm, userId }) => {
    const [seen, subscribers] = await Promise.all([
      loadChannel(table, realm, channelId, userId),
      isId(channelId) ? loadSubscriberIds(table, realm, channelId) : [],
    ]);
    return { seen, subscribers };
  },
  run: ({ caller }, { seen, subscribers }) => {
    accessMetadata(caller.standing, seen);
    return { subscribers };
  },
});
