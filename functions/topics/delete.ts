import { deleteTopic, loadTopicSnapshot } from '../../shared/domain/edit/topic.ts';
import { checkChangeable } from '../../shared/domain/reader/target.ts';
import { deleteTopic as declaration } from '../../shared/endpoints/topics.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { accessContent, loadChannel } from '../../shared/model/channel/access.ts';
import { checkTopicName } from '../../shared/model/message/message.ts';
import { serve } from '../../shared/serve/serve.ts';

const nothing = { page: { messages: [], below: 0 }, policies: [] };

export const handler = serve(declaration, {
  parse: ({ stream_id: channelId, topic_name: name }) => ({ channelId, topic: checkTopicName(name) }),
  load: async ({ input, outside, realm, userId }) => {
    const [seen, snapshot] = await Promise.all([
      loadChannel(outside.table, realm, input.channelId, userId),
      isId(input.channelId) ? loadTopicSnapshot(outside, realm, input) : nothing,
    ]);
    return { seen, snapshot };
  },
  run: async ({ input, caller, outside, commit }, { seen, snapshot }) => {
    const channel = accessContent(caller.standing, seen);
    checkChangeable({ seen: channel });
    return { complete: await deleteTopic(outside, caller, commit, channel, input, snapshot) };
  },
});
