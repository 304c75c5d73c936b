import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { discard, type SampleCloud, startSampleCloud } from './sample-cloud.ts';
import { sampleTable } from './sample-template.ts';

interface Outcome {
  readonly ok: boolean;
  readonly output?: Record<string, unknown>;
  readonly name?: string;
  readonly message?: string;
  readonly status?: number;
}

const TableName = `door-${crypto.randomUUID()}`;
const arn = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });
const allow = (Action: string[], Resource: object) => ({ Effect: 'Allow', Action, Resource });
const inside = (resource: string, path: string) => ({ 'Fn::Join': ['', [arn(resource), path]] });

let cloud: SampleCloud;

beforeAll(async () => {
  cloud = await startSampleCloud({
    functions: {
      reader: {
        code: 'caller',
        statements: [
          allow(['dynamodb:GetItem', 'dynamodb:Query'], arn('Table')),
          allow(['s3:GetObject'], inside('Files', '/*')),
        ],
      },
      writer: {
        code: 'caller',
        statements: [
          allow(['dynamodb:PutItem', 'dynamodb:ConditionCheckItem'], arn('Table')),
          allow(['dynamodb:Query'], inside('Table', '/index/by-kind')),
          allow(['sqs:SendMessage'], arn('Work')),
          allow(['kms:Encrypt', 'kms:Decrypt'], arn('Key')),
          allow(['secretsmanager:GetSecretValue'], { Ref: 'Secret' }),
          allow(['s3:PutObject', 's3:AbortMultipartUpload'], inside('Files', '/public/*')),
          allow(['s3:GetObject'], inside('Files', '/public/*')),
          allow(['s3:ListBucket'], arn('Files')),
          { Effect: 'Deny', Action: 's3:*', Resource: inside('Files', '/public/secret/*') },
        ],
      },
      nobody: { code: 'caller' },
    },
    resources: {
      Table: sampleTable(TableName),
      Work: { Type: 'AWS::SQS::Queue', Properties: {} },
      Key: { Type: 'AWS::KMS::Key', Properties: {} },
      Secret: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'Sample/password' } },
      Other: { Type: 'AWS::SQS::Queue', Properties: {} },
      Files: { Type: 'AWS::S3::Bucket', Properties: {} },
    },
  });
});

afterAll(() => discard(cloud));

async function call(name: string, service: string, command: string, input: object): Promise<Outcome> {
  const result = await cloud.invoke(name, JSON.stringify({ service, command, input }));
  if (result.outcome !== 'success') throw new Error(`${name} did not answer: ${JSON.stringify(result)}`);
  return JSON.parse(result.payload);
}

const item = (sk: string) => ({ pk: { S: 'p' }, sk: { S: sk }, kind: { S: 'k' } });
const keyOf = (sk: string) => ({ pk: { S: 'p' }, sk: { S: sk } });
const queueUrl = (name: string) => cloud.service.queues.find((queue) => queue.name === name)?.url ?? '';
const refused = (action: string, resource: RegExp | string) =>
  expect.objectContaining({
    ok: false,
    message: expect.stringMatching(
      new RegExp(
        `assumed-role/\\w+Role/\\w+ is not authorized to perform: ${action} on resource: .*${resource}`,
      ),
    ),
  });

