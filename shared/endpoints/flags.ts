import * as z from 'zod/mini';
import { PUSH } from '../kernel/wake-up.ts';
import { endpoint, writes } from './endpoint.ts';
import { boolean, ids, integer, json, narrowOf, optional, text, word } from './parameter.ts';
import { searches } from './search-needs.ts';

const op = word('Whether to add or remove the flag.', ['add', 'remove']);
const flag = word('The flag. Clients cannot change other flags.', ['read', 'starred']);

/** Channels of messages that stay read, because only subscribers have unread messages. */
const ignored = z.array(z.int());

/** Marks messages, and wakes the worker that takes notifications of read messages from telephones. */
const marks = { needs: { table: writes, queues: [PUSH] }, memory: 512 } as const;

export const updateFlags = endpoint({
  id: 'messages.updateFlags',
  route: 'POST /api/v1/messages/flags',
  source: 'https://zulip.com/api/update-message-flags, wire facts 14.3',
  description: "Changes the caller's flags on messages, such as read and starred.",
  access: 'user',
  parameters: { messages: ids('The IDs of the messages, at most 5,000.', 5_000), op, flag },
  reply: z.object({
    /** The messages of the request, including those that the caller cannot read. */
    messages: z.array(z.int()),
    ignored_because_not_subscribed_channels: ignored,
  }),
  ...marks,
});

export const updateFlagsForNarrow = endpoint({
  id: 'messages.updateFlagsForNarrow',
  route: 'POST /api/v1/messages/flags/narrow',
  source: 'https://zulip.com/api/update-message-flags-for-narrow, companion facts 1.11',
  description: "Changes the caller's flags on the messages of a narrow around an anchor.",
  access: 'user',
  parameters: {
    anchor: text('`newest`, `oldest`, `first_unread`, `date`, or the ID of a message.'),
    anchor_date: optional(text('For the anchor `date`: a date or time (ISO 8601; UTC without a zone).')),
    num_before: integer('The number of messages before the anchor.', 0),
    num_after: integer(
      'The number of messages after the anchor. Of more than 5,000 in total the rest is left for another request.',
      0,
    ),
    include_anchor: optional(boolean('Whether to include the message at the anchor; default true.')),
    narrow: json(
      'Filters that all must match, as for `GET /messages`.',
      narrowOf(z.union([z.string(), z.int()])),
    ),
    op,
    flag,
  },
  reply: z.object({
    /** How many messages match, and how many of them changed. */
    processed_count: z.int(),
    updated_count: z.int(),
    first_processed_id: z.nullable(z.int()),
    last_processed_id: z.nullable(z.int()),
    found_oldest: z.boolean(),
    found_newest: z.boolean(),
    ignored_because_not_subscribed_channels: ignored,
  }),
  errors: ['BAD_NARROW'],
  needs: { ...marks.needs, ...searches, queues: [PUSH, ...searches.queues] },
  memory: marks.memory,
});

export const markAllAsRead = endpoint({
  id: 'messages.markAllAsRead',
  route: 'POST /api/v1/mark_all_as_read',
  source: 'https://zulip.com/api/mark-all-as-read, companion facts 1.12',
  description:
    "Marks all of the caller's messages as read, the newest 5,000 at a time. Repeat until `complete`.",
  access: 'user',
  reply: z.object({ complete: z.boolean() }),
  ...marks,
});

export const markChannelAsRead = endpoint({
  id: 'messages.markChannelAsRead',
  route: 'POST /api/v1/mark_stream_as_read',
  source: 'https://zulip.com/api/mark-stream-as-read, companion facts 1.12',
  description: 'Marks the messages of a channel as read, the newest 5,000 that are unread.',
  access: 'user',
  parameters: { stream_id: integer('The ID of the channel.') },
  ...marks,
});

export const markTopicAsRead = endpoint({
  id: 'messages.markTopicAsRead',
  route: 'POST /api/v1/mark_topic_as_read',
  source: 'https://zulip.com/api/mark-topic-as-read, companion facts 1.12',
  description: 'Marks the messages of a topic as read, the newest 5,000 that are unread.',
  access: 'user',
  parameters: {
    stream_id: integer('The ID of the channel.'),
    topic_name: text('The topic. The display name of the empty topic means that topic.'),
  },
  ...marks,
});
