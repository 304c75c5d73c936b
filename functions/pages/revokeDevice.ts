import { checkRevokeKey, doRevokeKey, ownKeys } from '../../shared/domain/account/api-key.ts';
import { revokeDevice } from '../../shared/endpoints/pages.ts';
import { seeOther, servePage } from '../../shared/serve/page.ts';
import { endSession } from '../../shared/serve/session.ts';

export const handler = servePage(revokeDevice, {
  reserve: 1,
  run: async (request) => {
    const { input, apiKey, baseUrl, commit } = request;
    const owner = ownKeys(request);
    const revoked = checkRevokeKey(owner, input.key);
    await commit(1, () => doRevokeKey(owner, revoked));
    return revoked.id === apiKey.id
      ? seeOther(baseUrl, '/login/', endSession(baseUrl))
      : seeOther(baseUrl, '/account?done=revoked');
  },
});
