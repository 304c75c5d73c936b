import { checkRemovals, doChangeProfile, loadProfileSnapshot } from '../../shared/domain/profile/change.ts';
import { removeProfileData } from '../../shared/endpoints/profile-fields.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(removeProfileData, {
  load: ({ outside, realm, userId }) => loadProfileSnapshot(outside.table, realm, userId),
  reserve: ({ data }) => data.length,
  run: async ({ input, caller, realm, userId, commit }, snapshot) => {
    const decided = checkRemovals(caller, snapshot, input.data);
    await commitInOrder(commit, doChangeProfile(realm, userId, decided));
    return {};
  },
});
