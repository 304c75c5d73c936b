import { loadReminders, reminderObject } from '../../shared/domain/scheduled/reminder.ts';
import { listReminders } from '../../shared/endpoints/reminders.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listReminders, {
  load: ({ outside, realm, userId }) => loadReminders(outside.table, realm, userId),
  run: ({ userId }, reminders) => ({
    reminders: reminders.map((reminder) => reminderObject(reminder, userId)),
  }),
});
