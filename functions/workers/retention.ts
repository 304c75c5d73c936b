import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { removeUnusedFiles } from '../../shared/domain/files/cleanup.ts';
import { enforceRetention } from '../../shared/domain/retention/keep-limits.ts';
import { sweepSearch } from '../../shared/domain/search/run.ts';
import { retention } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  retention,
  async (outside, deadline, { objects, queues }) => {
    const ended = await Promise.allSettled([
      sweepSearch(outside, queues),
      enforceRetention(outside, deadline),
      removeUnusedFiles(outside, objects, deadline),
    ]);
    // None keeps another from its work.
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  },
  { objects: s3Objects, queues: sqsQueues },
);
