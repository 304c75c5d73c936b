import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { boolean, integer, optional, text, word } from './parameter.ts';

/** When a user was last active (or joined, if never), and when one of their clients was last online, in Unix seconds. */
const modern = z.object({ active_timestamp: z.int(), idle_timestamp: z.int() });

const status = z.object({ status: z.string(), timestamp: z.int() });
const client = z.extend(status, { client: z.string() });
const legacy = z.object({ aggregated: client, website: z.extend(client, { pushable: z.boolean() }) });

export const updatePresence = endpoint({
  id: 'presence.update',
  route: 'POST /api/v1/users/me/presence',
  source: 'https://zulip.com/api/update-presence',
  description: 'Reports that the caller is online, and returns who else is. Clients call it once a minute.',
  access: 'human',
  parameters: {
    status: word('Whether the caller was active recently.', ['active', 'idle']),
    last_update_id: optional(
      integer(
        'The `presence_last_update_id` of the last reply, to get only newer presences; -1 for all.',
        -1,
      ),
    ),
    history_limit_days: optional(integer('Return presences of this many past days; default 14.', 0)),
    ping_only: optional(boolean('Whether to leave the reply empty.')),
    slim_presence: optional(boolean('Whether to return presences in the modern format, by user ID.')),
    new_user_input: optional(
      boolean('Whether the caller just used the client. Ignored, as `status` is enough.'),
    ),
  },
  reply: z.object({
    presences: z.optional(z.record(z.string(), z.union([modern, legacy]))),
    presence_last_update_id: z.optional(z.int()),
    server_timestamp: z.optional(z.number()),
  }),
  needs: { table: writes },
});

export const listPresences = endpoint({
  id: 'presence.list',
  route: 'GET /api/v1/realm/presence',
  source: 'https://zulip.com/api/get-presence',
  description: 'Lists who was online in the last two weeks.',
  access: 'user',
  reply: z.object({ presences: z.record(z.string(), legacy), server_timestamp: z.number() }),
});

export const getPresence = endpoint({
  id: 'presence.get',
  route: 'GET /api/v1/users/{user}/presence',
  source: 'https://zulip.com/api/get-user-presence',
  description: 'Gets when a user was last online.',
  access: 'user',
  parameters: {
    user: text('The ID or the email address of the user.'),
    slim_presence: optional(boolean('Whether to return only the modern format.')),
  },
  reply: z.object({
    presence: z.extend(modern, { aggregated: z.optional(status), website: z.optional(status) }),
    server_timestamp: z.number(),
  }),
});
