import { accessReminder, doRemoveReminder, loadReminder } from '../../shared/domain/scheduled/reminder.ts';
import { deleteReminder } from '../../shared/endpoints/reminders.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteReminder, {
  load: ({ input, outside, realm, userId }) => loadReminder(outside.table, realm, userId, input.reminder_id),
  reserve: 1,
  run: async ({ realm, userId, commit }, stored) => {
    const reminder = accessReminder(stored);
    await commit(1, () => doRemoveReminder(realm, userId, reminder));
    return {};
  },
});
