import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse } from 'aws-lambda';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { startSqsS3Store } from '../../infra/local/sqs-s3-store.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import { exportWorker } from '../../shared/endpoints/workers.ts';
import { variable } from '../../shared/environment.ts';
import { TABLE } from '../support/store.ts';
import type { FunctionProcess } from './function-process.ts';

/** The environment of functions that work on stores of their own. */
export type Environment = Awaited<ReturnType<typeof startOwnStores>>;

/**
 * Starts stores with the table, and with the queue and the buckets of the worker that exports and indexes. Tells the environment
 * of its function.
 *
 * @param ends gets what must be done in the end, the last one first
 */
export async function startOwnStores(folder: string, ends: (() => Promise<unknown>)[]) {
  const dynamo = await startDynamoStore(':memory:', undefined);
  ends.push(() => dynamo.stop());
  const stores = await startSqsS3Store(folder, { region: 'us-east-1' });
  ends.push(() => stores.stop());
  const buckets = Object.keys(exportWorker.needs.buckets ?? {});
  for (const bucket of buckets) stores.ensureBucket(bucket);
  const { origin } = stores.endpoint;
  // Clients take credentials from the environment of their process.
  process.env.AWS_ACCESS_KEY_ID ??= 'bench';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'bench';
  const client = new DynamoDBClient({ endpoint: dynamo.endpoint.origin, region: 'us-east-1' });
  await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
  client.destroy();
  const sqs = sqsAt(origin);
  await sqs.send(new CreateQueueCommand({ QueueName: exportWorker.queue.name }));
  sqs.destroy();
  return {
    TABLE_NAME: TABLE,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint.origin,
    AWS_ENDPOINT_URL_SQS: origin,
    AWS_ENDPOINT_URL_S3: origin,
    ...Object.fromEntries(buckets.map((name) => [variable('BUCKET', name), name])),
    [variable('QUEUE', exportWorker.queue.name)]: `${origin}/000000000000/${exportWorker.queue.name}`,
  };
}

const sqsAt = (endpoint: string): SQSClient => new SQSClient({ endpoint, region: 'us-east-1' });

/** Has the worker take messages, as Lambda would, until the queue is empty. Tells the runs, and its most memory. */
export async function workOff(
  worker: FunctionProcess,
  environment: Environment,
  first: object,
): Promise<{ readonly runs: number; readonly peakMb: number }> {
  const { AWS_ENDPOINT_URL_SQS: origin } = environment;
  const sqs = sqsAt(origin);
  const QueueUrl = `${origin}/000000000000/${exportWorker.queue.name}`;
  let [runs, peak] = [0, 0];
  for (let body: string | undefined = JSON.stringify(first); body !== undefined; runs++) {
    const record = { messageId: 'measured', body, attributes: { ApproximateReceiveCount: '1' } };
    const { reply, peakMb } = await worker.run<SQSBatchResponse>({ Records: [record] }, exportWorker.timeout);
    if (reply.batchItemFailures.length > 0) throw new Error('The worker failed.');
    peak = peakMb;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 3_600 }),
    );
    body = Messages[0]?.Body;
  }
  sqs.destroy();
  return { runs, peakMb: peak };
}
