import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { endpoint, writes } from './endpoint.ts';
import { reminderFields } from './objects.ts';
import { integer, optional, pathId, text } from './parameter.ts';

export const listReminders = endpoint({
  id: 'reminders.list',
  route: 'GET /api/v1/reminders',
  source: 'https://zulip.com/api/get-reminders, companion facts 2.4',
  description: "Lists the caller's reminders of messages, the next one first.",
  access: 'user',
  reply: z.object({ reminders: z.array(z.object(reminderFields)) }),
});

export const createReminder = endpoint({
  id: 'reminders.create',
  route: 'POST /api/v1/reminders',
  source: 'https://zulip.com/api/create-message-reminder, companion facts 2.4',
  description: 'Asks for a direct message about a message at a time.',
  access: 'user',
  parameters: {
    message_id: integer('The ID of the message.'),
    scheduled_delivery_timestamp: integer('When, in seconds since 1970; in the future.', 0, 1e11),
    note: optional(text('A note to oneself, at most 500 characters.')),
  },
  reply: z.object({ reminder_id: z.int() }),
  needs: { table: writes, queues: [OUTBOX] },
});

export const deleteReminder = endpoint({
  id: 'reminders.delete',
  route: 'DELETE /api/v1/reminders/{reminder_id}',
  source: 'https://zulip.com/api/delete-reminder, companion facts 2.4',
  description: 'Deletes a reminder.',
  access: 'user',
  parameters: { reminder_id: pathId('The ID of the reminder.') },
  notFound: true,
  needs: { table: [...writes, 'DeleteItem'] },
});
