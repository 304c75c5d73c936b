import { commitInOrder } from '../../shared/domain/in-order.ts';
import {
  checkGivenValues,
  loadGivenValues,
  valuePointers,
} from '../../shared/domain/profile/given-values.ts';
import { doChangeProfile } from '../../shared/domain/profile/profile-change.ts';
import { userIdOf } from '../../shared/domain/user/user-list.ts';
import {
  checkUserUpdate,
  doUpdateUser,
  loadUserUpdate,
  updatePointers,
} from '../../shared/domain/user/user-update.ts';
import { updateUser } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

/** A role with its groups and the channels that it shows and hides, and a name. */
const EVENTS = 8;

export const handler = serve(updateUser, {
  pointers: (input) => [...updatePointers(input.user, input), ...valuePointers(input.profile_data)],
  load: async (look) => {
    const { input, known, outside } = look;
    const userId = userIdOf(input.user, known);
    const [ground, given] = await Promise.all([
      loadUserUpdate(outside, known, input.user, input),
      userId && input.profile_data ? loadGivenValues(look, userId, input.profile_data) : undefined,
    ]);
    return { ground, given };
  },
  ahead: ({ profile_data: data = [] }) => EVENTS + data.length,
  run: async ({ input, caller, commit, outside, realm }, { ground, given }) => {
    const update = checkUserUpdate(caller, ground, input);
    const { target } = update;
    const profile = given && (await checkGivenValues(outside, caller, target, given));
    const step = doUpdateUser(caller, update, ground, outside.now());
    await commitInOrder(commit, [
      ...(step ? [step] : []),
      ...(profile ? doChangeProfile(realm, target.userId, profile) : []),
    ]);
    return {};
  },
});
