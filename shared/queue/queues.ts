import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type Environment, required, variable } from '../domain/environment.ts';
import type { Queues } from '../domain/outside.ts';

/** A single try gives up after this long (ms): a request that queues work has others of its time to keep. */
const REQUEST_TIMEOUT = 2_000;

/** The work queues that a function may send to, found in its environment by the names of its declaration. */
export function sqsQueues(environment: Environment): Queues {
  const endpoint = environment.AWS_ENDPOINT_URL_SQS;
  const client = new SQSClient({
    ...(endpoint !== undefined && { endpoint }),
    region: environment.AWS_REGION ?? 'us-east-1',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: REQUEST_TIMEOUT,
      throwOnRequestTimeout: true,
      socketTimeout: REQUEST_TIMEOUT,
    },
  });
  return {
    async send(queue, message, delaySeconds) {
      await client.send(
        new SendMessageCommand({
          QueueUrl: required(environment, variable('QUEUE', queue)),
          MessageBody: JSON.stringify(message),
          ...(delaySeconds !== undefined && { DelaySeconds: delaySeconds }),
        }),
      );
    },
  };
}
