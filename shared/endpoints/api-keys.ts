import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { text } from './parameter.ts';

export const listApiKeys = endpoint({
  id: 'apiKeys.list',
  route: 'GET /api/v1/users/me/api_keys',
  source: 'DESIGN 10: an account has a key for each device',
  description: 'Lists the API keys of the caller: one for each device that signed in.',
  access: 'user',
  reply: z.object({
    api_keys: z.array(
      z.object({
        id: z.string(),
        label: z.string(),
        created: z.nullable(z.int()),
        last_used: z.nullable(z.int()),
        is_current: z.boolean(),
      }),
    ),
  }),
});

export const revokeApiKey = endpoint({
  id: 'apiKeys.revoke',
  route: 'DELETE /api/v1/users/me/api_keys/{key}',
  source: 'DESIGN 10: an account has a key for each device',
  description:
    'Revokes an API key of the caller. It stops working at once, also in polls that wait. A caller who revokes the key of this request is signed out.',
  access: 'user',
  parameters: { key: text('The ID of the key.') },
  needs: { table: writes },
});
