import { sweepOutbox } from '../../shared/domain/outbox/outbox-sweep.ts';
import { outboxSweep } from '../../shared/endpoints/outbox-worker.ts';
import { sqsQueues } from '../../shared/queue/queues.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  outboxSweep,
  (outside, _deadline, { queues }) => sweepOutbox(outside, queues),
  { queues: sqsQueues },
);
