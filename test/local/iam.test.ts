import { describe, expect, test } from 'vitest';
import { dynamodbAccess } from '../../infra/local/dynamodb-access.ts';
import { evaluate, readPolicy } from '../../infra/local/iam.ts';
import { s3Access } from '../../infra/local/s3-access.ts';
import { sqsAccess } from '../../infra/local/sqs-access.ts';

const place = { region: 'us-east-1', accountId: '000000000000' };
const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/chat';

const policy = (...statements: object[]) => readPolicy({ Version: '2012-10-17', Statement: statements });
const allow = (Action: string | string[], Resource: string | string[]) => ({
  Effect: 'Allow',
  Action,
  Resource,
});

describe('a role’s policies', () => {
  test.each([
    ['the very action on the very resource', allow('s3:GetObject', 'arn:aws:s3:::b/k'), true],
    ['an action in other letters', allow('S3:getobject', 'arn:aws:s3:::b/k'), true],
    ['a resource in other letters', allow('s3:GetObject', 'arn:aws:s3:::B/k'), false],
    [
      'one of several',
      allow(['s3:PutObject', 's3:GetObject'], ['arn:aws:s3:::a/*', 'arn:aws:s3:::b/*']),
      true,
    ],
    ['a star over slashes and colons', allow('s3:Get*', 'arn:*/k'), true],
    ['a question mark for one character', allow('s3:GetObjec?', 'arn:aws:s3:::?/k'), true],
    ['a question mark for none', allow('s3:GetObject?', '*'), false],
    ['a dot that is only a dot', allow('s3.GetObject', '*'), false],
    ['the beginning of a resource', allow('s3:GetObject', 'arn:aws:s3:::b'), false],
    ['all actions but others', { Effect: 'Allow', NotAction: 's3:Put*', Resource: '*' }, true],
    ['all resources but this', { Effect: 'Allow', Action: 's3:*', NotResource: 'arn:aws:s3:::b/*' }, false],
  ])('allow %s or not', (_, statement, allowed) => {
    const verdict = evaluate(policy(statement), { action: 's3:GetObject', resource: 'arn:aws:s3:::b/k' });
    expect(verdict).toBe(allowed ? 'allowed' : 'not allowed');
  });

  test('deny an action that one statement denies, whatever others allow', () => {
    const statements = policy(allow('s3:*', '*'), {
      Effect: 'Deny',
      Action: 's3:DeleteObject',
      Resource: '*',
    });
    expect(evaluate(statements, { action: 's3:DeleteObject', resource: 'x' })).toBe('denied');
    expect(evaluate(statements, { action: 's3:GetObject', resource: 'x' })).toBe('allowed');
  });

  test('allow actions limited to some partitions only in these', () => {
    const statements = policy({
      ...allow('dynamodb:UpdateItem', '*'),
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['*/requests/*'] } },
    });
    const update = (pk: string) => {
      const request = { TableName: 'chat', Key: { pk: { S: pk }, sk: { S: 'x' } } };
      const [access] = dynamodbAccess('UpdateItem', request, place);
      return evaluate(statements, access as NonNullable<typeof access>);
    };
    expect(update('main/requests/000000000009')).toBe('allowed');
    expect(update('main/users')).toBe('not allowed');
    const inTransaction = { action: 'dynamodb:UpdateItem', resource: table };
    expect(evaluate(statements, inTransaction)).toBe('not allowed');
  });

  test('are refused if a part of them is not supported', () => {
    const conditional = { ...allow('s3:*', '*'), Condition: { Bool: { 'aws:SecureTransport': 'true' } } };
    expect(() => policy(conditional)).toThrow('evaluates no condition but');
    expect(() => policy({ Effect: 'Perhaps', Action: '*', Resource: '*' })).toThrow('Allow or Deny');
    expect(() => policy({ Effect: 'Allow', Action: '*' })).toThrow('actions and resources');
  });
});

describe('permissions for a call of DynamoDB', () => {
  const needs = (operation: string, request: object) =>
    dynamodbAccess(operation, request as Record<string, unknown>, place).map(
      ({ action, resource }) => `${action} ${resource}`,
    );

  test('are those of its action for one item', () => {
    expect(needs('PutItem', { TableName: 'chat' })).toEqual([`dynamodb:PutItem ${table}`]);
    expect(needs('GetItem', { TableName: table })).toEqual([`dynamodb:GetItem ${table}`]);
  });

  test('are on the table or the index for a query', () => {
    expect(needs('Query', { TableName: 'chat' })).toEqual([`dynamodb:Query ${table}`]);
    expect(needs('Query', { TableName: 'chat', IndexName: 'by-kind' })).toEqual([
      `dynamodb:Query ${table}/index/by-kind`,
    ]);
  });

  test('are on each table for a batch', () => {
    const request = { RequestItems: { chat: [{}], other: [{}] } };
    expect(needs('BatchGetItem', request)).toEqual([
      `dynamodb:BatchGetItem ${table}`,
      `dynamodb:BatchGetItem ${table.replace('chat', 'other')}`,
    ]);
    expect(needs('BatchWriteItem', request)).toHaveLength(2);
  });

  test('are those of all parts for a transaction', () => {
    const TransactItems = [
      { Put: { TableName: 'chat' } },
      { Update: { TableName: 'chat' } },
      { Delete: { TableName: 'chat' } },
      { ConditionCheck: { TableName: 'chat' } },
    ];
    expect(needs('TransactWriteItems', { TransactItems })).toEqual([
      `dynamodb:PutItem ${table}`,
      `dynamodb:UpdateItem ${table}`,
      `dynamodb:DeleteItem ${table}`,
      `dynamodb:ConditionCheckItem ${table}`,
    ]);
    expect(needs('TransactGetItems', { TransactItems: [{ Get: { TableName: 'chat' } }] })).toEqual([
      `dynamodb:GetItem ${table}`,
    ]);
  });

  test('are on all resources for calls without a table', () => {
    expect(needs('ListTables', {})).toEqual(['dynamodb:ListTables *']);
  });
});

