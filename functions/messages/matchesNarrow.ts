import { matchesReply } from '../../shared/domain/fetch/by-ids.ts';
import { checkTerms, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { checkNarrowOfMessages } from '../../shared/domain/fetch/narrow.ts';
import { narrowLookupKeys } from '../../shared/domain/fetch/narrow-names.ts';
import { idsWindow } from '../../shared/domain/fetch/window.ts';
import { matchesNarrow } from '../../shared/endpoints/messages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(matchesNarrow, {
  parse: ({ msg_ids, narrow }) => ({
    terms: checkNarrowOfMessages(narrow ?? []),
    window: idsWindow(msg_ids),
  }),
  keys: ({ terms }) => narrowLookupKeys(terms),
  load: (request) => openFetch(request, request.input, request.input.window),
  run: async ({ input, outside, caller }, fetch) => {
    await checkTerms(outside, caller, fetch);
    return matchesReply(caller, fetch, input.window);
  },
});