describe('KMS and Secrets Manager', () => {
  const KeyId = 'arn:aws:kms:us-east-1:000000000000:key/Key';
  const SecretId = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Sample/password';

  test('allow a function what its role allows', async () => {
    const sealed = await call('writer', 'kms', 'Encrypt', { KeyId, Plaintext: { 0: 1 } });
    expect(sealed).toMatchObject({ ok: true, output: { KeyId } });
    // The secret has no value; a caller without permission does not even learn that.
    expect(await call('writer', 'secretsmanager', 'GetSecretValue', { SecretId })).toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  test('refuse all others, and name the key and the secret', async () => {
    expect(await call('reader', 'kms', 'Encrypt', { KeyId, Plaintext: { 0: 1 } })).toEqual(
      refused('kms:Encrypt', 'key/Key'),
    );
    expect(await call('nobody', 'secretsmanager', 'GetSecretValue', { SecretId })).toEqual(
      refused('secretsmanager:GetSecretValue', 'secret:Sample/password'),
    );
  });
});

describe('DynamoDB', () => {
  test('allows a function what its role allows', async () => {
    expect(await call('writer', 'dynamodb', 'PutItem', { TableName, Item: item('1') })).toMatchObject({
      ok: true,
    });
    expect(await call('reader', 'dynamodb', 'GetItem', { TableName, Key: keyOf('1') })).toMatchObject({
      output: { Item: item('1') },
    });
  });

  test('refuses the rest with AccessDeniedException, and names function, action and resource', async () => {
    const answer = await call('reader', 'dynamodb', 'PutItem', { TableName, Item: item('2') });
    expect(answer).toEqual({
      ok: false,
      name: 'AccessDeniedException',
      status: 400,
      message: `User: arn:aws:sts::000000000000:assumed-role/readerRole/reader is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table/${TableName} because no identity-based policy allows the dynamodb:PutItem action`,
    });
    const untouched = await call('reader', 'dynamodb', 'GetItem', { TableName, Key: keyOf('2') });
    expect(untouched.output?.Item).toBeUndefined();
  });

  test('requires permission for every part of a transaction', async () => {
    const Put = { TableName, Item: item('3') };
    const ConditionCheck = { TableName, Key: keyOf('1'), ConditionExpression: 'attribute_exists(pk)' };
    const Delete = { TableName, Key: keyOf('1') };
    const mixed = { TransactItems: [{ Put }, { Delete }] };
    expect(await call('writer', 'dynamodb', 'TransactWriteItems', mixed)).toEqual(
      refused('dynamodb:DeleteItem', TableName),
    );
    expect(
      (await call('reader', 'dynamodb', 'GetItem', { TableName, Key: keyOf('3') })).output?.Item,
    ).toBeUndefined();
    const allowed = { TransactItems: [{ Put }, { ConditionCheck }] };
    expect(await call('writer', 'dynamodb', 'TransactWriteItems', allowed)).toMatchObject({ ok: true });
    expect(
      (await call('reader', 'dynamodb', 'GetItem', { TableName, Key: keyOf('3') })).output?.Item,
    ).toBeDefined();
    const get = { TransactItems: [{ Get: { TableName, Key: keyOf('3') } }] };
    expect(await call('reader', 'dynamodb', 'TransactGetItems', get)).toMatchObject({ ok: true });
    expect(await call('writer', 'dynamodb', 'TransactGetItems', get)).toEqual(
      refused('dynamodb:GetItem', TableName),
    );
  });

  test('distinguishes a table from its indexes', async () => {
    const ofTable = {
      TableName,
      KeyConditionExpression: 'pk = :p',
      ExpressionAttributeValues: { ':p': { S: 'p' } },
    };
    const ofIndex = {
      TableName,
      IndexName: 'by-kind',
      KeyConditionExpression: 'kind = :k',
      ExpressionAttributeValues: { ':k': { S: 'k' } },
    };
    expect(await call('reader', 'dynamodb', 'Query', ofTable)).toMatchObject({ ok: true });
    expect(await call('reader', 'dynamodb', 'Query', ofIndex)).toEqual(
      refused('dynamodb:Query', '/index/by-kind'),
    );
    expect(await call('writer', 'dynamodb', 'Query', ofIndex)).toMatchObject({ ok: true });
    expect(await call('writer', 'dynamodb', 'Query', ofTable)).toEqual(refused('dynamodb:Query', TableName));
  });

  test('does not allow a batch or a scan by the permission to read single items', async () => {
    const batch = { RequestItems: { [TableName]: { Keys: [keyOf('1')] } } };
    expect(await call('reader', 'dynamodb', 'BatchGetItem', batch)).toEqual(
      refused('dynamodb:BatchGetItem', TableName),
    );
    expect(await call('reader', 'dynamodb', 'Scan', { TableName })).toEqual(
      refused('dynamodb:Scan', TableName),
    );
  });

  test('allows a function no other table, whether it exists or not', async () => {
    expect(
      await call('writer', 'dynamodb', 'PutItem', { TableName: 'parlance-test', Item: item('1') }),
    ).toEqual(refused('dynamodb:PutItem', 'table/parlance-test'));
    expect(await call('nobody', 'dynamodb', 'ListTables', {})).toEqual(refused('dynamodb:ListTables', '\\*'));
  });
});

describe('SQS', () => {
  test('lets a function send to its queue, one message or several', async () => {
    const message = { QueueUrl: queueUrl('Work'), MessageBody: 'hello' };
    expect(await call('writer', 'sqs', 'SendMessage', message)).toMatchObject({ ok: true });
    const batch = { QueueUrl: queueUrl('Work'), Entries: [{ Id: '1', MessageBody: 'one' }] };
    expect(await call('writer', 'sqs', 'SendMessageBatch', batch)).toMatchObject({ ok: true });
  });

  test('refuses other queues and other actions', async () => {
    const elsewhere = { QueueUrl: queueUrl('Other'), MessageBody: 'hello' };
    expect(await call('writer', 'sqs', 'SendMessage', elsewhere)).toMatchObject({
      name: 'AccessDeniedException',
      status: 400,
      message: expect.stringContaining(
        'sqs:SendMessage on resource: arn:aws:sqs:us-east-1:000000000000:Other',
      ),
    });
    const receive = { QueueUrl: queueUrl('Work') };
    expect(await call('writer', 'sqs', 'ReceiveMessage', receive)).toEqual(
      refused('sqs:ReceiveMessage', ':Work'),
    );
  });
});

describe('S3', () => {
  const Bucket = 'files';

  test('uploads and downloads objects of some size', async () => {
    const Body = 'x'.repeat(3_000_000);
    expect(await call('writer', 's3', 'PutObject', { Bucket, Key: 'public/a b', Body })).toMatchObject({
      ok: true,
    });
    const { output } = await call('reader', 's3', 'GetObject', { Bucket, Key: 'public/a b' });
    expect(output?.Body === Body).toBe(true);
  });

  test('refuses with 403 and AccessDenied, whole buckets as well as keys', async () => {
    const Body = 'x';
    const answer = await call('reader', 's3', 'PutObject', { Bucket, Key: 'public/x', Body });
    expect(answer).toMatchObject({ name: 'AccessDenied', status: 403 });
    expect(answer).toEqual(refused('s3:PutObject', 'arn:aws:s3:::files/public/x'));
    expect(await call('writer', 's3', 'PutObject', { Bucket, Key: 'private/x', Body })).toMatchObject({
      status: 403,
    });
    expect(await call('reader', 's3', 'ListObjectsV2', { Bucket })).toEqual(
      refused('s3:ListBucket', 'files'),
    );
  });

  test('enforces an explicit deny', async () => {
    const answer = await call('writer', 's3', 'PutObject', { Bucket, Key: 'public/secret/x', Body: 'x' });
    expect(answer.message).toMatch(/with an explicit deny in an identity-based policy$/);
  });

  test('does not reveal a missing object to a function that may not list', async () => {
    const missing = { Bucket, Key: 'public/missing' };
    expect(await call('reader', 's3', 'GetObject', missing)).toMatchObject({
      name: 'AccessDenied',
      status: 403,
    });
    expect(await call('reader', 's3', 'HeadObject', missing)).toMatchObject({ status: 403 });
    expect(await call('writer', 's3', 'GetObject', missing)).toMatchObject({
      name: 'NoSuchKey',
      status: 404,
    });
  });

  test('checks the permission for every object of a batch deletion', async () => {
    const Delete = { Objects: [{ Key: 'public/a b' }] };
    expect(await call('writer', 's3', 'DeleteObjects', { Bucket, Delete })).toEqual(
      refused('s3:DeleteObject', 'files/public/a b'),
    );
  });
});

describe('the local IAM proxy', () => {
  const endpoint = () => new URL(queueUrl('Work')).origin;

  test('accepts only the credentials of functions', async () => {
    const signature = (service: string) =>
      `AWS4-HMAC-SHA256 Credential=AKIDSTRANGER/20261120/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`;
    const knock = (service: string, authorization = signature(service)) =>
      fetch(endpoint(), { method: 'POST', body: '{}', headers: { authorization } });
    const dynamodb = await knock('dynamodb');
    expect([dynamodb.status, await dynamodb.text()]).toEqual([
      400,
      expect.stringContaining('UnrecognizedClientException'),
    ]);
    expect(await (await knock('sqs')).text()).toContain('InvalidClientTokenId');
    const s3 = await knock('s3');
    expect([s3.status, await s3.text()]).toEqual([
      403,
      expect.stringContaining('<Code>InvalidAccessKeyId</Code>'),
    ]);
    expect((await knock('s3', '')).status).toBe(403);
    expect((await knock('iam')).status).toBe(403);
  });

  test('records the allowed actions of each function, and no refused ones', () => {
    const used = cloud.door.used('writer').map(({ action }) => action);
    expect(used).toContain('dynamodb:ConditionCheckItem');
    expect(used).toContain('sqs:SendMessage');
    expect(used).not.toContain('dynamodb:DeleteItem');
    expect(cloud.door.used('nobody')).toEqual([]);
  });
});
