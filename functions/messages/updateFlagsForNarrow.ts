import { sqsQueues } from '../../shared/adapters/queues.ts';
import { checkTerms, fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import {
  commitMarkings,
  parseNarrowWindow,
  planNarrowMarking,
  withEvent,
} from '../../shared/domain/flags/narrow-marking.ts';
import { wakePush } from '../../shared/domain/push/wake-up.ts';
import { updateFlagsForNarrow } from '../../shared/endpoints/flags.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  updateFlagsForNarrow,
  {
    parse: (given) => parseNarrowWindow(given),
    keys: fetchLookupKeys,
    load: (request) => {
      const { terms, window, flag } = request.input;
      return openFetch(request, terms, window, flag === 'read');
    },
    reserve: 1,
    run: async ({ input, outside, caller, userId, commit, clients }, fetch) => {
      await checkTerms(outside, caller, fetch);
      const { found, ids, changes, ignoredChannels } = await planNarrowMarking(
        outside,
        caller,
        fetch,
        input.window,
        input,
      );
      await commitMarkings(outside, fetch, commit, withEvent(changes, userId, input));
      // What was read need not be shown on telephones any more.
      if (input.flag === 'read' && input.op === 'add') await wakePush({ outside, caller, clients });
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
  { queues: sqsQueues },
);
