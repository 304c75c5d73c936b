import { checkRevokeKey, doRevokeKey } from '../../shared/domain/account/api-key.ts';
import { revokeApiKey } from '../../shared/endpoints/api-keys.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(revokeApiKey, {
  reserve: 1,
  run: async ({ input, realm, email, resolved, commit }) => {
    const owner = { realm, email, account: resolved.existing({ kind: 'account', email }) };
    const revoked = checkRevokeKey(owner, input.key);
    await commit(1, () => doRevokeKey(owner, revoked));
    return {};
  },
});
