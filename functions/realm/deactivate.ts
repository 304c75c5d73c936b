import { checkDeletionDelay, doSetInService } from '../../shared/domain/realm-edit/service.ts';
import { deactivateRealm } from '../../shared/endpoints/realm.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deactivateRealm, {
  reserve: 1,
  run: ({ input, caller, realm, commit }) => {
    checkDeletionDelay(input.deletion_delay_days);
    return commit(1, () => doSetInService(realm, caller.realm, false));
  },
});
