import { ownKeys, replaceKey } from '../../shared/domain/account/api-key.ts';
import { regenerateOwnKey } from '../../shared/endpoints/users.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(regenerateOwnKey, {
  reserve: 1,
  // Held to the keys as they were read: of two requests at once, one has no key any more.
  run: async (request) => {
    const { outside, apiKey, commit } = request;
    return { api_key: await replaceKey(outside, commit, ownKeys(request), apiKey.id) };
  },
});
