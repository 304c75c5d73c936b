import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sweepOutbox } from '../../shared/domain/job/run.ts';
import { sweepDue } from '../../shared/domain/scheduled/due.ts';
import { outboxSweep } from '../../shared/endpoints/workers.ts';
import { runTogether } from '../../shared/pool.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  outboxSweep,
  (outside, _deadline, { queues }) =>
    runTogether(
      () => sweepOutbox(outside, queues),
      () => sweepDue(outside, queues),
    ),
  { queues: sqsQueues },
);
