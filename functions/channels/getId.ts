import { getChannelId } from '../../shared/endpoints/channels.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { hasMetadataAccess, loadChannel } from '../../shared/model/channel/access.ts';
import { checkChannelName } from '../../shared/model/channel/channel.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getChannelId, {
  parse: ({ stream }): LookupKey<'channelName'> => ({ kind: 'channelName', name: checkChannelName(stream) }),
  keys: (channel) => [channel],
  load: async ({ input, resolved, outside, realm, userId }) => {
    const channelId = resolved.follow(input)?.channelId;
    return channelId === undefined ? undefined : loadChannel(outside.table, realm, channelId, userId);
  },
  run: ({ caller, input }, seen) => {
    if (seen === undefined || !hasMetadataAccess(caller.standing, seen)) {
      throw badRequest(`Invalid channel name '${input.name}'.`);
    }
    return { stream_id: seen.channel.channelId };
  },
});
