import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { removeUnusedFiles } from '../../shared/domain/files/cleanup.ts';
import { enforceRetention } from '../../shared/domain/retention/keep-limits.ts';
import { sweepSearch } from '../../shared/domain/search/run.ts';
import { retention } from '../../shared/endpoints/workers.ts';
import { runTogether } from '../../shared/pool.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  retention,
  (outside, deadline, { objects, queues }) =>
    runTogether(
      () => sweepSearch(outside, queues),
      () => enforceRetention(outside, deadline),
      () => removeUnusedFiles(outside, objects, deadline),
    ),
  { objects: s3Objects, queues: sqsQueues },
);
