import * as z from 'zod/mini';
import { MAX_KEYS } from '../domain/account/bot-storage.ts';
import { endpoint, reads, readsItems, writes } from './endpoint.ts';
import { botDefaults } from './objects.ts';
import { boolean, integer, json, optional, pathId, text } from './parameter.ts';

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

const storageKeys = optional(
  json('The keys. Default: all of them.', z.array(z.string()).check(z.maxLength(MAX_KEYS))),
);

export const getBotStorage = endpoint({
  id: 'bots.getStorage',
  route: 'GET /api/v1/bot_storage',
  source: 'companion facts 3.9',
  description: 'Gets what the calling bot has stored.',
  access: 'user',
  parameters: { keys: storageKeys },
  reply: z.object({ storage: z.record(z.string(), z.string()) }),
  errors: ['PERMISSION_DENIED'],
});

export const updateBotStorage = endpoint({
  id: 'bots.updateStorage',
  route: 'PUT /api/v1/bot_storage',
  source: 'companion facts 3.9',
  description: 'Stores values of the calling bot, each under its key.',
  access: 'user',
  parameters: {
    storage: json(
      `The values by key, at most ${MAX_KEYS}.`,
      z.record(z.string(), z.string()).check(z.refine((values) => Object.keys(values).length <= MAX_KEYS)),
    ),
  },
  // One transaction writes all of it, and an item takes 400 KB.
  size: { bytes: 320 * 1024 },
  errors: ['PERMISSION_DENIED'],
  needs: { table: [...readsItems, 'PutItem'] },
});

export const removeBotStorage = endpoint({
  id: 'bots.removeStorage',
  route: 'DELETE /api/v1/bot_storage',
  source: 'companion facts 3.9',
  description: 'Removes values that the calling bot has stored.',
  access: 'user',
  parameters: { keys: storageKeys },
  errors: ['PERMISSION_DENIED'],
  needs: { table: [...reads, 'PutItem', 'DeleteItem'] },
});
