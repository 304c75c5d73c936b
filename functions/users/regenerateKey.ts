import { replaceKey } from '../../shared/domain/account/api-key.ts';
import { regenerateOwnKey } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(regenerateOwnKey, {
  reserve: 1,
  run: async ({ resolved, outside, realm, email, apiKey, commit }) => {
    // Held to the keys as they were read: of two requests at once, one has no key any more.
    const owner = { realm, email, account: resolved.existing({ kind: 'account', email }) };
    return { api_key: await replaceKey(outside, commit, owner, apiKey.id) };
  },
});
