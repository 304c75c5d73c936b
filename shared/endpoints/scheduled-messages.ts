import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { endpoint, writes } from './endpoint.ts';
import { scheduledMessageFields } from './objects.ts';
import { boolean, integer, json, optional, pathId, text, word } from './parameter.ts';

const scheduled_message_id = pathId('The ID of the scheduled message.');
const type = word('`direct` or `channel`. `private` and `stream` are their deprecated names.', [
  'direct',
  'channel',
  'stream',
  'private',
]);
const to = json(
  'The ID of the channel, or the IDs of the users, as a list.',
  z.union([z.int(), z.array(z.int())]),
);
const content = text('The message, in Markdown. A message above the limit is truncated.');
const topic = optional(text('The topic of a channel message.'));
const scheduled_delivery_timestamp = integer(
  'When to send it, in seconds since 1970; in the future.',
  0,
  1e11,
);

const needs = { table: [...writes, 'DeleteItem'], queues: [OUTBOX] } as const;

/** Those of sending. */
const errors = [
  'STREAM_DOES_NOT_EXIST',
  'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
  'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
] as const;

export const listScheduledMessages = endpoint({
  id: 'scheduledMessages.list',
  route: 'GET /api/v1/scheduled_messages',
  source: 'https://zulip.com/api/get-scheduled-messages, companion facts 2.3',
  description: 'Lists the messages that the caller has scheduled and that were not sent, the next one first.',
  access: 'user',
  reply: z.object({ scheduled_messages: z.array(z.object(scheduledMessageFields)) }),
});

export const createScheduledMessage = endpoint({
  id: 'scheduledMessages.create',
  route: 'POST /api/v1/scheduled_messages',
  source: 'https://zulip.com/api/create-scheduled-message, companion facts 2.3',
  description: 'Schedules a message. It is sent with the rights that the caller has at that time.',
  access: 'user',
  parameters: {
    type,
    to,
    content,
    topic,
    scheduled_delivery_timestamp,
    read_by_sender: optional(boolean('Whether the message is marked as read by its sender.')),
  },
  reply: z.object({ scheduled_message_id: z.int() }),
  errors,
  needs: { table: writes, queues: [OUTBOX] },
});

export const updateScheduledMessage = endpoint({
  id: 'scheduledMessages.update',
  route: 'PATCH /api/v1/scheduled_messages/{scheduled_message_id}',
  source: 'https://zulip.com/api/update-scheduled-message, companion facts 2.3',
  description: 'Changes a scheduled message. One that failed is tried again at its new time.',
  access: 'user',
  parameters: {
    scheduled_message_id,
    type: optional(type),
    to: optional(to),
    content: optional(content),
    topic,
    scheduled_delivery_timestamp: optional(scheduled_delivery_timestamp),
  },
  notFound: true,
  errors,
  needs,
});

export const deleteScheduledMessage = endpoint({
  id: 'scheduledMessages.delete',
  route: 'DELETE /api/v1/scheduled_messages/{scheduled_message_id}',
  source: 'https://zulip.com/api/delete-scheduled-message, companion facts 2.3',
  description: 'Deletes a scheduled message.',
  access: 'user',
  parameters: { scheduled_message_id },
  notFound: true,
  needs: { table: [...writes, 'DeleteItem'] },
});
