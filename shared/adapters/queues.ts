import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from '../aws/client-options.ts';
import { type Environment, required, variable } from '../environment.ts';
import type { Queues } from '../kernel/outside.ts';

/** The work queues that a function may send to, found in its environment by the names of its declaration. */
export function sqsQueues(environment: Environment): Queues {
  const client = new SQSClient(clientOptions(environment, 'SQS'));
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
