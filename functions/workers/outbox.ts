import * as z from 'zod/mini';
import { runJob } from '../../shared/domain/job/run.ts';
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

export const handler = servesQueue(outbox, (outside, { body, deadline }) =>
  runJob(outside, job.parse(body), deadline),
);
