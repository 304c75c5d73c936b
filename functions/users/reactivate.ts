import { commitInOrder } from '../../shared/domain/in-order.ts';
import { checkReactivate, doReactivate, loadReturn } from '../../shared/domain/user/reactivate.ts';
import { userIdOf, userPointers } from '../../shared/domain/user/user-list.ts';
import { reactivateUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

/** An account in a few channels. */
const EVENTS = 4;

export const handler = serve(reactivateUser, {
  pointers: (input) => userPointers(input.user),
  load: ({ input, known, outside, realm }) => loadReturn(outside.table, realm, userIdOf(input.user, known)),
  ahead: EVENTS,
  run: async ({ caller, commit, realm, userId }, ground) => {
    const target = checkReactivate(caller, ground);
    await commitInOrder(commit, doReactivate(realm, userId, target, ground));
    return {};
  },
});
