import * as z from 'zod/mini';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { s3Uploads } from '../../shared/adapters/uploads.ts';
import { runExport } from '../../shared/domain/export/run.ts';
import { exportWorker } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const job = z.object({ realm: z.string(), token: z.string() });

export const handler = servesQueue(
  exportWorker,
  (outside, { body, deadline }, tools) => runExport({ outside, tools, job: job.parse(body) }, deadline),
  { queues: sqsQueues, objects: s3Objects, uploads: s3Uploads },
);
