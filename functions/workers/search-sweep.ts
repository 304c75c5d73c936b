import { sqsQueues } from '../../shared/adapters/queues.ts';
import { sweepSearch } from '../../shared/domain/search/run.ts';
import { searchSweep } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  searchSweep,
  (outside, _deadline, { queues }) => sweepSearch(outside, queues),
  { queues: sqsQueues },
);
