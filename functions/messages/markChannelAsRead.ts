import { sqsQueues } from '../../shared/adapters/queues.ts';
import { fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { commitMarkings, newestUnread, planNarrowMarking } from '../../shared/domain/flags/narrow-marking.ts';
import { wakePush } from '../../shared/domain/push/wake-up.ts';
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
    load: (request) => openFetch(request, request.input.terms, request.input.window),
    reserve: 1,
    run: async ({ input, outside, caller, commit, clients }, fetch) => {
      accessContent(caller.standing, await fetch.reader.channel(input.channelId));
      const marking = { op: 'add', flag: 'read' } as const;
      const { changes } = await planNarrowMarking(outside, caller, fetch, input.window, marking);
      await commitMarkings(outside, fetch, commit, changes);
      await wakePush({ outside, caller, clients });
      return {};
    },
  },
  { queues: sqsQueues },
);
