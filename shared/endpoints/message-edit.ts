import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { aliased, boolean, integer, optional, pathId, text, word } from './parameter.ts';

const messageId = pathId('The ID of the message.');

export const updateMessage = endpoint({
  id: 'messages.update',
  method: 'PATCH',
  path: '/api/v1/messages/{message_id}',
  source: 'https://zulip.com/api/update-message, specification 4.2',
  description:
    'Edits the content of a message, or moves messages to another topic or channel. Where more than twenty go, the ' +
    'others follow this one a moment later.',
  access: 'user',
  parameters: {
    message_id: messageId,
    content: optional(text('The new content; what is beyond the limit is cut.')),
    prev_content_sha256: optional(
      text('SHA-256 (hexadecimal) of the content that is to be replaced: with another one nothing changes.'),
    ),
    topic: aliased(optional(text('The topic that the messages go to.')), 'subject'),
    stream_id: optional(integer('The channel that the messages go to.')),
    propagate_mode: optional(
      word('Which messages of the topic go: this one, it and later ones, or all; this one if absent.', [
        'change_one',
        'change_later',
        'change_all',
      ]),
    ),
    send_notification_to_old_thread: optional(
      boolean('Whether the old topic is told where the messages went; no if absent.'),
    ),
    send_notification_to_new_thread: optional(
      boolean('Whether the new topic is told where the messages came from; yes if absent.'),
    ),
  },
  reply: z.object({ detached_uploads: z.array(z.unknown()) }),
  errors: [
    'EXPECTATION_MISMATCH',
    'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
    'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
    'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
  ],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'], queues: [OUTBOX] },
  timeout: 28,
  memory: 512,
});

const version = z.object({
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  timestamp: z.int(),
  user_id: z.int(),
  prev_content: z.optional(z.string()),
  prev_rendered_content: z.optional(z.string()),
  content_html_diff: z.optional(z.string()),
  prev_topic: z.optional(z.string()),
  stream: z.optional(z.int()),
  prev_stream: z.optional(z.int()),
});

export const getMessageHistory = endpoint({
  id: 'messages.getHistory',
  method: 'GET',
  path: '/api/v1/messages/{message_id}/history',
  source: 'https://zulip.com/api/get-message-history',
  description:
    'Tells the versions of a message, the oldest first: at most the last hundred changes, as far as they fit, and what ' +
    'each changed as HTML as far as that is not too much.',
  access: 'user',
  parameters: {
    message_id: messageId,
    allow_empty_topic_name: optional(
      boolean('Whether the empty topic is told as such, and not by its display name; no if absent.'),
    ),
  },
  reply: z.object({ message_history: z.array(version) }),
  errors: [],
  needs: { table: reads },
});

export const deleteMessage = endpoint({
  id: 'messages.delete',
  method: 'DELETE',
  path: '/api/v1/messages/{message_id}',
  source: 'https://zulip.com/api/delete-message, specification 4.2',
  description: 'Deletes a message for everybody.',
  access: 'user',
  parameters: { message_id: messageId },
  reply: z.object({}),
  errors: [],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});
