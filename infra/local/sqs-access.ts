import type { Access } from './iam.ts';
import type { Place } from './template-values.ts';

/** Batches have no permissions of their own. */
const singleActions: Readonly<Record<string, string>> = {
  SendMessageBatch: 'SendMessage',
  DeleteMessageBatch: 'DeleteMessage',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
};

/** What IAM has to allow for a call of SQS: the action, on the queue that its URL or name tells. */
export function sqsAccess(
  operation: string,
  request: Readonly<Record<string, unknown>>,
  place: Pick<Place, 'region' | 'accountId'>,
): Access[] {
  const queue = String(request.QueueUrl ?? request.QueueName ?? '')
    .split('/')
    .at(-1);
  return [
    {
      action: `sqs:${singleActions[operation] ?? operation}`,
      resource: queue ? `arn:aws:sqs:${place.region}:${place.accountId}:${queue}` : '*',
    },
  ];
}
