import { fetchLookupKeys, parseFetch } from '../../shared/domain/fetch/asked-fetch.ts';

import { beginFetch, checkTerms } from '../../shared/domain/fetch/message-fetch.ts';
import { tellByIds, tellWindow } from '../../shared/domain/fetch/message-reply.ts';
import { listMessages } from '../../shared/endpoints/messages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listMessages, {
  parse: parseFetch,
  keys: fetchLookupKeys,
  load: (request) => beginFetch(request, request.input.terms, request.input.window),
  run: async ({ input: { window, telling }, outside, caller }, fetch) => {
    // The messages are found while the check goes on; a refusal throws them away.
    const [checked, found] = await Promise.allSettled([
      checkTerms(outside, caller, fetch),
      'ids' in window
        ? tellByIds(outside, caller, fetch, window, telling)
        : tellWindow(outside, caller, fetch, window, telling),
    ]);
    if (checked.status === 'rejected') throw checked.reason;
    if (found.status === 'rejected') throw found.reason;
    return found.value;
  },
});
