import { FirstMessages } from '../../shared/domain/reader/first-messages.ts';
import { getChannel } from '../../shared/endpoints/channels.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessMetadata, loadChannel } from '../../shared/model/channel/access.ts';
import { channelObject } from '../../shared/model/channel/object.ts';
import { loadSomeChannels } from '../../shared/model/subscription/object.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getChannel, {
  load: async ({ input: { stream_id: channelId }, outside: { table }, realm, userId }) => {
    const [seen, counted] = await Promise.all([
      loadChannel(table, realm, channelId, userId),
      isId(channelId) ? loadSomeChannels(table, realm, [channelId]) : [],
    ]);
    return { seen, count: counted[0]?.count };
  },
  run: async ({ caller, outside, realm }, { seen, count }) => {
    const { channel } = accessMetadata(caller.standing, seen);
    const firsts = new FirstMessages(outside, realm);
    return { stream: await firsts.complete(channelObject(channel, count, outside.now())) };
  },
});
