import { seconds } from '../../shared/domain/presence/presence.ts';
import { checkStatus, doSetStatus } from '../../shared/domain/presence/status.ts';
import { setUserStatus } from '../../shared/endpoints/users.ts';
import { emojiLookupKeys } from '../../shared/model/message/reaction-emoji.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(setUserStatus, {
  keys: emojiLookupKeys,
  load: ({ outside, realm, userId }) => outside.table.get('userStatus', { realm, userId }),
  reserve: 1,
  run: async ({ input, commit, resolved, outside, realm, userId }, seen) => {
    const set = checkStatus(input, resolved);
    const step = doSetStatus(realm, userId, seen, set, seconds(outside.now()));
    if (step) await commit(1, () => ({ ...step, result: undefined }));
    return {};
  },
});
