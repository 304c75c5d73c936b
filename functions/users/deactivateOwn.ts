import { checkLeaves, doDeactivate, loadDeactivation } from '../../shared/domain/account/activation.ts';
import { deactivateOwn } from '../../shared/endpoints/users.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

/** An account with a bot, each in a few channels and groups. */
const EVENTS = 12;

export const handler = serveByRole(deactivateOwn, {
  reserve: EVENTS,
  run: async ({ caller, commit, outside, realm }) => {
    // The account is read before its bots and subscriptions, as its deactivation requires.
    const snapshot = await loadDeactivation(outside, realm, caller.user);
    checkLeaves(caller.user, snapshot);
    await commitInOrder(commit, doDeactivate(caller, caller.user, snapshot, outside.now()));
    return {};
  },
});
