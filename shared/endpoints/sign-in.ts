import * as z from 'zod/mini';
import { MAIL_OUT } from '../domain/outbox/outbox.ts';
import { endpoint, HASHING_MEMORY, signsIn } from './endpoint.ts';
import { text } from './parameter.ts';

const signedIn = z.object({ api_key: z.string(), email: z.string(), user_id: z.int() });

const username = text('The email address of the account.');

const refusals = [
  'AUTHENTICATION_FAILED',
  'USER_DEACTIVATED',
  'REALM_DEACTIVATED',
  'NONEXISTENT_SUBDOMAIN',
] as const;

export const fetchApiKey = endpoint({
  id: 'signIn.fetchApiKey',
  route: 'POST /api/v1/fetch_api_key',
  source: 'https://zulip.com/api/fetch-api-key, companion facts 3.12',
  description:
    'Signs in with a password: makes an API key for this device. After five failed tries, nobody can sign in to the account for half an hour.',
  access: 'anyone',
  parameters: { username, password: text('The password of the account.') },
  reply: signedIn,
  errors: [...refusals, 'RATE_LIMIT_HIT'],
  needs: { table: [...signsIn, 'PutItem'], queues: [MAIL_OUT], settings: ['MAIL_DOMAIN'] },
  memory: HASHING_MEMORY,
});

export const devFetchApiKey = endpoint({
  id: 'signIn.devFetchApiKey',
  route: 'POST /api/v1/dev_fetch_api_key',
  source: 'https://zulip.com/api/dev-fetch-api-key, companion facts 3.12',
  description: 'Signs in without a password. Only the local service does this.',
  access: 'anyone',
  parameters: { username },
  reply: signedIn,
  errors: refusals,
  needs: { table: signsIn },
});

const devUsers = z.array(z.object({ email: z.string(), realm_url: z.string() }));

export const devListUsers = endpoint({
  id: 'signIn.devListUsers',
  route: 'GET /api/v1/dev_list_users',
  source: 'https://zulip.com/api/dev-list-users, companion facts 3.12',
  description: 'Lists the accounts that can sign in without a password. Only the local service does this.',
  access: 'anyone',
  reply: z.object({ direct_admins: devUsers, direct_users: devUsers }),
  errors: ['NONEXISTENT_SUBDOMAIN'],
});
