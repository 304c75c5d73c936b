import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { accessWith, checkTerms, fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { markNarrow, parseNarrowWindow, withEvent } from '../../shared/domain/flags/narrow-marking.ts';
import { updateFlagsForNarrow } from '../../shared/endpoints/flags.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  updateFlagsForNarrow,
  {
    parse: (given) => parseNarrowWindow(given),
    keys: fetchLookupKeys,
    load: (request) => {
      const { input } = request;
      return openFetch(request, input, input.window, input.flag === 'read');
    },
    reserve: 1,
    run: async (request, opened) => {
      const { input, outside, caller, userId } = request;
      const fetch = await accessWith(request, opened, (narrow) =>
        openFetch(request, narrow, input.window, input.flag === 'read'),
      );
      await checkTerms(outside, caller, fetch);
      const { found, ids, ignoredChannels } = await markNarrow(request, fetch, input, ({ changes }) =>
        withEvent(changes, userId, input),
      );
      const { heads, found_oldest, found_newest } = found;
      return {
        processed_count: heads.length,
        updated_count: ids.length,
        first_processed_id: heads[0]?.id ?? null,
        last_processed_id: heads.at(-1)?.id ?? null,
        found_oldest,
        found_newest,
        ignored_because_not_subscribed_channels: [...ignoredChannels],
      };
    },
  },
  { objects: s3Objects, queues: sqsQueues },
);
