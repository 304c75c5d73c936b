import { accessMetadata, isId, loadChannel } from '../../shared/domain/channel/channel-access.ts';
import { channelObject } from '../../shared/domain/channel/channel-object.ts';
import { loadSomeChannels } from '../../shared/domain/subscription/subscription-object.ts';
import { getChannel } from '../../shared/endpoints/channels.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getChannel, {
  load: async ({ input: { stream_id: channelId }, outside: { table }, realm, userId }) => {
    const [seen, counted] = await Promise.all([
      loadChannel(table, realm, channelId, userId),
      isId(channelId) ? loadSomeChannels(table, realm, [channelId]) : [],
    ]);
    return { seen, count: counted[0]?.count };
  },
  run: ({ caller, outside }, { seen, count }) => {
    const { channel } = accessMetadata(caller.standing, seen);
    return { stream: channelObject(channel, count, outside.now()) };
  },
});
