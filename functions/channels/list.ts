import { selectChannels } from '../../shared/domain/channel/channel-list.ts';
import { channelObject } from '../../shared/domain/channel/channel-object.ts';
import { FirstMessages } from '../../shared/domain/channel/first-messages.ts';
import { loadChannels, loadCurrent } from '../../shared/domain/subscription/subscription-object.ts';
import { listChannels } from '../../shared/endpoints/channels.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listChannels, {
  load: async ({ outside: { table }, realm, userId, ownerId, input }) => {
    const asksOwner = input.include_owner_subscribed === true && ownerId !== undefined;
    const [channels, own, owners] = await Promise.all([
      loadChannels(table, realm),
      loadCurrent(table, realm, userId),
      asksOwner ? loadCurrent(table, realm, ownerId) : [],
    ]);
    return { channels, own, owners };
  },
  run: async ({ caller, outside, realm, input }, { channels, own, owners }) => ({
    streams: await new FirstMessages(outside, realm).tellIn(
      selectChannels(caller, input, channels, own, owners).map(({ channel, count }) => ({
        ...channelObject(channel, count, outside.now()),
        ...(input.include_default && { is_default: channel.isDefault }),
      })),
    ),
  }),
});
