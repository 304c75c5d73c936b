import * as z from 'zod/mini';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { deliverDue } from '../../shared/domain/scheduled/deliver.ts';
import { due as worker } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const due = z.object({
  realm: z.string(),
  userId: z.int(),
  what: z.enum(['message', 'reminder', 'invitation']),
  id: z.int(),
  at: z.int(),
});

export const handler = servesQueue(
  worker,
  (outside, { body }, { queues }) => deliverDue(outside, queues, due.parse(body)),
  { queues: sqsQueues },
);
