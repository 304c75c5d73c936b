import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { byIdsReply } from '../../shared/domain/fetch/by-ids.ts';
import {
  accessWith,
  checkTerms,
  fetchLookupKeys,
  openFetch,
  parseFetch,
} from '../../shared/domain/fetch/fetch.ts';
import { windowReply } from '../../shared/domain/fetch/reply.ts';
import { listMessages } from '../../shared/endpoints/messages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  listMessages,
  {
    parse: parseFetch,
    keys: fetchLookupKeys,
    load: (request) => openFetch(request, request.input, request.input.window),
    run: async (request, opened) => {
      const { input, outside, caller } = request;
      const { window, options } = input;
      const fetch = await accessWith(request, opened, (narrow) => openFetch(request, narrow, window));
      // The check runs in parallel with the search. If it refuses, the result is thrown away.
      const [checked, reply] = await Promise.allSettled([
        checkTerms(outside, caller, fetch),
        'ids' in window
          ? byIdsReply(outside, caller, fetch, window, options)
          : windowReply(outside, caller, fetch, window, options),
      ]);
      if (checked.status === 'rejected') throw checked.reason;
      if (reply.status === 'rejected') throw reply.reason;
      return reply.value;
    },
  },
  { objects: s3Objects, queues: sqsQueues },
);