describe('permissions for a call of SQS', () => {
  test.each([
    ['SendMessage', 'SendMessage'],
    ['SendMessageBatch', 'SendMessage'],
    ['DeleteMessageBatch', 'DeleteMessage'],
    ['ChangeMessageVisibilityBatch', 'ChangeMessageVisibility'],
    ['ReceiveMessage', 'ReceiveMessage'],
  ])('are those of its action: %s', (operation, action) => {
    expect(sqsAccess(operation, { QueueUrl: 'http://127.0.0.1:1/000000000000/work' }, place)).toEqual([
      { action: `sqs:${action}`, resource: 'arn:aws:sqs:us-east-1:000000000000:work' },
    ]);
  });

  test('are on the named queue, or on all resources for calls without one', () => {
    expect(sqsAccess('GetQueueUrl', { QueueName: 'work' }, place)[0]?.resource).toMatch(/:work$/);
    expect(sqsAccess('ListQueues', {}, place)).toEqual([{ action: 'sqs:ListQueues', resource: '*' }]);
  });
});

describe('permissions for a request to S3', () => {
  test.each([
    ['GET', '/', ['ListAllMyBuckets *']],
    ['GET', '/b?list-type=2&prefix=x', ['ListBucket arn:aws:s3:::b']],
    ['GET', '/b/?location', ['GetBucketLocation arn:aws:s3:::b']],
    ['PUT', '/b?lifecycle', ['PutLifecycleConfiguration arn:aws:s3:::b']],
    ['GET', '/b?uploads', ['ListBucketMultipartUploads arn:aws:s3:::b']],
    ['PUT', '/b', ['CreateBucket arn:aws:s3:::b']],
    ['DELETE', '/b', ['DeleteBucket arn:aws:s3:::b']],
    ['GET', '/b/a%20b/c', ['GetObject arn:aws:s3:::b/a b/c']],
    ['HEAD', '/b/k', ['GetObject arn:aws:s3:::b/k']],
    ['GET', '/b/k?tagging', ['GetObjectTagging arn:aws:s3:::b/k']],
    ['PUT', '/b/k?acl', ['PutObjectAcl arn:aws:s3:::b/k']],
    ['GET', '/b/k?attributes', ['GetObjectAttributes arn:aws:s3:::b/k']],
    ['PUT', '/b/k', ['PutObject arn:aws:s3:::b/k']],
    ['POST', '/b/k?uploads', ['PutObject arn:aws:s3:::b/k']],
    ['PUT', '/b/k?partNumber=1&uploadId=u', ['PutObject arn:aws:s3:::b/k']],
    ['POST', '/b/k?uploadId=u', ['PutObject arn:aws:s3:::b/k']],
    ['GET', '/b/k?uploadId=u', ['ListMultipartUploadParts arn:aws:s3:::b/k']],
    ['DELETE', '/b/k?uploadId=u', ['AbortMultipartUpload arn:aws:s3:::b/k']],
    ['DELETE', '/b/k', ['DeleteObject arn:aws:s3:::b/k']],
    ['POST', '/b?delete', ['DeleteObject arn:aws:s3:::b/one', 'DeleteObject arn:aws:s3:::b/a&b']],
  ])('are those of its action: %s %s', (method, target, expected) => {
    const { pathname: path, searchParams: query } = new URL(target, 'http://s3');
    const body = '<Delete><Object><Key>one</Key></Object><Object><Key>a&amp;b</Key></Object></Delete>';
    const access = s3Access({ method, path, query, copySource: undefined, body });
    expect(access.map(({ action, resource }) => `${action.slice('s3:'.length)} ${resource}`)).toEqual(
      expected,
    );
  });

  test('include reading the source for a copy', () => {
    const copy = {
      method: 'PUT',
      path: '/b/k',
      query: new URLSearchParams(),
      copySource: '/a/x%20y',
      body: '',
    };
    expect(s3Access(copy)).toEqual([
      { action: 's3:PutObject', resource: 'arn:aws:s3:::b/k' },
      { action: 's3:GetObject', resource: 'arn:aws:s3:::a/x y' },
    ]);
  });
});
