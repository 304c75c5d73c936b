import * as z from 'zod/mini';
import { runExport } from '../../shared/domain/export/export-run.ts';
import { exportWorker } from '../../shared/endpoints/export.ts';
import { s3Objects } from '../../shared/objects/objects.ts';
import { s3Uploads } from '../../shared/objects/uploads.ts';
import { sqsQueues } from '../../shared/queue/queues.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const job = z.object({ realm: z.string(), token: z.string() });

export const handler = servesQueue(
  exportWorker,
  (outside, { body, deadline }, tools) => runExport({ outside, tools, job: job.parse(body) }, deadline),
  { queues: sqsQueues, objects: s3Objects, uploads: s3Uploads },
);
