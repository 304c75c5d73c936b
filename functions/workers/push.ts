import * as z from 'zod/mini';
import { sqsQueues } from '../../shared/adapters/queues.ts';
import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';
import { handleWakeUp } from '../../shared/domain/push/run.ts';
import { push } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const wakeUp = z.object({ realm: z.string(), job: z.optional(z.string()), left: z.optional(z.int()) });

export const handler = servesQueue(
  push,
  (outside, { body, deadline }, clients) => handleWakeUp(outside, clients, wakeUp.parse(body), deadline),
  { queues: sqsQueues, secrets: awsSecrets, vault: kmsVault },
);
