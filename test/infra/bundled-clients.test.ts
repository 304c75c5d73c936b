import { randomUUID } from 'node:crypto';
import dns from 'node:dns';
import type { Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { buildFunctions } from '../../infra/build.ts';
import { replacements } from '../../infra/bundle-plugins.ts';
import { createKeyService } from '../../infra/local/key-service.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { createSecretService } from '../../infra/local/secret-service.ts';
import { type SqsS3Store, startSqsS3Store } from '../../infra/local/sqs-s3-store.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { variable } from '../../shared/environment.ts';
import type { Key } from '../../shared/table/keys.ts';
import { TABLE } from '../support/store.ts';
import { failed, newWay as openWay } from '../support/store-proxy.ts';
import type * as Ways from './fixtures/bundled/workers/key-and-secret.ts';
import type * as Clients from './fixtures/bundled/workers/queue-and-bucket.ts';
import type * as Source from './fixtures/bundled/workers/table.ts';
import { temporaryFolder } from './fixtures/synthesized.ts';

const outdir = await temporaryFolder();
const sources = join(import.meta.dirname, 'fixtures/bundled');
const { bundles } = await buildFunctions({
  endpoints: [],
  workers: [{ id: 'table' }, { id: 'queue-and-bucket' }, { id: 'key-and-secret' }],
  sources,
  outdir,
});
const importBundle = <M>(id: string): Promise<M> => import(join(bundles[id]?.directory ?? '', 'index.mjs'));
const bundled = await importBundle<typeof Source>('table');
const source: typeof Source = await import('./fixtures/bundled/workers/table.ts');

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

/** Makes a key that no other test has. */
const newKey = (): Key => ({ pk: `bundled/${randomUUID()}`, sk: 'item' });

const throttled = failed(400, 'ProvisionedThroughputExceededException');
const conflicting = failed(400, 'ReplicatedWriteConflictException');
const broken = failed(500, 'InternalServerError');
const cutOff = (reply: ServerResponse): void => void reply.destroy();
const silent = (): void => {};
const unfinished = (reply: ServerResponse): void => {
  reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
  reply.write('{');
};

/** A way to the store that ends with the tests. */
async function newWay() {
  const way = await openWay();
  openWays.push(way);
  return way;
}

const openWays: Awaited<ReturnType<typeof openWay>>[] = [];
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
  for (const way of openWays) way.close();
});

// What holds of the source is the measure for the bundle, so both go through the same.
describe.concurrent.each([
  ['the source', source],
  ['the bundle', bundled],
])('the table from %s', (_, { tableClient, Table }) => {
  const tableAt = (endpoint: string, name = TABLE) =>
    new Table(name, tableClient({ AWS_ENDPOINT_URL_DYNAMODB: endpoint }));
  const table = tableAt(inject('dynamodb'));

  test('reads what it wrote, for any type', async () => {
    const key = newKey();
    const item = {
      text: 'Grüße ✓',
      number: -12.5,
      large: 2 ** 53 - 1,
      yes: true,
      nothing: null,
      list: [1, 'two', { three: [3] }],
      bytes: new Uint8Array([0, 255]),
      numbers: new Set([3, 1]),
    };
    await table.put(key, item);
    expect(await table.get(key)).toEqual({ ...key, ...item });
    expect((await table.storedPage({ pk: key.pk })).items).toEqual([{ ...key, ...item }]);
    const changed = await table.update(key, { add: { number: 0.5, numbers: new Set([2]) } });
    expect(changed).toMatchObject({ number: -12, numbers: new Set([1, 2, 3]) });
  });

  test('reports which conditions of a transaction failed, and on which items', async () => {
    const [present, missing] = [newKey(), newKey()];
    const item = { bytes: new Uint8Array([1, 2]), numbers: new Set([1, 2]), deep: { list: [null, 'x'] } };
    const first = await table.transact([{ put: present, item, when: { absent: true } }], randomUUID());
    expect(first).toEqual({ state: 'done' });
    const second = await table.transact(
      [
        { put: newKey(), item: {} },
        { put: present, item: {}, when: { absent: true } },
        { check: missing, when: { absent: false } },
      ],
      randomUUID(),
    );
    expect(second).toEqual({
      state: 'refused',
      refused: [
        { index: 1, item: { ...present, ...item } },
        { index: 2, item: undefined },
      ],
    });
  });

  test('reports by name why a write outside a transaction was refused', async () => {
    const key = newKey();
    await table.put(key, {}, { absent: true });
    await expect(table.put(key, {}, { absent: true })).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    });
  });

  test('reports name, message and status of errors that have nothing else', async () => {
    const elsewhere = tableAt(inject('dynamodb'), 'elsewhere');
    await expect(elsewhere.get(newKey())).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: expect.stringContaining('not found'),
      $fault: 'client',
      $metadata: { httpStatusCode: 400, attempts: 1 },
    });
    const invalid = table.transact([{ put: { pk: '', sk: '' }, item: {} }], randomUUID());
    await expect(invalid).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test.each([
    ['throttled', throttled],
    ['broken', broken],
    ['cut off', cutOff],
  ])('tries again if a request is %s, and then gives up', async (_mishap, mishap) => {
    const way = await newWay();
    const hard = tableAt(way.endpoint);
    const key = newKey();
    way.mishaps = [mishap, mishap];
    await hard.put(key, { number: 1 });
    expect(way.requests).toBe(3);

    way.mishaps = [mishap, mishap, mishap];
    const outcome = await hard.transact([{ update: key, change: { add: { number: 1 } } }], randomUUID());
    expect(outcome.state).toBe('unsure');
    expect(way.requests).toBe(6);
    expect(await hard.get(key)).toMatchObject({ number: 1 });
  });

  test('tries again after an error that is retryable only by its class', async () => {
    const way = await newWay();
    way.mishaps = [conflicting];
    await tableAt(way.endpoint).put(newKey(), {});
    expect(way.requests).toBe(2);
  });

  test.each([
    ['that does not come', silent],
    ['that does not end', unfinished],
  ])('waits two seconds for a reply %s, then tries again', async (_mishap, mishap) => {
    const way = await newWay();
    way.mishaps = [mishap];
    const begun = performance.now();
    await tableAt(way.endpoint).put(newKey(), {});
    expect(performance.now() - begun).toBeGreaterThan(1_900);
    expect(way.requests).toBe(2);
  });
});

