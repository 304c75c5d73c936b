import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { PUSH, SEARCH_QUEUE } from '../kernel/wake-up.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { attachmentFields, messageFields } from './objects.ts';
import { aliased, boolean, ids, integer, json, narrowOf, optional, pathId, text, word } from './parameter.ts';
import { searches } from './search-needs.ts';
import { allowEmptyTopicName } from './topics.ts';

/** Names that a client chooses and that are stored with the message, so their length is limited. */
const name = z.string().check(z.maxLength(200));

const messageId = pathId('The ID of the message.');

export const sendMessage = endpoint({
  id: 'messages.send',
  route: 'POST /api/v1/messages',
  source: 'specification 4.1',
  description: 'Sends a message to a channel or to users.',
  access: 'user',
  webhookBots: true,
  parameters: {
    type: word('`direct` or `channel`. `private` and `stream` are their deprecated names.', [
      'direct',
      'channel',
      'stream',
      'private',
    ]),
    to: text(
      'The name or ID of the channel; for direct messages a JSON array of user IDs or of email addresses.',
    ),
    content: text('The message, in Markdown. A message above the limit is truncated.'),
    topic: aliased(optional(text('The topic of a channel message.')), 'subject'),
    queue_id: optional(
      text(
        'The event queue of a client with local echo. Together with `local_id`, it makes a retry safe.',
        name,
      ),
    ),
    local_id: optional(text("The client's own ID of this message, used with `queue_id`.", name)),
    read_by_sender: optional(boolean('Whether the message is marked as read by its sender.')),
    sender: optional(text('Not supported: sending as another user is always refused.')),
    forged: optional(text('Not supported: refused if it is `yes` or `true`.')),
  },
  // A message to many users counts as one request for each ten of them.
  weight: ({ type, to }) =>
    type === 'direct' || type === 'private' ? Math.max(1, Math.floor(to.split(',').length / 10)) : 1,
  reply: z.object({ id: z.int(), automatic_new_visibility_policy: z.optional(z.int()) }),
  errors: [
    'STREAM_DOES_NOT_EXIST',
    'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
    'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
  ],
  needs: { table: [...writes, 'DeleteItem'], queues: [PUSH, SEARCH_QUEUE] },
});

/** What a narrow with `search` finds in a message: its HTML and its topic with the matches marked. */
const matchFields = { match_content: z.optional(z.string()), match_subject: z.optional(z.string()) } as const;

/** How to render messages, for every endpoint that returns some. */
const rendering = {
  apply_markdown: optional(boolean('Whether message contents are rendered to HTML; default true.')),
  client_gravatar: optional(boolean('Whether the client computes Gravatar URLs itself; default true.')),
  allow_empty_topic_name: allowEmptyTopicName,
} as const;

export const listMessages = endpoint({
  id: 'messages.list',
  route: 'GET /api/v1/messages',
  source: 'https://zulip.com/api/get-messages, wire facts 14.4',
  description:
    'Gets messages around an anchor or by their IDs. Filters by sender or by mentions search at most 10,000 messages, ' +
    'those by what a message has 2,000; `history_limited` is true if that ended a search.',
  access: 'user',
  parameters: {
    anchor: optional(text('`newest`, `oldest`, `first_unread`, `date`, or the ID of a message.')),
    anchor_date: optional(
      text(
        'For the anchor `date`: a date or time (ISO 8601; UTC without a zone). The first message since then.',
      ),
    ),
    use_first_unread_anchor: optional(
      boolean('Deprecated: use the anchor `first_unread`, and ignore `anchor`.'),
    ),
    num_before: optional(integer('The number of messages before the anchor.', 0)),
    num_after: optional(integer('The number of messages after the anchor; at most 5,000 in total.', 0)),
    include_anchor: optional(boolean('Whether to include the message at the anchor; default true.')),
    narrow: optional(
      json(
        'Filters that all must match: `channel`, `channels`, `topic`, `dm`, `dm-including`, `sender`, `mentions`, `id`, `is`, ' +
          '`has`, `in`, `with`.',
        narrowOf(z.union([z.string(), z.int()])),
      ),
    ),
    message_ids: optional(ids('The IDs of the messages, instead of an anchor.')),
    ...rendering,
  },
  reply: z.object({
    messages: z.array(z.object({ ...messageFields, ...matchFields })),
    /** After all messages it is a number above any ID, beyond the range of `z.int`. */
    anchor: z.optional(z.number()),
    found_anchor: z.boolean(),
    found_oldest: z.boolean(),
    found_newest: z.boolean(),
    history_limited: z.boolean(),
  }),
  errors: ['BAD_NARROW'],
  // Writes only a hint for the next fetch.
  needs: { table: [...reads, 'PutItem'], ...searches },
  memory: 512,
});

