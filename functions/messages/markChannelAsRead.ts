import { sqsQueues } from '../../shared/adapters/queues.ts';
import { fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { markRead, newestUnread } from '../../shared/domain/flags/narrow-marking.ts';
import { markChannelAsRead } from '../../shared/endpoints/flags.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessContent } from '../../shared/model/channel/access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  markChannelAsRead,
  {
    parse: ({ stream_id: channelId }) => {
      if (!isId(channelId)) throw refusal('invalidChannelId');
      return { channelId, ...newestUnread({ kind: 'channel', channel: channelId, negated: false }) };
    },
    keys: fetchLookupKeys,
    load: (request) => openFetch(request, request.input, request.input.window),
    reserve: 1,
    run: async (request, fetch) => {
      const { input, caller } = request;
      accessContent(caller.standing, await fetch.reader.channel(input.channelId));
      await markRead(request, fetch);
      return {};
    },
  },
  { queues: sqsQueues },
);
