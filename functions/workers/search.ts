import * as z from 'zod/mini';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { indexRealm } from '../../shared/domain/search/run.ts';
import { search } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const wakeUp = z.object({ realm: z.string(), verify: z.optional(z.boolean()) });

export const handler = servesQueue(
  search,
  (outside, { body, deadline }, clients) => indexRealm(outside, clients, wakeUp.parse(body), deadline),
  { queues: sqsQueues, objects: s3Objects },
);
