/**
 * Measures the export of a large organization: `node test/exports/measure.ts [messages]`, 250,000 unless said otherwise.
 *
 * The messages are put straight into a store of its own; the worker is the very bundle that Lambda gets, in a process
 * of its own, so that its memory is only its own. The archive is read back and checked in the end.
 */
import { fork } from 'node:child_process';
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
import { inspectExport } from '../../infra/local/export-archive.ts';
import { startSqsS3Store } from '../../infra/local/sqs-s3-store.ts';
import { doRequestExport } from '../../shared/domain/export/export-request.ts';
import { archiveKey, EXPORTS, exportKey, type RealmExport } from '../../shared/domain/export/realm-export.ts';
import { planDemo } from '../../shared/domain/realm/demo.ts';
import type { Realm } from '../../shared/domain/realm/realm.ts';
import type { User } from '../../shared/domain/user/user.ts';
import { exportWorker } from '../../shared/endpoints/export.ts';
import { commit } from '../../shared/log/commit.ts';
import { s3Objects } from '../../shared/objects/objects.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { documentClient } from '../../shared/table/client.ts';
import { key } from '../../shared/table/keys.ts';
import { tableDefinition } from '../../shared/table/schema.ts';
import { TABLE } from '../store.ts';
import { givenHistory } from './history.ts';

const count = Number(process.argv[2] ?? 250_000);
const folder = await mkdtemp(join(tmpdir(), 'parlance-measure-'));

/** Says how long (s) something took. */
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

const WORDS =
  'tea milk sugar meeting tomorrow really deploy broken thanks why who is there no one yes, but'.split(' ');

/** What people say: some words, now and then very many; the same in every run. */
function textOf(index: number): { readonly content: string; readonly rendered: string } {
  let seed = index + 1;
  const next = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const length = index % 500 === 0 ? 1_500 : 5 + next(60);
  const word = (): string => `${WORDS[next(WORDS.length)]}${next(4) === 0 ? next(1_000) : ''}`;
  const content = Array.from({ length }, word).join(' ');
  return { content, rendered: `<p>${content}</p>` };
}

const dynamo = await startDynamoStore(':memory:', undefined);
const stores = await startSqsS3Store(folder, { region: 'us-east-1' });
stores.ensureBucket(EXPORTS);
stores.ensureBucket('images');
const origin = stores.endpoint.origin;
const environment = {
  TABLE_NAME: TABLE,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'measure',
  AWS_SECRET_ACCESS_KEY: 'measure',
  AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint.origin,
  AWS_ENDPOINT_URL_SQS: origin,
  AWS_ENDPOINT_URL_S3: origin,
  BUCKET_EXPORTS: EXPORTS,
  BUCKET_IMAGES: 'images',
  QUEUE_EXPORT_URL: `${origin}/000000000000/export`,
};
Object.assign(process.env, environment);

const client = new DynamoDBClient({ endpoint: environment.AWS_ENDPOINT_URL_DYNAMODB, region: 'us-east-1' });
await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
const sqs = new SQSClient({ endpoint: origin, region: 'us-east-1' });
await sqs.send(new CreateQueueCommand({ QueueName: 'export' }));

const outside = makeOutside(environment);
const { demo, create } = planDemo(outside, { host: 'measure.test', name: 'Measure' });
await create();
const { realm, channels } = demo;
const log = { table: outside.table, realm, now: outside.now, wait: outside.wait };
const [member, admin, owner] = ['member', 'admin', 'owner'].map((name) =>
  demo.accounts.find((account) => account.name === name),
);
if (!member || !admin || !owner) throw new Error('the demo has no such people');
await timed(`putting ${count} messages into the store`, () =>
  givenHistory({ log, channels, people: { member, admin } }, documentClient(environment), count, textOf),
);

const [stored, user] = await Promise.all([
  outside.table.get<Realm>(key('realm', { realm })),
  outside.table.get<User>(key('user', { realm, userId: owner.userId })),
]);
if (!stored || !user) throw new Error('there is no realm');
const token = outside.uuid();
await commit(log, 1, ([exportId = 0]) => {
  const wanted = { exportId, token, type: 'full_without_consent' as const };
  const ground = { quota: undefined, counter: undefined, consenter: undefined };
  return doRequestExport({ realmId: realm, realm: stored, user }, wanted, ground, outside.now());
});

const { bundles } = await buildFunctions({
  endpoints: [],
  workers: [exportWorker],
  outdir: join(folder, 'dist'),
});
const worker = fork(join(import.meta.dirname, 'measure-worker.mjs'), [bundles.export?.directory ?? ''], {
  env: environment,
  execArgv: [`--max-old-space-size=${process.env.HEAP_MB ?? 160}`],
});

/** Has the worker take a message, as Lambda would, and tells the most memory (MB) that it ever had. */
async function work(body: string): Promise<number> {
  const replied = once(worker, 'message');
  worker.send({ body, seconds: exportWorker.timeout });
  const [{ failed, peak }] = (await replied) as [{ failed: boolean; peak: number }];
  if (failed) throw new Error('the worker failed');
  return peak;
}

let runs = 0;
let peak = 0;
await timed('the export', async () => {
  for (let body: string | undefined = JSON.stringify({ realm, token }); body !== undefined; runs++) {
    peak = await work(body);
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: environment.QUEUE_EXPORT_URL, VisibilityTimeout: 3_600 }),
    );
    body = Messages[0]?.Body;
  }
});
worker.disconnect();
const { state } = (await outside.table.get<RealmExport>(exportKey(realm, token))) ?? {};
console.log(`state: ${state}, runs: ${runs}, peak memory of the worker: ${peak.toFixed(0)} MB`);

const link = await s3Objects(environment).link(EXPORTS, archiveKey(realm, token), 600, 'export.tar.gz');
const answer = await fetch(link);
let size = 0;
const archive = Readable.fromWeb(answer.body as ReadableStream).on('data', ({ length }) => {
  size += length;
});
const inspection = await timed('reading and checking the archive', () => inspectExport(archive));
console.log(`archive: ${(size / 1e6).toFixed(1)} MB, ${inspection.files} files`, inspection.counts);
for (const problem of inspection.problems) console.error(problem);
const isWhole =
  state === 'succeeded' && inspection.problems.length === 0 && inspection.counts.messages === count;
console.log(isWhole ? 'The archive is whole.' : 'The archive is not as it should be.');

await dynamo.stop();
await stores.stop();
await rm(folder, { recursive: true });
process.exit(isWhole ? 0 : 1);
