import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { inject } from 'vitest';
import { queueUrl, type TestRealm } from './realm.ts';

/** A work queue of one realm: what the code under test sends to, and the test takes from. */
export interface Work {
  readonly url: string;
  /** Takes up to ten messages, hidden from other takers for some seconds. */
  readonly receive: (visibilitySeconds?: number) => Promise<readonly Message[]>;
  /** Says that a message is done. */
  readonly done: (message: Message) => Promise<void>;
}

let client: SQSClient | undefined;

/** Makes the realm's own queue of this name. */
export async function workOf({ host }: Pick<TestRealm, 'host'>, name: string): Promise<Work> {
  client ??= new SQSClient({
    endpoint: inject('sqsS3'),
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const sqs = client;
  const url = queueUrl(host, name);
  await sqs.send(new CreateQueueCommand({ QueueName: url.slice(url.lastIndexOf('/') + 1) }));
  return {
    url,
    async receive(visibilitySeconds = 30) {
      const { Messages } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: visibilitySeconds,
        }),
      );
      return Messages ?? [];
    },
    async done({ ReceiptHandle }) {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    },
  };
}