export const matchesNarrow = endpoint({
  id: 'messages.matchesNarrow',
  route: 'GET /api/v1/messages/matches_narrow',
  source: 'https://zulip.com/api/check-messages-match-narrow, companion facts 1.8',
  description:
    'Tells which of some messages match a narrow. Messages that the caller did not receive do not.',
  access: 'user',
  parameters: {
    msg_ids: ids('The IDs of the messages, at most 5,000.', 5_000),
    narrow: json(
      'Filters that all must match, as for `GET /messages`, but without `with`.',
      narrowOf(z.union([z.string(), z.int()])),
    ),
  },
  reply: z.object({
    /** By the ID of the message. */
    messages: z.record(z.string(), z.object({ match_content: z.string(), match_subject: z.string() })),
  }),
  errors: ['BAD_NARROW'],
  memory: 512,
});

export const renderMessage = endpoint({
  id: 'messages.render',
  route: 'POST /api/v1/messages/render',
  source: 'https://zulip.com/api/render-message, companion facts 1.7',
  description: 'Renders a text as a message of the caller would be. Nothing is stored.',
  access: 'user',
  parameters: {
    content: text(
      'The text, in Markdown, at most 100,000 characters.',
      z.string().check(z.maxLength(100_000)),
    ),
  },
  reply: z.object({ rendered: z.string() }),
  needs: { table: reads },
});

export const getMessage = endpoint({
  id: 'messages.get',
  route: 'GET /api/v1/messages/{message_id}',
  source: 'https://zulip.com/api/get-message, wire facts 14.4',
  description: 'Gets one message.',
  access: 'user',
  parameters: { message_id: messageId, ...rendering },
  reply: z.object({ message: z.object(messageFields), raw_content: z.string() }),
});

export const updateMessage = endpoint({
  id: 'messages.update',
  route: 'PATCH /api/v1/messages/{message_id}',
  source: 'https://zulip.com/api/update-message, specification 4.2',
  description:
    'Edits the content of a message, or moves messages to another topic or channel. If more than twenty messages move, ' +
    'the others follow this one a moment later.',
  access: 'user',
  parameters: {
    message_id: messageId,
    content: optional(text('The new content. A message above the limit is truncated.')),
    prev_content_sha256: optional(
      text('SHA-256 (hexadecimal) of the content to replace. The edit fails if the content has changed.'),
    ),
    topic: aliased(optional(text('The topic to move the messages to.')), 'subject'),
    stream_id: optional(integer('The ID of the channel to move the messages to.')),
    propagate_mode: optional(
      word('Which messages of the topic to move: this one (default), this and later ones, or all.', [
        'change_one',
        'change_later',
        'change_all',
      ]),
    ),
    send_notification_to_old_thread: optional(
      boolean('Whether to post a notice about the move in the old topic; default false.'),
    ),
    send_notification_to_new_thread: optional(
      boolean('Whether to post a notice about the move in the new topic; default true.'),
    ),
  },
  reply: z.object({ detached_uploads: z.array(z.object(attachmentFields)) }),
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
  route: 'GET /api/v1/messages/{message_id}/history',
  source: 'https://zulip.com/api/get-message-history',
  description:
    'Gets the versions of a message, oldest first. At most the last hundred changes are kept, fewer if they are long. ' +
    'A very long difference is left out.',
  access: 'user',
  parameters: { message_id: messageId, allow_empty_topic_name: allowEmptyTopicName },
  reply: z.object({ message_history: z.array(version) }),
});

export const getReadReceipts = endpoint({
  id: 'messages.getReadReceipts',
  route: 'GET /api/v1/messages/{message_id}/read_receipts',
  source: 'https://zulip.com/api/get-read-receipts, companion facts 1.9',
  description:
    'Lists the users who have read a message and let others know. Not its sender, and not in channels with more than ' +
    '1,000 subscribers.',
  access: 'user',
  parameters: { message_id: messageId },
  reply: z.object({ user_ids: z.array(z.int()) }),
});

export const reportMessage = endpoint({
  id: 'messages.report',
  route: 'POST /api/v1/messages/{message_id}/report',
  source: 'https://zulip.com/api/report-message, companion facts 1.10',
  description:
    'Reports a message to the moderators: a notice in the channel of `moderation_request_channel_id` quotes it as it is ' +
    'now.',
  access: 'user',
  parameters: {
    message_id: messageId,
    report_type: word('Why: the key of one of `server_report_message_types`.', [
      'spam',
      'harassment',
      'inappropriate',
      'norms',
      'other',
    ]),
    description: optional(text('More about it; at most 1,000 characters. Needed for `other`.')),
  },
  needs: { table: [...reads, 'PutItem'], queues: [OUTBOX] },
});

export const deleteMessage = endpoint({
  id: 'messages.delete',
  route: 'DELETE /api/v1/messages/{message_id}',
  source: 'https://zulip.com/api/delete-message, specification 4.2',
  description: 'Deletes a message for everybody.',
  access: 'user',
  parameters: { message_id: messageId },
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'], queues: [OUTBOX] },
});
