import { type Environment, required, variable } from '../environment.ts';
import type { Queues } from '../kernel/outside.ts';
import { regionOf, signerFor } from './signer.ts';

/** How long (ms) one request may take, and how often it is sent if it gets no answer, or one that says to try again. */
const TIMEOUT_MS = 3_000;
const ATTEMPTS = 3;

/**
 * The work queues that a function may send to, found in its environment by the names of its declaration. Sending is all
 * that is needed of SQS, so its requests are signed here in place of a client of 24 KB.
 */
export function sqsQueues(environment: Environment): Queues {
  const url = new URL(
    environment.AWS_ENDPOINT_URL_SQS ?? `https://sqs.${regionOf(environment)}.amazonaws.com`,
  );
  const signer = signerFor('sqs', environment);

  const post = async (body: string): Promise<Response> => {
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port !== '' && { port: Number(url.port) }),
      path: '/',
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'AmazonSQS.SendMessage',
      },
      body,
    });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return fetch(new URL('/', url), { method: 'POST', headers, body, redirect: 'error', signal });
  };

  return {
    async send(queue, message, delaySeconds) {
      const body = JSON.stringify({
        QueueUrl: required(environment, variable('QUEUE', queue)),
        MessageBody: JSON.stringify(message),
        ...(delaySeconds !== undefined && { DelaySeconds: delaySeconds }),
      });
      for (let attempt = 1; ; attempt++) {
        const answer = await post(body).catch((error: unknown) => {
          if (attempt === ATTEMPTS) throw error;
        });
        await answer?.body?.cancel();
        if (answer?.ok) return;
        const isPassing = answer === undefined || answer.status >= 500 || answer.status === 429;
        if (!isPassing || attempt === ATTEMPTS)
          throw new Error(`SQS answered with ${answer?.status} for the queue of ${queue}`);
      }
    },
  };
}
