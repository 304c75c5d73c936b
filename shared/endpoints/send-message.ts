import * as z from 'zod/mini';
import { PUSH } from '../domain/push/wake-up.ts';
import { endpoint, writes } from './endpoint.ts';
import { aliased, boolean, optional, text, word } from './parameter.ts';

/** Names that a client chose are stored with the message: longer ones than any client makes are refused. */
const name = z.string().check(z.maxLength(200));

export const sendMessage = endpoint({
  id: 'messages.send',
  method: 'POST',
  path: '/api/v1/messages',
  source: 'specification 4.1',
  description: 'Sends a message to a channel or to people.',
  access: 'user',
  webhookBots: true,
  parameters: {
    type: word('`direct` or `channel`; `private` and `stream` are their deprecated forms.', [
      'direct',
      'channel',
      'stream',
      'private',
    ]),
    to: text('Channel name or ID; for direct messages a JSON list of user IDs or of email addresses.'),
    content: text('The message in Markdown; what is beyond the limit is cut.'),
    topic: aliased(optional(text('The topic, for channel messages.')), 'subject'),
    queue_id: optional(
      text('Event queue of a client that echoes locally; with `local_id`, a retry is safe.', name),
    ),
    local_id: optional(text("The client's own id of this message; goes with `queue_id`.", name)),
    read_by_sender: optional(boolean('Whether the message starts as read by its sender.')),
    sender: optional(text('Sends in the name of somebody else, which nobody may: always refused.')),
    forged: optional(text('The same for mirrors: refused when it is `yes` or `true`.')),
  },
  // A message to many people counts as one for each ten of them.
  weight: ({ type, to }) =>
    type === 'direct' || type === 'private' ? Math.max(1, Math.floor(to.split(',').length / 10)) : 1,
  reply: z.object({ id: z.int(), automatic_new_visibility_policy: z.optional(z.int()) }),
  errors: [
    'STREAM_DOES_NOT_EXIST',
    'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
    'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
    'BAD_REQUEST',
  ],
  needs: { table: [...writes, 'DeleteItem'], queues: [PUSH] },
});
