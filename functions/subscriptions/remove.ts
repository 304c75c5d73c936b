import { pairLookupKeys } from '../../shared/domain/subscribe/snapshot.ts';
import {
  loadRemovals,
  numbersOfRemovals,
  parseRemovals,
  unsubscribePeople,
} from '../../shared/domain/subscribe/unsubscribe.ts';
import { removeSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeSubscriptions, {
  parse: parseRemovals,
  keys: pairLookupKeys,
  load: ({ input, outside, resolved, userId }) => loadRemovals(outside, resolved, userId, input),
  reserve: numbersOfRemovals,
  run: async ({ input, caller, outside, commit }, snapshot) => {
    const outcome = await unsubscribePeople(outside, caller, commit, input, snapshot);
    return { removed: [...outcome.removed], not_removed: [...outcome.notRemoved] };
  },
});
