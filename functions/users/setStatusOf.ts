import { seconds } from '../../shared/domain/presence/presence.ts';
import { checkStatus, doSetStatus } from '../../shared/domain/presence/status.ts';
import { setStatusOfUser } from '../../shared/endpoints/users.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { emojiLookupKeys } from '../../shared/model/message/reaction-emoji.ts';
import { isAdministrator } from '../../shared/model/permission/permission.ts';
import { noSuchUser } from '../../shared/model/user/principals.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(setStatusOfUser, {
  parse: ({ user: userId, ...status }) => ({ userId, status }),
  keys: ({ status }) => emojiLookupKeys(status),
  load: async ({ input: { userId }, outside: { table }, realm }) => {
    if (!isId(userId)) return {};
    const [user, seen] = await Promise.all([
      table.get('user', { realm, userId }),
      table.get('userStatus', { realm, userId }),
    ]);
    return { user, seen };
  },
  reserve: 1,
  run: async ({ input, caller, commit, resolved, outside, realm }, { user, seen }) => {
    if (!isAdministrator(caller.standing)) throw refusal('insufficientPermission');
    // A bot says nothing of itself.
    if (!user?.isActive || user.isBot) throw noSuchUser();
    const set = checkStatus(input.status, resolved);
    const step = doSetStatus(realm, user.userId, seen, set, seconds(outside.now()));
    if (step) await commit(1, () => ({ ...step, result: undefined }));
    return {};
  },
});
