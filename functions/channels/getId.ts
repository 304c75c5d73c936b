import { getChannelId } from '../../shared/endpoints/channels.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { hasMetadataAccess, loadChannel } from '../../shared/model/channel/access.ts';
import { checkChannelName } from '../../shared/model/channel/channel.ts';
import { serve } from '../../shared/serve/serve.ts';

const pointer = (stream: string): LookupKey<'channelName'> => ({
  kind: 'channelName',
  name: checkChannelName(stream),
});

export const handler = serve(getChannelId, {
  keys: ({ stream }) => [pointer(stream)],
  load: async ({ input, resolved, outside, realm, userId }) => {
    const channelId = resolved.follow(pointer(input.stream))?.channelId;
    return channelId === undefined ? undefined : loadChannel(outside.table, realm, channelId, userId);
  },
  run: ({ caller, input }, seen) => {
    if (seen === undefined || !hasMetadataAccess(caller.standing, seen)) {
      throw badRequest(`Invalid channel name '${checkChannelName(input.stream)}'.`);
    }
    return { stream_id: seen.channel.channelId };
  },
});
