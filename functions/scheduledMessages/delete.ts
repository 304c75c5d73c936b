import {
  accessScheduled,
  doUnschedule,
  loadScheduledMessage,
} from '../../shared/domain/scheduled/scheduled-message.ts';
import { deleteScheduledMessage } from '../../shared/endpoints/scheduled-messages.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteScheduledMessage, {
  load: ({ input, outside, realm, userId }) =>
    loadScheduledMessage(outside.table, realm, userId, input.scheduled_message_id),
  reserve: 1,
  run: async ({ realm, userId, commit }, stored) => {
    const message = accessScheduled(stored);
    await commit(1, () => doUnschedule(realm, userId, message));
    return {};
  },
});
