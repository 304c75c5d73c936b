import { changeKey } from '../../shared/domain/account/api-key.ts';
import { regenerateOwnKey } from '../../shared/endpoints/users.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(regenerateOwnKey, {
  run: async ({ caller, resolved, outside, realm }) => {
    const { email } = caller.user;
    // Held to the key that the caller came with: of two requests at once, one has no key any more.
    const account = resolved.follow({ kind: 'account', email });
    return { api_key: await changeKey(outside, realm, email, account?.keyDigest) };
  },
});
