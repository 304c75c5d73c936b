import { listTopics, loadTopics } from '../../shared/domain/reader/topic-list.ts';
import { listTopics as listTopicsEndpoint } from '../../shared/endpoints/topics.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessContent, loadChannel } from '../../shared/model/channel/access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listTopicsEndpoint, {
  load: async ({ input: { stream_id: channelId }, outside: { table }, realm, userId }) => {
    const [seen, topics] = await Promise.all([
      loadChannel(table, realm, channelId, userId),
      isId(channelId) ? loadTopics(table, realm, channelId) : [],
    ]);
    return { seen, topics };
  },
  run: ({ caller, input }, { seen, topics }) => {
    const readable = accessContent(caller.standing, seen);
    return { topics: listTopics(caller.standing, readable, topics, input.allow_empty_topic_name ?? false) };
  },
});
