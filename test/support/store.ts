import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { TestProject } from 'vitest/node';
import { createKeyService } from '../../infra/local/key-service.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { createSecretService } from '../../infra/local/secret-service.ts';
import { startSqsS3Store } from '../../infra/local/sqs-s3-store.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the store of this run answers. */
    dynamodb: string;
    /** Where SQS and S3 of this run answer. */
    sqsS3: string;
    /** Where the key service and the secrets of this run answer. */
    kms: string;
    secretsManager: string;
  }
}

/** The one table of a test run; each test has a realm of its own in it. */
export const TABLE = 'parlance-test';

/** The secrets of the operator of a test run. */
export const secrets: ReadonlyMap<string, string> = new Map(
  [...endpoints, ...workers].flatMap(({ needs }) =>
    (needs.secrets ?? []).map((name) => [name, `the ${name} of the tests`]),
  ),
);

/** Every bucket that is declared, and one that belongs to nobody. */
const bucketNames = new Set([
  'sample',
  ...[...endpoints, ...workers].flatMap(({ needs }) => Object.keys(needs.buckets ?? {})),
]);

/** The bucket of this name in a test run; objects begin with the realm, as the items of the table do. */
export const bucketOf = (name: string): string => `test-${name}`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * Starts the real local stores before all tests: DynamoDB in memory (or `DYNAMODB_ENDPOINT`) with the table, SQS and S3
 * with the buckets, the key service and the secrets.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let endpoint = process.env.DYNAMODB_ENDPOINT;
  let store: ChildProcess | undefined;
  if (endpoint === undefined) {
    const port = await freePort();
    const binary = new URL('../../node_modules/@dynoxide/linux-x64/dynoxide', import.meta.url).pathname;
    // It does one thing at a time; a second thread would only wait for the first, and wake it.
    const env = { TOKIO_WORKER_THREADS: '1' };
    store = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore', env });
    endpoint = `http://127.0.0.1:${port}`;
  }
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  for (let attempt = 0; ; attempt++) {
    try {
      await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
      break;
    } catch (error) {
      if (error instanceof Error && error.name === 'ResourceInUseException') break;
      if (attempt === 50) throw error;
      await wait(100);
    }
  }
  project.provide('dynamodb', endpoint);
  const folder = await mkdtemp(join(tmpdir(), 'parlance-objects-'));
  const objects = await startSqsS3Store(folder, { region: 'us-east-1' });
  for (const name of bucketNames) objects.ensureBucket(bucketOf(name));
  project.provide('sqsS3', objects.endpoint.origin);
  const keyService = createKeyService(join(folder, 'key'));
  const secretService = createSecretService(secrets);
  project.provide('kms', (await listenOnLoopback(keyService, 0)).origin);
  project.provide('secretsManager', (await listenOnLoopback(secretService, 0)).origin);
  return async () => {
    store?.kill();
    for (const service of [keyService, secretService]) service.close();
    await objects.stop();
    await rm(folder, { recursive: true });
  };
}
