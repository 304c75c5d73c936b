import { loadScheduled, scheduledObject } from '../../shared/domain/scheduled/scheduled-message.ts';
import { listScheduledMessages } from '../../shared/endpoints/scheduled-messages.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listScheduledMessages, {
  load: ({ outside, realm, userId }) => loadScheduled(outside.table, realm, userId),
  run: ({ userId }, scheduled) => ({
    scheduled_messages: scheduled.map((message) => scheduledObject(message, userId)),
  }),
});
