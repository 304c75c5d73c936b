import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sweepOutbox } from '../../shared/domain/job/run.ts';
import { sweepDue } from '../../shared/domain/scheduled/due.ts';
import { outboxSweep } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  outboxSweep,
  async (outside, _deadline, { queues }) => {
    const swept = await Promise.allSettled([sweepOutbox(outside, queues), sweepDue(outside, queues)]);
    for (const outcome of swept) if (outcome.status === 'rejected') throw outcome.reason;
  },
  { queues: sqsQueues },
);
