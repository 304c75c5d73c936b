import { setTopicVisibility } from '../../shared/endpoints/topics.ts';
import { checkTopicName } from '../../shared/model/message/message.ts';
import { changeVisibility, loadUserTopic } from '../../shared/model/message/user-topic.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(setTopicVisibility, {
  parse: (input) => ({
    channelId: input.stream_id,
    topic: checkTopicName(input.topic),
    policy: input.visibility_policy,
  }),
  load: ({ input, outside, realm, userId }) => loadUserTopic(outside.table, realm, userId, input),
  reserve: 1,
  run: async (request, loaded) => {
    await changeVisibility(request, request.input, loaded);
    return {};
  },
});
