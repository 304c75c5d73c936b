import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sweepOutbox } from '../../shared/domain/job/run.ts';
import { outboxSweep } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  outboxSweep,
  (outside, _deadline, { queues }) => sweepOutbox(outside, queues),
  { queues: sqsQueues },
);
