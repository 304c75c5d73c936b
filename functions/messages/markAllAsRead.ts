import { sqsQueues } from '../../shared/adapters/queues.ts';
import { fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import {
  commitMarkings,
  newestUnread,
  planNarrowMarking,
  withAllReadEvent,
} from '../../shared/domain/flags/narrow-marking.ts';
import { wakePush } from '../../shared/domain/push/wake-up.ts';
import { markAllAsRead } from '../../shared/endpoints/flags.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  markAllAsRead,
  {
    parse: () => newestUnread(),
    keys: fetchLookupKeys,
    load: (request) => openFetch(request, request.input.terms, request.input.window),
    reserve: 1,
    run: async ({ input, outside, caller, userId, commit, clients }, fetch) => {
      const marking = { op: 'add', flag: 'read' } as const;
      const { found, changes } = await planNarrowMarking(outside, caller, fetch, input.window, marking);
      const complete = found.found_oldest;
      await commitMarkings(outside, fetch, commit, complete ? withAllReadEvent(changes, userId) : changes);
      await wakePush({ outside, caller, clients });
      return { complete };
    },
  },
  { queues: sqsQueues },
);
