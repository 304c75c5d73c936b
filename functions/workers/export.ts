import * as z from 'zod/mini';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { s3Uploads } from '../../shared/adapters/uploads.ts';
import { runExport } from '../../shared/domain/export/run.ts';
import { indexRealm } from '../../shared/domain/search/run.ts';
import { exportWorker } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

/** An export, or the search index of an organization. */
const job = z.union([
  z.object({ realm: z.string(), token: z.string() }),
  z.object({ realm: z.string(), verify: z.optional(z.boolean()) }),
]);

export const handler = servesQueue(
  exportWorker,
  (outside, { body, deadline }, tools) => {
    const wanted = job.parse(body);
    return 'token' in wanted
      ? runExport({ outside, tools, job: wanted }, deadline)
      : indexRealm(outside, tools, wanted, deadline);
  },
  { queues: sqsQueues, objects: s3Objects, uploads: s3Uploads },
);