test('the bundle finds DynamoDB where the source does', () => {
  const regions = [
    'us-east-1',
    'eu-central-1',
    'il-central-1',
    'mx-central-1',
    'cn-north-1',
    'us-gov-west-1',
  ];
  const further = ['us-gov-east-1', 'us-iso-east-1', 'us-isob-east-1', 'eu-isoe-west-1', 'eusc-de-east-1'];
  const host = ({ DynamoDBClient }: typeof Source, parameters: object): string => {
    try {
      return new DynamoDBClient({}).config.endpointProvider(parameters as never).url.href;
    } catch {
      return 'nowhere';
    }
  };
  for (const Region of [...regions, ...further, 'xx-new-1']) {
    for (const UseFIPS of [false, true]) {
      for (const UseDualStack of [false, true]) {
        const parameters = { Region, UseFIPS, UseDualStack, AccountIdEndpointMode: 'preferred' };
        const place = host(source, parameters);
        // The source also refuses what a partition does not have; to the bundle it is a host that does not exist.
        if (place !== 'nowhere') expect(host(bundled, parameters), JSON.stringify(parameters)).toBe(place);
      }
    }
    const Endpoint = 'http://127.0.0.1:8000/';
    expect(host(bundled, { Region, Endpoint })).toBe(host(source, { Region, Endpoint }));
  }
});

describe('the clients of workers in a bundle', () => {
  let store: SqsS3Store;
  let clients: typeof Clients;
  const config = () => ({ region: 'us-east-1', endpoint: store.endpoint.href });

  beforeAll(async () => {
    store = await startSqsS3Store(await temporaryFolder(), { region: 'us-east-1' });
    clients = await importBundle<typeof Clients>('queue-and-bucket');
  });
  afterAll(() => store.stop());

  test('send and receive messages of a queue', async () => {
    const url = `${store.endpoint.origin}/000000000000/work`;
    const arn = 'arn:aws:sqs:us-east-1:000000000000:work';
    store.ensureQueue({ name: 'work', url, arn, attributes: {} });
    const sqs = new clients.SQSClient(config());
    const Entries = ['one', 'zwei ✓'].map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    const sent = await sqs.send(new clients.SendMessageBatchCommand({ QueueUrl: url, Entries }));
    expect(sent.Successful).toHaveLength(2);
    const received = await sqs.send(
      new clients.ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }),
    );
    expect(received.Messages?.map(({ Body }) => Body).sort()).toEqual(['one', 'zwei ✓']);
    const nowhere = new clients.ReceiveMessageCommand({ QueueUrl: `${url}-gone` });
    await expect(sqs.send(nowhere)).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
  });

  test('put, list and get objects of a bucket', async () => {
    store.ensureBucket('files');
    const s3 = new clients.S3Client({ ...config(), forcePathStyle: true });
    const Body = Buffer.from('Grüße');
    await s3.send(new clients.PutObjectCommand({ Bucket: 'files', Key: 'a b.txt', Body }));
    const listed = await s3.send(new clients.ListObjectsV2Command({ Bucket: 'files' }));
    expect(listed.Contents).toMatchObject([{ Key: 'a b.txt', Size: 7, LastModified: expect.any(Date) }]);
    const got = await s3.send(new clients.GetObjectCommand({ Bucket: 'files', Key: 'a b.txt' }));
    expect(await got.Body?.transformToString()).toBe('Grüße');
    const gone = new clients.GetObjectCommand({ Bucket: 'files', Key: 'gone' });
    await expect(s3.send(gone)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });
});

