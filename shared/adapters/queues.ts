import { SendMessageCommand, SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import { clientOptions } from '../aws/client-options.ts';
import { jsonProtocolOf } from '../aws/json-protocol.ts';
import { type Environment, required, variable } from '../environment.ts';
import type { Queues } from '../kernel/outside.ts';

/** How the client speaks with SQS, in place of its own way (`shared/aws/json-protocol.ts`). */
export const sqsProtocol = jsonProtocolOf({ target: 'AmazonSQS', Exception: SQSServiceException });

/** The work queues that a function may send to, found in its environment by the names of its declaration. */
export function sqsQueues(environment: Environment): Queues {
  const client = new SQSClient({ ...clientOptions(environment, 'SQS'), protocol: sqsProtocol });
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
