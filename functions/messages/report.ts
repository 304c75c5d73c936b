import { sqsQueues } from '../../shared/adapters/queues.ts';
import { doLeaveJob, type Job, wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import { accessTarget, loadTarget, messageLookupKeys } from '../../shared/domain/reader/target.ts';
import { checkTakesReports, parseReport, reportTask } from '../../shared/domain/send/report.ts';
import { reportMessage } from '../../shared/endpoints/messages.ts';
import { carryOut } from '../../shared/log/carry-out.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(
  reportMessage,
  {
    parse: ({ message_id, report_type, description }) => ({
      messageId: message_id,
      report: parseReport(report_type, description),
    }),
    keys: ({ messageId }) => messageLookupKeys(messageId),
    load: ({ input, resolved, outside, userId }) =>
      loadTarget(outside, resolved, userId, input.messageId, async () => undefined),
    run: async ({ input, caller, outside, realm, clients }, loaded) => {
      checkTakesReports(caller);
      const { message } = await accessTarget(caller.standing, loaded);
      const job: Job<'report'> = { realm, kind: 'report', job: outside.uuid() };
      const task = reportTask(caller.user.userId, input.report, message);
      await carryOut(outside, [doLeaveJob(job, 0, task, outside.now())]);
      await wakeOutbox(outside, clients.queues, job);
      return {};
    },
  },
  { queues: sqsQueues },
);
