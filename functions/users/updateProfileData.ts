import {
  checkProfileInput,
  doChangeProfile,
  loadProfileInput,
  valueLookupKeys,
} from '../../shared/domain/profile/change.ts';
import { updateProfileData } from '../../shared/endpoints/profile-fields.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateProfileData, {
  keys: ({ data }) => valueLookupKeys(data),
  load: (look) => loadProfileInput(look, look.userId, look.input.data),
  reserve: ({ data }) => data.length,
  run: async ({ caller, outside, realm, userId, commit }, given) => {
    const decided = await checkProfileInput(outside, caller, caller.user, given);
    await commitInOrder(commit, doChangeProfile(realm, userId, decided));
    return {};
  },
});
