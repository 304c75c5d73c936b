import { setTopicVisibility } from '../../shared/endpoints/topics.ts';
import { folded } from '../../shared/kernel/folding.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { loadChannel } from '../../shared/model/channel/access.ts';
import { checkTopicName } from '../../shared/model/message/message.ts';
import { accessUserTopic, doSetVisibility, visibility } from '../../shared/model/message/user-topic.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(setTopicVisibility, {
  parse: (input) => ({
    channelId: input.stream_id,
    topic: checkTopicName(input.topic),
    policy: input.visibility_policy,
  }),
  load: async ({ input: { channelId, ...input }, outside: { table }, realm, userId }) => {
    if (!isId(channelId)) return { seen: undefined, stored: undefined };
    const topic = folded(input.topic);
    const [seen, stored] = await Promise.all([
      loadChannel(table, realm, channelId, userId),
      table.get('userTopic', { realm, userId, channelId, topic }),
    ]);
    return { seen, stored };
  },
  reserve: 1,
  run: async ({ caller, commit, input, outside, realm, userId }, { seen, stored }) => {
    const { policy } = input;
    accessUserTopic(caller.standing, seen, stored, policy);
    if (policy === (stored?.policy ?? visibility.inherit)) return {};
    const updated = Math.floor(outside.now() / 1000);
    await commit(1, () => ({
      ...doSetVisibility(realm, userId, { ...input, updated }, stored),
      result: undefined,
    }));
    return {};
  },
});
