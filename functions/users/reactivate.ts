import { checkReactivate, doReactivate, loadReactivation } from '../../shared/domain/account/activation.ts';
import { reactivateUser } from '../../shared/endpoints/users.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { loadTarget, targetLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

/** An account in a few channels and groups. */
const EVENTS = 6;

export const handler = serve(reactivateUser, {
  keys: (input) => targetLookupKeys(String(input.user)),
  load: async ({ input, resolved, outside, realm }) =>
    loadReactivation(outside, realm, await loadTarget(outside.table, String(input.user), resolved)),
  reserve: EVENTS,
  run: async ({ caller, commit, outside }, snapshot) => {
    const target = checkReactivate(caller, snapshot);
    await commitInOrder(commit, doReactivate(caller, target, snapshot, outside.now()));
    return {};
  },
});
