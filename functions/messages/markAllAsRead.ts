import { sqsQueues } from '../../shared/adapters/queues.ts';
import { fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { markRead, newestUnread, withAllReadEvent } from '../../shared/domain/flags/narrow-marking.ts';
import { markAllAsRead } from '../../shared/endpoints/flags.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  markAllAsRead,
  {
    parse: () => newestUnread(),
    keys: fetchLookupKeys,
    load: (request) => openFetch(request, request.input, request.input.window),
    reserve: 1,
    run: async (request, fetch) => {
      const { found } = await markRead(request, fetch, ({ found: { found_oldest: isAll }, changes }) =>
        isAll ? withAllReadEvent(changes, request.userId) : changes,
      );
      return { complete: found.found_oldest };
    },
  },
  { queues: sqsQueues },
);
