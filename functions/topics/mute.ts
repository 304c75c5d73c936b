import { muteTopic } from '../../shared/endpoints/topics.ts';
import { badRequest, refusal } from '../../shared/kernel/errors.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { checkChannelName } from '../../shared/model/channel/channel.ts';
import { checkTopicName } from '../../shared/model/message/message.ts';
import { changeVisibility, loadUserTopic, visibility } from '../../shared/model/message/user-topic.ts';
import { serve } from '../../shared/serve/serve.ts';

const nameKey = (name: string): LookupKey<'channelName'> => ({ kind: 'channelName', name });

export const handler = serve(muteTopic, {
  parse: ({ topic, op, stream_id: id, stream }) => {
    if (id !== undefined && stream !== undefined)
      throw refusal('incompatibleParameters', { parameters: ['stream_id', 'stream'] });
    if (id === undefined && stream === undefined) throw badRequest("Send 'stream_id' or 'stream'.");
    return {
      id,
      name: stream === undefined ? undefined : checkChannelName(stream),
      topic: checkTopicName(topic),
      policy: op === 'add' ? visibility.muted : visibility.inherit,
    };
  },
  keys: ({ name }) => (name === undefined ? [] : [nameKey(name)]),
  load: async ({ input: { id, name, topic }, resolved, outside, realm, userId }) => {
    const channelId = name === undefined ? id : resolved.follow(nameKey(name))?.channelId;
    return { channelId, loaded: await loadUserTopic(outside.table, realm, userId, { channelId, topic }) };
  },
  reserve: 1,
  run: async (request, { channelId = 0, loaded }) => {
    const { topic, policy } = request.input;
    await changeVisibility(request, { channelId, topic, policy }, loaded);
    return {};
  },
});
