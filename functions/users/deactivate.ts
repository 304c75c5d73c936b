import { checkDeactivate, doDeactivate, loadDeactivation } from '../../shared/domain/account/activation.ts';
import { deactivateUser } from '../../shared/endpoints/users.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { loadTarget, targetLookupKeys } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

/** An account with a bot, each in a few channels and groups. */
const EVENTS = 12;

export const handler = serve(deactivateUser, {
  keys: (input) => targetLookupKeys(String(input.user)),
  load: async ({ input, resolved, outside, realm }) =>
    loadDeactivation(outside, realm, await loadTarget(outside.table, String(input.user), resolved)),
  reserve: EVENTS,
  run: async ({ caller, commit, outside }, snapshot) => {
    const target = checkDeactivate(caller, snapshot);
    const steps = doDeactivate(caller, target, snapshot, outside.now());
    if (steps.length === 0) throw badRequest('The account is deactivated already.');
    await commitInOrder(commit, steps);
    return {};
  },
});
