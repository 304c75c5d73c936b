import {
  checkUserUpdate,
  doUpdateUser,
  loadUserUpdate,
  updateLookupKeys,
} from '../../shared/domain/account/update.ts';
import {
  checkProfileInput,
  doChangeProfile,
  loadProfileInput,
  valueLookupKeys,
} from '../../shared/domain/profile/change.ts';
import { updateUser } from '../../shared/endpoints/users.ts';
import { commitInOrder } from '../../shared/log/bulk.ts';
import { userIdOf } from '../../shared/model/user/principals.ts';
import { serve } from '../../shared/serve/serve.ts';

/** A role with its groups and the channels that it shows and hides, and a name. */
const EVENTS = 9;

export const handler = serve(updateUser, {
  keys: (input) => [...updateLookupKeys(input.user, input), ...valueLookupKeys(input.profile_data)],
  load: async (look) => {
    const { input, resolved, outside } = look;
    const userId = userIdOf(input.user, resolved);
    const [snapshot, given] = await Promise.all([
      loadUserUpdate(outside, resolved, input.user, input),
      userId && input.profile_data ? loadProfileInput(look, userId, input.profile_data) : undefined,
    ]);
    return { snapshot, given };
  },
  reserve: ({ profile_data: data = [] }) => EVENTS + data.length,
  run: async ({ input, caller, commit, outside, realm }, { snapshot, given }) => {
    const update = checkUserUpdate(caller, snapshot, input);
    const { target } = update;
    const profile = given && (await checkProfileInput(outside, caller, target, given));
    const steps = doUpdateUser(caller, update, snapshot, outside.now());
    await commitInOrder(commit, [
      ...steps,
      ...(profile ? doChangeProfile(realm, target.userId, profile) : []),
    ]);
    return {};
  },
});
