import { commitInOrder } from '../../shared/domain/in-order.ts';
import { badRequest } from '../../shared/domain/problems.ts';
import { checkDeactivate, doDeactivate, loadDeparture } from '../../shared/domain/user/deactivate.ts';
import { userIdOf, userPointers } from '../../shared/domain/user/user-list.ts';
import { deactivateUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

/** An account with a bot, each in a few channels. */
const EVENTS = 8;

export const handler = serve(deactivateUser, {
  pointers: (input) => userPointers(input.user),
  load: ({ input, known, outside, realm }) =>
    loadDeparture(outside.table, realm, userIdOf(input.user, known)),
  ahead: EVENTS,
  run: async ({ caller, commit, realm }, departure) => {
    const target = checkDeactivate(caller, departure);
    const steps = doDeactivate(realm, target, departure);
    if (steps.length === 0) throw badRequest('The account is deactivated already.');
    await commitInOrder(commit, steps);
    return {};
  },
});
