import type { Snapshot } from '../../shared/domain/subscribe/snapshot.ts';
import {
  loadRemovals,
  numbersOfRemovals,
  parseRemovals,
  reloadRemovals,
  removalLookupKeys,
  unsubscribePeople,
} from '../../shared/domain/subscribe/unsubscribe.ts';
import { removeSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import { hiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeSubscriptions, {
  parse: parseRemovals,
  keys: removalLookupKeys,
  load: ({ input, outside, resolved, userId }) => loadRemovals(outside, resolved, userId, input),
  reserve: numbersOfRemovals,
  run: async ({ input, caller, outside, userId, resolved, commit }, { snapshot, groups }) => {
    // Hidden users do not exist for the caller. Reads only for guests.
    const hidden = await hiddenUsers(outside, caller, [...snapshot.users.values()]);
    const visible = (loaded: Snapshot): Snapshot => ({
      ...loaded,
      users: new Map([...loaded.users].filter(([id]) => !hidden.has(id))),
    });
    const reload = async () => visible(await reloadRemovals(outside, resolved, userId, input));
    const stage = { wait: outside.wait, now: outside.now, reload };
    const parsed = { ...input, resolved, groups, now: outside.now() };
    const outcome = await unsubscribePeople(stage, caller, commit, parsed, visible(snapshot));
    return { removed: [...outcome.removed], not_removed: [...outcome.notRemoved] };
  },
});
