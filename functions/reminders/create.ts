import { sqsQueues } from '../../shared/adapters/queues.ts';
import { accessTarget, loadTarget, messageLookupKeys } from '../../shared/domain/reader/target.ts';
import { checkTime, wakeForDue } from '../../shared/domain/scheduled/due.ts';
import {
  checkRoomForReminder,
  doAddReminder,
  loadReminders,
  parseNote,
  reminderText,
} from '../../shared/domain/scheduled/reminder.ts';
import { createReminder } from '../../shared/endpoints/reminders.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  createReminder,
  {
    parse: ({ message_id: messageId, scheduled_delivery_timestamp: deliverAt, note }) => ({
      messageId,
      deliverAt,
      note: parseNote(note),
    }),
    keys: ({ messageId }) => messageLookupKeys(messageId),
    load: async ({ input, resolved, outside, realm, userId }) => {
      const [target, reminders] = await Promise.all([
        loadTarget(outside, resolved, userId, input.messageId, (message, reader) =>
          reader.user(message.senderId),
        ),
        loadReminders(outside.table, realm, userId),
      ]);
      return { target, reminders };
    },
    reserve: 1,
    run: async ({ input, outside, realm, userId, caller, commit, clients }, { target, reminders }) => {
      const { messageId, deliverAt, note } = input;
      checkTime(deliverAt, outside.now());
      const { message, more: sender, seen } = await accessTarget(caller.standing, target);
      checkRoomForReminder(reminders);
      const { content, rendered } = reminderText(message, sender, seen?.channel, note);
      const kept = { messageId, deliverAt, content, rendered: rendered.html, ...(note && { note }) };
      const due = await commit(1, (numbers) => doAddReminder(realm, userId, kept, numbers));
      await wakeForDue(outside, clients.queues, due);
      return { reminder_id: due.id };
    },
  },
  { queues: sqsQueues },
);
