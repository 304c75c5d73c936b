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
    // Whom the caller may not know is nobody; only for guests anything is read.
    const hidden = await hiddenUsers(outside, caller, [...snapshot.users.values()]);
    const visible = (found: Snapshot): Snapshot => ({
      ...found,
      users: new Map([...found.users].filter(([id]) => !hidden.has(id))),
    });
    const reload = async () => visible(await reloadRemovals(outside, resolved, userId, input));
    const stage = { wait: outside.wait, now: outside.now, reload };
    const asked = { ...input, resolved, groups, now: outside.now() };
    const outcome = await unsubscribePeople(stage, caller, commit, asked, visible(snapshot));
    return { removed: [...outcome.removed], not_removed: [...outcome.notRemoved] };
  },
});
