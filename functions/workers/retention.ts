import { s3Objects } from '../../shared/adapters/objects.ts';
import { removeUnusedFiles } from '../../shared/domain/files/cleanup.ts';
import { enforceRetention } from '../../shared/domain/retention/keep-limits.ts';
import { retention } from '../../shared/endpoints/workers.ts';
import { servesSchedule } from '../../shared/serve/worker.ts';

export const handler = servesSchedule(
  retention,
  async (outside, deadline, { objects }) => {
    const ended = await Promise.allSettled([
      enforceRetention(outside, deadline),
      removeUnusedFiles(outside, objects, deadline),
    ]);
    // Neither keeps the other from its work.
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  },
  { objects: s3Objects },
);
