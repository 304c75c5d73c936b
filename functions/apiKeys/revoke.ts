import { checkRevokeKey, doRevokeKey, ownKeys } from '../../shared/domain/account/api-key.ts';
import { revokeApiKey } from '../../shared/endpoints/api-keys.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(revokeApiKey, {
  reserve: 1,
  run: async (request) => {
    const owner = ownKeys(request);
    const revoked = checkRevokeKey(owner, request.input.key);
    await request.commit(1, () => doRevokeKey(owner, revoked));
    return {};
  },
});
