import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, integer, optional, pathId, text } from './parameter.ts';

const botId = pathId('The user ID of the bot.');

/** What is set for a bot, in replies. */
const botDefaults = {
  default_sending_stream: z.nullable(z.string()),
  default_events_register_stream: z.nullable(z.string()),
  default_all_public_streams: z.boolean(),
} as const;

export const listBots = endpoint({
  id: 'bots.list',
  method: 'GET',
  path: '/api/v1/bots',
  source: 'https://zulip.com/api/get-bots',
  description: 'Lists the active bots that the caller owns.',
  access: 'human',
  parameters: {},
  reply: z.object({
    bots: z.array(
      z.object({
        user_id: z.int(),
        username: z.string(),
        full_name: z.string(),
        avatar_url: z.string(),
        ...botDefaults,
      }),
    ),
  }),
  errors: [],
  needs: { table: reads },
});

export const createBot = endpoint({
  id: 'bots.create',
  method: 'POST',
  path: '/api/v1/bots',
  source: 'https://zulip.com/api/create-bot',
  description: 'Creates a bot that the caller owns, and tells its API key.',
  access: 'human',
  parameters: {
    full_name: text('The full name, which no active account may have.'),
    short_name: text('The beginning of its email address, before `-bot@`.'),
    bot_type: optional(integer('1 a general bot, 2 an incoming webhook; 1 if absent.')),
    default_sending_stream: optional(text('Name of a channel that the bot sends to.')),
    default_events_register_stream: optional(text('Name of a channel whose events the bot gets.')),
    default_all_public_streams: optional(boolean('The bot gets the events of all public channels.')),
  },
  reply: z.object({
    user_id: z.int(),
    api_key: z.string(),
    avatar_url: z.string(),
    ...botDefaults,
  }),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const deactivateBot = endpoint({
  id: 'bots.deactivate',
  method: 'DELETE',
  path: '/api/v1/bots/{bot_id}',
  source: 'https://zulip.com/api/deactivate-bot',
  description: 'Deactivates a bot, for its owner and administrators with at least the roles of both.',
  access: 'user',
  parameters: { bot_id: botId },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const regenerateBotKey = endpoint({
  id: 'bots.regenerateKey',
  method: 'POST',
  path: '/api/v1/bots/{bot_id}/api_key/regenerate',
  source: 'https://zulip.com/api/regenerate-bot-api-key',
  description: 'Gives a bot a new API key, for those who may deactivate it; the old one is out at once.',
  access: 'user',
  parameters: { bot_id: botId },
  reply: z.object({ api_key: z.string() }),
  errors: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...reads, 'UpdateItem'] },
});
