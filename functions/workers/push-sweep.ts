import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sweepPush } from '../../shared/domain/push/run.ts';
import { pushSweep } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  pushSweep,
  (outside, _deadline, { queues }) => sweepPush(outside, queues),
  { queues: sqsQueues },
);
