import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, integer, json, optional, pathId, text } from './parameter.ts';
import { profileValues } from './profile-fields.ts';
import { userFields } from './user-fields.ts';

const clientGravatar = optional(
  boolean('Leaves addresses out that the client can work out from Gravatar; yes if absent.'),
);
const includeCustomProfileFields = optional(
  boolean('Adds the values of custom profile fields; no if absent.'),
);
const user = text('The ID or the email address of the user.');

export const getOwnUser = endpoint({
  id: 'users.getOwn',
  method: 'GET',
  path: '/api/v1/users/me',
  source: 'https://zulip.com/api/get-own-user',
  description: 'Tells who the caller is.',
  access: 'user',
  parameters: {},
  reply: z.object({ ...userFields, max_message_id: z.int() }),
  errors: [],
  needs: { table: reads },
});

export const listUsers = endpoint({
  id: 'users.list',
  method: 'GET',
  path: '/api/v1/users',
  source: 'https://zulip.com/api/get-users',
  description: 'Lists the users of the organization, bots and deactivated accounts too.',
  access: 'user',
  parameters: {
    client_gravatar: clientGravatar,
    include_custom_profile_fields: includeCustomProfileFields,
    user_ids: optional(json('Lists only the users with these IDs.', z.array(z.int()))),
  },
  reply: z.object({ members: z.array(z.object(userFields)) }),
  errors: [],
  needs: { table: reads },
});

export const getUser = endpoint({
  id: 'users.get',
  method: 'GET',
  path: '/api/v1/users/{user}',
  source: 'https://zulip.com/api/get-user',
  description: 'Tells about a user.',
  access: 'user',
  parameters: {
    user,
    client_gravatar: clientGravatar,
    include_custom_profile_fields: includeCustomProfileFields,
  },
  reply: z.object({ user: z.object(userFields) }),
  errors: ['BAD_REQUEST'],
  needs: { table: reads },
});

export const createUser = endpoint({
  id: 'users.create',
  method: 'POST',
  path: '/api/v1/users',
  source: 'https://zulip.com/api/create-user',
  description: 'Creates an account and tells its API key, since there are no passwords to sign in with.',
  access: 'administrator',
  parameters: {
    email: text('The email address; no other account, active or not, may have it.'),
    full_name: text('The full name.'),
    role: optional(
      integer('100 owner, 200 administrator, 300 moderator, 400 member, 600 guest; a member if absent.'),
    ),
  },
  reply: z.object({ user_id: z.int(), api_key: z.string() }),
  errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});

export const updateUser = endpoint({
  id: 'users.update',
  method: 'PATCH',
  path: '/api/v1/users/{user}',
  source: 'https://zulip.com/api/update-user',
  description:
    'Changes the name, role or profile of an account. Only owners make owners, or change them or their bots.',
  access: 'administrator',
  parameters: {
    user,
    full_name: optional(text('The full name.')),
    role: optional(integer('100 owner, 200 administrator, 300 moderator, 400 member, 600 guest.')),
    profile_data: optional(
      json(
        'Custom profile fields: the `id` of each and its `value`; an empty value takes it away.',
        profileValues,
      ),
    ),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const deactivateUser = endpoint({
  id: 'users.deactivate',
  method: 'DELETE',
  path: '/api/v1/users/{user}',
  source: 'https://zulip.com/api/deactivate-user',
  description:
    'Deactivates an account and the bots that it owns. A bot may be deactivated by its owner too, and nobody by a lower role.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const reactivateUser = endpoint({
  id: 'users.reactivate',
  method: 'POST',
  path: '/api/v1/users/{user}/reactivate',
  source: 'https://zulip.com/api/reactivate-user',
  description: 'Reactivates a deactivated account. A bot may be reactivated by its owner too.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});

export const regenerateOwnKey = endpoint({
  id: 'users.regenerateKey',
  method: 'POST',
  path: '/api/v1/users/me/api_key/regenerate',
  source: 'https://zulip.com/api/regenerate-api-key',
  description: 'Gives the caller a new API key; the old one is out at once.',
  access: 'human',
  parameters: {},
  reply: z.object({ api_key: z.string() }),
  errors: [],
  needs: { table: [...reads, 'UpdateItem'] },
});
