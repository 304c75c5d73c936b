import {
  checkDeactivation,
  doDeactivate,
  loadDeactivationSnapshot,
} from '../../shared/domain/group-edit/deactivate.ts';
import { deactivateUserGroup } from '../../shared/endpoints/user-groups.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(deactivateUserGroup, {
  load: ({ input, realm, userId, outside }) =>
    loadDeactivationSnapshot(outside.table, realm, input.user_group_id, userId),
  reserve: 2,
  run: ({ input, caller, commit }, snapshot) => {
    const group = checkDeactivation(caller, input.user_group_id, snapshot);
    return commit(2, () => doDeactivate(caller, group, snapshot.use));
  },
});
