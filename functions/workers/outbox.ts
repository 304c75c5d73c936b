import * as z from 'zod/mini';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { runJob } from '../../shared/domain/job/run.ts';
import { deliverDue } from '../../shared/domain/scheduled/deliver.ts';
import { outbox } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const job = z.object({
  realm: z.string(),
  kind: z.enum([
    'subscribed',
    'moved',
    'move',
    'policies',
    'people',
    'arrivals',
    'reactions',
    'files',
    'joined',
    'report',
  ]),
  job: z.string(),
});

/** Something that is due at a time. */
const due = z.object({
  kind: z.literal('due'),
  realm: z.string(),
  userId: z.int(),
  what: z.enum(['message', 'reminder', 'invitation']),
  id: z.int(),
  at: z.int(),
});

export const handler = servesQueue(
  outbox,
  (outside, { body, deadline }, { queues }) => {
    const work = z.union([job, due]).parse(body);
    return work.kind === 'due' ? deliverDue(outside, queues, work) : runJob(outside, work, deadline);
  },
  { queues: sqsQueues },
);