describe('the clients for the operator’s secrets in a bundle', () => {
  let ways: typeof Ways;
  const listening = async (server: Server): Promise<string> => {
    servers.push(server);
    return (await listenOnLoopback(server, 0)).href;
  };

  beforeAll(async () => {
    ways = await importBundle<typeof Ways>('key-and-secret');
  });

  test('seal data that only the same context can open', async () => {
    const keys = createKeyService(join(await temporaryFolder(), 'key'));
    const vault = ways.kmsVault({ AWS_ENDPOINT_URL_KMS: await listening(keys), KEY_ARN: 'arn:key' });
    const sealed = await vault.seal('Grüße', { user: '7' });
    expect(sealed).not.toContain('Gr');
    expect(await vault.open(sealed, { user: '7' })).toBe('Grüße');
    await expect(vault.open(sealed, { user: '8' })).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
      message: expect.stringContaining('not sealed'),
      $metadata: { httpStatusCode: 400, attempts: 1 },
    });
  });

  test('read a secret, and recognize the error for a missing one by its name', async () => {
    const server = createSecretService(new Map([['RELAY_KEY', 'swordfish']]));
    const environment = {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: await listening(server),
      [variable('SECRET', 'one')]: 'parlance/RELAY_KEY',
      [variable('SECRET', 'other')]: 'parlance/OTHER',
    };
    const secrets = ways.awsSecrets(environment);
    expect(await secrets.get('one')).toBe('swordfish');
    expect(await secrets.get('other')).toBeUndefined();
  });
});

test('without an endpoint in the environment, as in Lambda, each client uses its service in its region', async () => {
  const asked = new Set<string>();
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((host: string, ...rest: unknown[]) => {
    asked.add(host);
    const done = rest.at(-1) as (error: Error) => void;
    done(Object.assign(new Error('There is no network here.'), { code: 'ENOTFOUND' }));
  }) as never);
  const region = 'eu-central-1';
  const environment = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    KEY_ARN: 'arn:key',
    [variable('SECRET', 'one')]: 'arn:secret',
    [variable('BUCKET', 'images')]: 'images-of-ours',
  };
  const clients = await importBundle<typeof Clients>('queue-and-bucket');
  const ways = await importBundle<typeof Ways>('key-and-secret');
  const QueueUrl = `https://sqs.${region}.amazonaws.com/123456789012/work`;
  const ended = await Promise.allSettled([
    new bundled.Table('T', bundled.tableClient(environment)).get(newKey()),
    new clients.SQSClient({ region }).send(new clients.ReceiveMessageCommand({ QueueUrl })),
    new clients.S3Client({ region }).send(new clients.GetObjectCommand({ Bucket: 'exports', Key: 'x' })),
    ways.kmsVault(environment).seal('x', {}),
    ways.awsSecrets(environment).get('one'),
    s3Objects(environment).get('images', 'x'),
  ]);
  lookup.mockRestore();
  expect(ended.map(({ status }) => status)).not.toContain('fulfilled');
  expect([...asked].sort()).toEqual(
    ['dynamodb', 'exports.s3', 'images-of-ours.s3', 'kms', 'secretsmanager', 'sqs'].map(
      (name) => `${name}.${region}.amazonaws.com`,
    ),
  );
});

test('every module that the build replaces still exists', async () => {
  const { inputs } = await import(join(outdir, 'metafile.json'), { with: { type: 'json' } }).then(
    (it) => it.default,
  );
  for (const module of Object.keys(replacements)) expect(inputs).toHaveProperty([`node_modules/${module}`]);
});
