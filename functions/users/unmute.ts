import { accessMute, doUnmute } from '../../shared/domain/flags/mute.ts';
import { unmuteUser } from '../../shared/endpoints/users.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(unmuteUser, {
  reserve: 1,
  run: async ({ input, realm, caller, commit }) => {
    const mute = accessMute(caller.user, input.muted_user_id);
    await commit(1, (numbers) => doUnmute(realm, caller.user, mute, numbers));
    return {};
  },
});
