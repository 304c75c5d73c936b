import { randomUUID } from 'node:crypto';
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import type { ServedQueue, ServedSchedule } from '../../shared/serve/worker.ts';
import { holdingToGrants } from './grants.ts';
import type { TestRealm } from './realm.ts';

/** How much of its time a run has left, as Lambda tells it. */
const left = (seconds: number) => ({ getRemainingTimeInMillis: () => 1000 * seconds });

/** Runs a worker as its schedule does, with the permissions of its policy. */
export const runSchedule = (
  { outside }: TestRealm,
  handler: ServedSchedule,
  seconds = handler.worker.timeout,
): Promise<void> => holdingToGrants(handler.worker, () => handler.with(outside)({}, left(seconds)));

/** A message as a queue hands it over. */
export const queued = (body: string, receives = 1): SQSRecord => ({
  messageId: randomUUID(),
  receiptHandle: randomUUID(),
  body,
  attributes: {
    ApproximateReceiveCount: String(receives),
    SentTimestamp: '0',
    SenderId: 'test',
    ApproximateFirstReceiveTimestamp: '0',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:test',
  awsRegion: 'us-east-1',
});

/** Runs a worker for a batch of messages as its queue does, with the permissions of its policy. */
export const runQueue = (
  { outside }: TestRealm,
  handler: ServedQueue,
  Records: SQSRecord[],
  seconds = handler.worker.timeout,
): Promise<SQSBatchResponse> =>
  holdingToGrants(handler.worker, () => handler.with(outside)({ Records }, left(seconds)));
