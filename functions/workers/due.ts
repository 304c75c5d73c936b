import * as z from 'zod/mini';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { deliverScheduled } from '../../shared/domain/scheduled/deliver.ts';
import { due } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const what = z.object({ realm: z.string(), userId: z.int(), id: z.int(), at: z.int() });

export const handler = servesQueue(
  due,
  (outside, { body }, { queues }) => deliverScheduled(outside, queues, what.parse(body)),
  { queues: sqsQueues },
);
