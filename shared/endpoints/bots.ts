import * as z from 'zod/mini';
import { endpoint, writes } from './endpoint.ts';
import { botDefaults } from './objects.ts';
import { boolean, integer, optional, pathId, text } from './parameter.ts';

const botId = pathId('The user ID of the bot.');

export const listBots = endpoint({
  id: 'bots.list',
  route: 'GET /api/v1/bots',
  source: 'https://zulip.com/api/get-bots',
  description: 'Lists the active bots that the caller owns.',
  access: 'human',
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
});

export const createBot = endpoint({
  id: 'bots.create',
  route: 'POST /api/v1/bots',
  source: 'https://zulip.com/api/create-bot',
  description: 'Creates a bot that the caller owns, and returns its API key.',
  access: 'human',
  parameters: {
    full_name: text('The full name. No active account may have the same one.'),
    short_name: text('The part of its email address before `-bot@`.'),
    bot_type: optional(integer('1: generic bot (default), 2: incoming webhook.')),
    default_sending_stream: optional(text('The name of the channel that the bot sends to by default.')),
    default_events_register_stream: optional(
      text('The name of the channel whose events the bot receives by default.'),
    ),
    default_all_public_streams: optional(
      boolean('Whether the bot receives the events of all public channels by default.'),
    ),
  },
  reply: z.object({
    user_id: z.int(),
    api_key: z.string(),
    avatar_url: z.string(),
    ...botDefaults,
  }),
  needs: { table: writes },
});

export const deactivateBot = endpoint({
  id: 'bots.deactivate',
  route: 'DELETE /api/v1/bots/{bot_id}',
  source: 'https://zulip.com/api/deactivate-bot',
  description:
    'Deactivates a bot. Only its owner and administrators can, and only if their role is not below that of the bot or its owner.',
  access: 'user',
  parameters: { bot_id: botId },
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const regenerateBotKey = endpoint({
  id: 'bots.regenerateKey',
  route: 'POST /api/v1/bots/{bot_id}/api_key/regenerate',
  source: 'https://zulip.com/api/regenerate-bot-api-key',
  description:
    'Generates a new API key for a bot; the old one stops working at once. Everyone who may deactivate the bot may do this.',
  access: 'user',
  parameters: { bot_id: botId },
  reply: z.object({ api_key: z.string() }),
  errors: ['UNAUTHORIZED_PRINCIPAL'],
  needs: { table: writes },
});
