import { loadReminders, reminderObject } from '../../shared/domain/scheduled/reminder.ts';
import { listReminders } from '../../shared/endpoints/reminders.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listReminders, {
  load: ({ outside, realm, userId }) => loadReminders(outside.table, realm, userId),
  run: ({ userId }, reminders) => ({
    reminders: reminders.map((reminder) => reminderObject(reminder, userId)),
  }),
});
