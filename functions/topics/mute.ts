import { muteTopic } from '../../shared/endpoints/topics.ts';
import { badRequest, refusal } from '../../shared/kernel/errors.ts';
import { folded } from '../../shared/kernel/folding.ts';
import { isId, type LookupKey } from '../../shared/kernel/lookup.ts';
import { loadChannel } from '../../shared/model/channel/access.ts';
import { checkChannelName } from '../../shared/model/channel/channel.ts';
import { checkTopicName } from '../../shared/model/message/message.ts';
import { accessUserTopic, doSetVisibility, visibility } from '../../shared/model/message/user-topic.ts';
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
  load: async ({ input: { id, name, topic }, resolved, outside: { table }, realm, userId }) => {
    const channelId = name === undefined ? id : resolved.follow(nameKey(name))?.channelId;
    if (channelId === undefined || !isId(channelId)) return {};
    const [seen, stored] = await Promise.all([
      loadChannel(table, realm, channelId, userId),
      table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
    ]);
    return { channelId, seen, stored };
  },
  reserve: 1,
  run: async ({ caller, commit, input, outside, realm, userId }, { channelId = 0, seen, stored }) => {
    const { topic, policy } = input;
    accessUserTopic(caller.standing, seen, stored, policy);
    if (policy === (stored?.policy ?? visibility.inherit)) return {};
    const updated = Math.floor(outside.now() / 1000);
    await commit(1, () => ({
      ...doSetVisibility(realm, userId, { channelId, topic, policy, updated }, stored),
      result: undefined,
    }));
    return {};
  },
});
