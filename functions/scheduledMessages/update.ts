import { sqsQueues } from '../../shared/adapters/queues.ts';
import {
  accessRendered,
  checkScheduledChange,
  parseScheduledChange,
} from '../../shared/domain/scheduled/change.ts';
import { wakeForDue } from '../../shared/domain/scheduled/due.ts';
import {
  accessScheduled,
  doReschedule,
  loadScheduledMessage,
} from '../../shared/domain/scheduled/scheduled-message.ts';
import { updateScheduledMessage } from '../../shared/endpoints/scheduled-messages.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  updateScheduledMessage,
  {
    parse: ({ scheduled_message_id: id, ...change }) => ({ id, change: parseScheduledChange(change) }),
    load: ({ input, outside, realm, userId }) => loadScheduledMessage(outside.table, realm, userId, input.id),
    reserve: 1,
    run: async ({ input, outside, realm, userId, caller, commit, clients }, stored) => {
      const before = accessScheduled(stored);
      const after = checkScheduledChange(input.change, before, outside.now());
      const rendered = await accessRendered(outside, caller, before, after);
      const due = await commit(1, () => doReschedule(realm, userId, before, { ...after, rendered }));
      await wakeForDue(outside, clients.queues, due);
      return {};
    },
  },
  { queues: sqsQueues },
);
