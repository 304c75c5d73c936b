import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sweepDue } from '../../shared/domain/scheduled/due.ts';
import { dueSweep } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  dueSweep,
  (outside, _deadline, { queues }) => sweepDue(outside, queues),
  { queues: sqsQueues },
);
