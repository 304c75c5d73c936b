import { commitInOrder } from '../../shared/domain/in-order.ts';
import { checkReactivate, doReactivate, loadReturn } from '../../shared/domain/user/reactivate.ts';
import { loadTarget, targetPointers } from '../../shared/domain/user/user-list.ts';
import { reactivateUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

/** An account in a few channels and groups. */
const EVENTS = 6;

export const handler = serve(reactivateUser, {
  pointers: (input) => targetPointers(String(input.user)),
  load: async ({ input, known, outside, realm }) =>
    loadReturn(outside, realm, await loadTarget(outside.table, String(input.user), known)),
  ahead: EVENTS,
  run: async ({ caller, commit, outside }, ground) => {
    const target = checkReactivate(caller, ground);
    await commitInOrder(commit, doReactivate(caller, target, ground, outside.now()));
    return {};
  },
});
