import { legacyPresences, shownPresences } from '../../shared/domain/presence/object.ts';
import { loadPresences, seconds } from '../../shared/domain/presence/presence.ts';
import { listPresences } from '../../shared/endpoints/presence.ts';
import { dropHiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { loadUsersById } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listPresences, {
  load: ({ outside, realm }) => loadPresences(outside.table, realm, undefined, seconds(outside.now())),
  run: async ({ caller, outside, realm }, presences) => {
    const ids = presences.map(({ userId }) => userId);
    const [known, users] = await Promise.all([
      dropHiddenUsers(outside, caller, presences),
      loadUsersById(outside, realm, ids),
    ]);
    const now = seconds(outside.now());
    const isOff = caller.realm.settings.presence_disabled;
    const shown = shownPresences(isOff ? [] : known, users, { now });
    return { presences: legacyPresences(shown, users, now), server_timestamp: outside.now() / 1000 };
  },
});
