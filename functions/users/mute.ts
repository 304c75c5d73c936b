import { sqsQueues } from '../../shared/adapters/queues.ts';
import { fetchLookupKeys, openFetch } from '../../shared/domain/fetch/fetch.ts';
import { WindowSearch } from '../../shared/domain/fetch/search.ts';
import { checkMute, doMute } from '../../shared/domain/flags/mute.ts';
import { newestUnread } from '../../shared/domain/flags/narrow-marking.ts';
import { muteUser } from '../../shared/endpoints/users.ts';
import { wakePush } from '../../shared/kernel/wake-up.ts';
import { accessUser } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  muteUser,
  {
    parse: ({ muted_user_id: mutedId }) => ({
      mutedId,
      ...newestUnread({ kind: 'sender', user: mutedId, negated: false }),
    }),
    keys: fetchLookupKeys,
    load: (request) => openFetch(request, request.input, request.input.window),
    // One for the list, one for what is read now.
    reserve: 2,
    run: async (request, fetch) => {
      const { input, outside, realm, caller, commit } = request;
      const { mutedId, window } = input;
      const muted = await fetch.reader.user(mutedId);
      await accessUser(outside, caller, muted);
      checkMute(caller.user, mutedId);
      const { heads } = await new WindowSearch(fetch, caller.standing, window).findSettled();
      const change = doMute(
        realm,
        caller.user,
        mutedId,
        heads.map(({ id }) => id),
        outside.now(),
      );
      await commit(change.entries.length, () => change);
      // What was read need not be shown on telephones any more.
      await wakePush(request);
      return {};
    },
  },
  { queues: sqsQueues },
);
