import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildFunctions } from '../../infra/build.ts';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { type Inspection, inspectExport } from '../../infra/local/export-archive.ts';
import { startSqsS3Store } from '../../infra/local/sqs-s3-store.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { archiveKey, EXPORTS, type ExportJob, exportKey } from '../../shared/domain/export/realm-export.ts';
import { exportWorker } from '../../shared/endpoints/workers.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { TABLE } from '../support/store.ts';
import { givenLargeExport } from './large-export.ts';

/** An export whose archive was read back and is whole. */
export interface ExportRow {
  readonly messages: number;
  /** Runs of the worker, one after the other. */
  readonly runs: number;
  /** From the first of them to the end of the last one. */
  readonly seconds: number;
  /** The most memory (MB) that the process of the worker ever had. */
  readonly peakMb: number;
  readonly archiveBytes: number;
  readonly files: number;
}

/**
 * Megabytes of heap that the worker may have: what 256 MB leave beside Node itself and buffers. Without an end Node
 * would tidy up late, and the peak would tell how much there is instead of how much is needed.
 */
const HEAP = 160;

/**
 * Measures the export of a large organization. Its messages are put straight into a store of its own; the worker is the
 * very bundle that Lambda gets, in a process of its own, so that its memory is only its own. The archive is read back.
 *
 * @param onStep Gets what is done, and how long (s) it took.
 * @throws Error when the worker fails, or the archive is not whole.
 */
export async function measureExport(
  messages: number = designBudgets.exportMessages,
  onStep: (step: string, seconds: number) => void = () => {},
): Promise<readonly ExportRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-export-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  const timed = async <T>(step: string, work: () => Promise<T>): Promise<readonly [T, number]> => {
    const began = performance.now();
    const result = await work();
    const seconds = (performance.now() - began) / 1000;
    onStep(step, seconds);
    return [result, seconds];
  };
  try {
    const environment = await startStores(folder, ends);
    const [given] = await timed(`${messages} messages put into a store`, () =>
      givenLargeExport(environment, messages),
    );
    const worker = await startWorker(folder, environment, ends);
    const [work, seconds] = await timed('the export', () => workOff(worker, environment, given));
    const [archive] = await timed('its archive read', () => readArchive(environment, given));
    const { files, counts } = archive;
    const faults = [...archive.problems];
    if (counts.messages !== messages) faults.push(`${counts.messages} of ${messages} messages are there.`);
    if (faults.length > 0) throw new Error(`The archive of the export is not whole. ${faults.join(' ')}`);
    return [{ messages, seconds, ...work, archiveBytes: archive.bytes, files }];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

type Environment = Awaited<ReturnType<typeof startStores>>;

/** Starts stores with the table, the queue and the buckets of the worker. Tells its environment. */
async function startStores(folder: string, ends: (() => Promise<unknown>)[]) {
  const dynamo = await startDynamoStore(':memory:', undefined);
  ends.push(() => dynamo.stop());
  const stores = await startSqsS3Store(folder, { region: 'us-east-1' });
  ends.push(() => stores.stop());
  for (const bucket of [EXPORTS, 'images']) stores.ensureBucket(bucket);
  const { origin } = stores.endpoint;
  // Clients take credentials from the environment of their process.
  process.env.AWS_ACCESS_KEY_ID ??= 'bench';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'bench';
  const client = new DynamoDBClient({ endpoint: dynamo.endpoint.origin, region: 'us-east-1' });
  await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
  client.destroy();
  const sqs = sqsAt(origin);
  await sqs.send(new CreateQueueCommand({ QueueName: 'export' }));
  sqs.destroy();
  return {
    TABLE_NAME: TABLE,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint.origin,
    AWS_ENDPOINT_URL_SQS: origin,
    AWS_ENDPOINT_URL_S3: origin,
    BUCKET_EXPORTS: EXPORTS,
    BUCKET_IMAGES: 'images',
    QUEUE_EXPORT_URL: `${origin}/000000000000/export`,
  };
}

const sqsAt = (endpoint: string): SQSClient => new SQSClient({ endpoint, region: 'us-east-1' });

/** Starts a process that does nothing but what the worker does. */
async function startWorker(
  folder: string,
  env: Environment,
  ends: (() => Promise<unknown>)[],
): Promise<ChildProcess> {
  const outdir = join(folder, 'dist');
  const { bundles } = await buildFunctions({ endpoints: [], workers: [exportWorker], outdir });
  const worker = fork(
    join(import.meta.dirname, 'export-worker.mjs'),
    [bundles[exportWorker.id]?.directory ?? ''],
    { env, execArgv: [`--max-old-space-size=${HEAP}`] },
  );
  const ended = once(worker, 'exit');
  ends.push(async () => {
    worker.kill();
    await ended;
  });
  return worker;
}

/** Has the worker take messages, as Lambda would, until the queue is empty. */
async function workOff(
  worker: ChildProcess,
  environment: Environment,
  job: ExportJob,
): Promise<Pick<ExportRow, 'runs' | 'peakMb'>> {
  const sqs = sqsAt(environment.AWS_ENDPOINT_URL_SQS);
  const died = once(worker, 'exit').then(([code, signal]): never => {
    throw new Error(`The worker of the export ended with ${code ?? signal}.`);
  });
  // It ends in the end too, when nobody asks any more.
  died.catch(() => {});
  let runs = 0;
  let peakMb = 0;
  for (let body: string | undefined = JSON.stringify(job); body !== undefined; runs++) {
    const replied = once(worker, 'message');
    worker.send({ body, seconds: exportWorker.timeout });
    const [{ failed, peak }] = (await Promise.race([replied, died])) as [{ failed: boolean; peak: number }];
    if (failed) throw new Error('The worker of the export failed.');
    peakMb = peak;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: environment.QUEUE_EXPORT_URL, VisibilityTimeout: 3_600 }),
    );
    body = Messages[0]?.Body;
  }
  sqs.destroy();
  return { runs, peakMb };
}

/** Reads the archive back and checks it. */
async function readArchive(
  environment: Environment,
  { realm, token }: ExportJob,
): Promise<Inspection & { readonly bytes: number }> {
  const { table } = makeOutside(environment);
  const { state } = (await table.get(exportKey(realm, token))) ?? {};
  if (state !== 'succeeded') throw new Error(`The export is not done, but ${state}.`);
  const link = await s3Objects(environment).link(EXPORTS, archiveKey(realm, token), 600, 'export.tar.gz');
  const { body } = await fetch(link);
  let bytes = 0;
  const archive = Readable.fromWeb(body as ReadableStream).on('data', ({ length }) => {
    bytes += length;
  });
  return { ...(await inspectExport(archive)), bytes };
}
