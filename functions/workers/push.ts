import * as z from 'zod/mini';
import { answerNudge } from '../../shared/domain/push/push-run.ts';
import { push } from '../../shared/endpoints/push-worker.ts';
import { sqsQueues } from '../../shared/queue/queues.ts';
import { awsSecrets } from '../../shared/secrets/secrets.ts';
import { servesQueue } from '../../shared/serve/worker.ts';
import { kmsVault } from '../../shared/vault/vault.ts';

const nudge = z.object({ realm: z.string(), job: z.optional(z.string()), left: z.optional(z.int()) });

export const handler = servesQueue(
  push,
  (outside, { body, deadline }, tools) => answerNudge(outside, tools, nudge.parse(body), deadline),
  { queues: sqsQueues, secrets: awsSecrets, vault: kmsVault },
);
