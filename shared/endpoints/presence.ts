import * as z from 'zod/mini';
import { endpoint, reads } from './endpoint.ts';
import { boolean, json, optional, text, word } from './parameter.ts';

/**
 * Seconds since 1970 of the last time somebody did something, which is when they joined if they never did, and of the
 * last time a client of theirs was there.
 */
const modern = z.object({ active_timestamp: z.int(), idle_timestamp: z.int() });

const status = z.object({ status: z.string(), timestamp: z.int() });
const client = z.extend(status, { client: z.string() });
const legacy = z.object({ aggregated: client, website: z.extend(client, { pushable: z.boolean() }) });

export const updatePresence = endpoint({
  id: 'presence.update',
  method: 'POST',
  path: '/api/v1/users/me/presence',
  source: 'https://zulip.com/api/update-presence',
  description: 'Tells that the caller is here, and in reply who else is. Clients call it once a minute.',
  access: 'human',
  parameters: {
    status: word('Whether the caller has done something lately.', ['active', 'idle']),
    last_update_id: optional(
      json(
        'The `presence_last_update_id` of the last reply: only what is newer is told. -1 for everything.',
        z.int().check(z.minimum(-1)),
      ),
    ),
    history_limit_days: optional(
      json('Days back to which presences are told; 14 if absent.', z.int().check(z.minimum(0))),
    ),
    ping_only: optional(boolean('Whether to tell nothing in reply.')),
    slim_presence: optional(boolean('Whether presences come in their modern form, by user ID.')),
    new_user_input: optional(boolean('Whether the caller has just done something; `status` says enough.')),
  },
  reply: z.object({
    presences: z.optional(z.record(z.string(), z.union([modern, legacy]))),
    presence_last_update_id: z.optional(z.int()),
    server_timestamp: z.optional(z.number()),
  }),
  errors: ['BAD_REQUEST'],
  needs: { table: [...reads, 'PutItem'] },
});

export const listPresences = endpoint({
  id: 'presence.list',
  method: 'GET',
  path: '/api/v1/realm/presence',
  source: 'https://zulip.com/api/get-presence',
  description: 'Tells who was here in the last two weeks.',
  access: 'user',
  parameters: {},
  reply: z.object({ presences: z.record(z.string(), legacy), server_timestamp: z.number() }),
  errors: [],
  needs: { table: reads },
});

export const getPresence = endpoint({
  id: 'presence.get',
  method: 'GET',
  path: '/api/v1/users/{user}/presence',
  source: 'https://zulip.com/api/get-user-presence',
  description: 'Tells when a user was last here.',
  access: 'user',
  parameters: {
    user: text('The ID or the email address of the user.'),
    slim_presence: optional(boolean('Whether it comes in its modern form only.')),
  },
  reply: z.object({
    presence: z.extend(modern, { aggregated: z.optional(status), website: z.optional(status) }),
    server_timestamp: z.number(),
  }),
  errors: ['BAD_REQUEST'],
  needs: { table: reads },
});
