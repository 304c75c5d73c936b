import { sqsQueues } from '../../shared/adapters/queues.ts';
import { fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { markRead, newestUnread } from '../../shared/domain/flags/narrow-marking.ts';
import { markTopicAsRead } from '../../shared/endpoints/flags.ts';
import { badRequest, refusal } from '../../shared/kernel/errors.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { folded } from '../../shared/kernel/text.ts';
import { accessContent, mayReadMessage } from '../../shared/model/channel/access.ts';
import { checkTopicName } from '../../shared/model/message/message.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  markTopicAsRead,
  {
    parse: ({ stream_id: channelId, topic_name: name }) => {
      if (!isId(channelId)) throw refusal('invalidChannelId');
      const topic = checkTopicName(name);
      const channel = { kind: 'channel', channel: channelId, negated: false } as const;
      return { channelId, topic, ...newestUnread(channel, { kind: 'topic', topic, negated: false }) };
    },
    keys: fetchLookupKeys,
    load: async (request) => {
      const { input, outside, realm } = request;
      const { channelId, topic } = input;
      const [fetch, stored] = await Promise.all([
        openFetch(request, input, input.window),
        outside.table.get('topic', { realm, channelId, topic: folded(topic) }),
      ]);
      return { fetch, stored };
    },
    reserve: 1,
    run: async (request, { fetch, stored }) => {
      const { input, caller } = request;
      const { standing } = caller;
      const seen = accessContent(standing, await fetch.reader.channel(input.channelId));
      const hasMessages = stored !== undefined && mayReadMessage(standing, seen, stored.maxId);
      if (input.topic !== '' && !hasMessages) throw badRequest('There is no such topic.');
      await markRead(request, fetch);
      return {};
    },
  },
  { queues: sqsQueues },
);
