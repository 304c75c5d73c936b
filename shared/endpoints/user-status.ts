import * as z from 'zod/mini';
import { endpoint, reads, writes } from './endpoint.ts';
import { optional, pathId, text, word } from './parameter.ts';

export const setUserStatus = endpoint({
  id: 'users.setStatus',
  method: 'POST',
  path: '/api/v1/users/me/status',
  source: 'https://zulip.com/api/update-status, specification 3',
  description:
    'Sets what the caller says of themselves: a text, an emoji, or both. The empty text clears either.',
  access: 'human',
  parameters: {
    status_text: optional(text('The text, 60 characters at most.')),
    emoji_name: optional(text('The name of the emoji.')),
    emoji_code: optional(text('Its code; that of its name if absent. Without a name, empty.')),
    reaction_type: optional(
      word('Its kind; that of its name if absent. Without a name, empty.', [
        'unicode_emoji',
        'realm_emoji',
        'zulip_extra_emoji',
        '',
      ]),
    ),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: writes },
});

export const getUserStatus = endpoint({
  id: 'users.getStatus',
  method: 'GET',
  path: '/api/v1/users/{user}/status',
  source: 'https://zulip.com/api/get-user-status',
  description: 'Tells what a user says of themselves.',
  access: 'user',
  parameters: { user: pathId('The ID of the user.') },
  reply: z.object({
    status: z.object({
      status_text: z.optional(z.string()),
      emoji_name: z.optional(z.string()),
      emoji_code: z.optional(z.string()),
      reaction_type: z.optional(z.string()),
    }),
  }),
  errors: ['BAD_REQUEST'],
  needs: { table: reads },
});
