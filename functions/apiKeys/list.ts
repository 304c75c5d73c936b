import { keyObjects, loadKeyUses } from '../../shared/domain/account/api-key.ts';
import { listApiKeys } from '../../shared/endpoints/api-keys.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listApiKeys, {
  load: ({ outside, realm, userId }) => loadKeyUses(outside, realm, userId),
  run: ({ email, resolved, apiKey }, uses) => ({
    api_keys: keyObjects(resolved.existing({ kind: 'account', email }), uses, apiKey.id),
  }),
});
