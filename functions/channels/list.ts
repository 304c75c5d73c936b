import { FirstMessages } from '../../shared/domain/reader/first-messages.ts';
import { listChannels } from '../../shared/endpoints/channels.ts';
import { loadList } from '../../shared/kernel/list-cache.ts';
import { channelObject } from '../../shared/model/channel/object.ts';
import { loadChannels, loadCurrent, selectChannels } from '../../shared/model/subscription/object.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listChannels, {
  load: async ({ outside, realm, userId, ownerId, input }) => {
    const { table } = outside;
    const asksOwner = input.include_owner_subscribed === true && ownerId !== undefined;
    const [channels, own, owners] = await Promise.all([
      loadChannels(table, realm, loadList(outside, 'channel', realm)),
      loadCurrent(table, realm, userId),
      asksOwner ? loadCurrent(table, realm, ownerId) : [],
    ]);
    return { channels, own, owners };
  },
  run: async ({ caller, outside, realm, input }, { channels, own, owners }) => ({
    streams: await new FirstMessages(outside, realm).completeAll(
      selectChannels(caller, input, channels, own, owners).map(({ channel, count }) => ({
        ...channelObject(channel, count, outside.now()),
        ...(input.include_default && { is_default: channel.isDefault }),
      })),
    ),
  }),
});
