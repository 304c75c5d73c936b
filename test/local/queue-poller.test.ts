import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startSqsS3Store } from '../../infra/local/sqs-s3-store.ts';
import { discard, type SampleCloud, startSampleCloud, temporaryFolder } from './sample-cloud.ts';
import type { Sample } from './sample-template.ts';

const arn = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });

/** Queues with one function each, and a dead-letter queue that the test can read. */
const sampleOf = (notes: string): Sample => ({
  functions: {
    careful: {
      code: 'consumer',
      timeout: 1,
      environment: { NOTES: join(notes, 'careful') },
      statements: [receive('Work')],
    },
    plain: {
      code: 'consumer',
      timeout: 1,
      environment: { NOTES: join(notes, 'plain') },
      statements: [receive('Plain')],
    },
    barred: { code: 'consumer', timeout: 1, statements: [] },
  },
  resources: {
    Dead: { Type: 'AWS::SQS::Queue', Properties: {} },
    Work: queue({ VisibilityTimeout: 1, RedrivePolicy: redrive }),
    Plain: queue({ VisibilityTimeout: 1 }),
    WorkToCareful: mapping('Work', 'careful', ['ReportBatchItemFailures']),
    PlainToPlain: mapping('Plain', 'plain', []),
  },
});

const queue = (Properties: Record<string, unknown>) => ({ Type: 'AWS::SQS::Queue', Properties });
const redrive = { deadLetterTargetArn: arn('Dead'), maxReceiveCount: 2 };
const receive = (name: string) => ({
  Effect: 'Allow',
  Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
  Resource: arn(name),
});
const mapping = (name: string, FunctionName: string, FunctionResponseTypes: string[]) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: arn(name),
    FunctionName: { Ref: FunctionName },
    BatchSize: 5,
    FunctionResponseTypes,
  },
});

let cloud: SampleCloud;
let notes: string;
let client: SQSClient;

beforeAll(async () => {
  notes = await temporaryFolder();
  cloud = await startSampleCloud(sampleOf(notes));
  // The store itself, past the door: what a test does needs no role.
  client = new SQSClient({ endpoint: storeAddress(cloud), region: 'us-east-1', credentials });
});

afterAll(async () => {
  client.destroy();
  await discard(cloud);
});

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const storeAddress = ({ stores }: SampleCloud) => stores.sqs.origin;
const urlOf = (name: string) => `${storeAddress(cloud)}/000000000000/${name}`;

const send = async (name: string, MessageBody: string, MessageAttributes = {}) =>
  (await client.send(new SendMessageCommand({ QueueUrl: urlOf(name), MessageBody, MessageAttributes })))
    .MessageId;

/** The records that a function was given, each as often as it was. */
async function recordsOf(name: string): Promise<SQSRecord[]> {
  const lines = await readFile(join(notes, name), 'utf8').catch(() => '');
  const events = lines.split('\n').filter((line) => line !== '');
  return events.flatMap((line) => (JSON.parse(line) as SQSEvent).Records);
}

const deliveriesOf = async (name: string, body: string) =>
  (await recordsOf(name)).filter((record) => record.body === body).length;

describe('a queue', () => {
  test('passes its messages to its function in the form of Lambda', async () => {
    const attributes = {
      Kind: { DataType: 'String', StringValue: 'test' },
      Raw: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2]) },
    };
    const messageId = await send('Work', 'hello ☃', attributes);
    await vi.waitFor(async () => expect(await deliveriesOf('careful', 'hello ☃')).toBe(1), {
      timeout: 30_000,
    });
    const record = (await recordsOf('careful')).find(({ body }) => body === 'hello ☃');
    expect(record).toEqual({
      messageId,
      receiptHandle: expect.any(String),
      body: 'hello ☃',
      attributes: expect.objectContaining({
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: expect.any(String),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
      }),
      messageAttributes: {
        Kind: { dataType: 'String', stringValue: 'test', stringListValues: [], binaryListValues: [] },
        Raw: { dataType: 'Binary', binaryValue: 'AQI=', stringListValues: [], binaryListValues: [] },
      },
      md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
      md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:Work',
      awsRegion: 'us-east-1',
    });
  });

  test('delivers only what failed again, and moves it to the dead-letter queue after the last time', async () => {
    await Promise.all([send('Work', 'fail always'), send('Work', 'fine')]);
    const dead = await vi.waitFor(
      async () => {
        const look = new ReceiveMessageCommand({
          QueueUrl: urlOf('Dead'),
          VisibilityTimeout: 0,
          WaitTimeSeconds: 1,
        });
        const { Messages = [] } = await client.send(look);
        expect(Messages).toHaveLength(1);
        return Messages;
      },
      { timeout: 30_000 },
    );
    expect(dead[0]?.Body).toBe('fail always');
    expect(await deliveriesOf('careful', 'fail always')).toBe(2);
    expect(await deliveriesOf('careful', 'fine')).toBe(1);
  });

  test('takes a batch back as a whole when its function fails', async () => {
    await send('Plain', 'throw');
    await vi.waitFor(async () => expect(await deliveriesOf('plain', 'throw')).toBeGreaterThan(1), {
      timeout: 30_000,
    });
  });

  test('ignores a report of failures if its mapping does not enable reports', async () => {
    await send('Plain', 'fail once');
    await vi.waitFor(async () => expect(await deliveriesOf('plain', 'fail once')).toBe(1), {
      timeout: 30_000,
    });
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(await deliveriesOf('plain', 'fail once')).toBe(1);
  });
});

describe('a setup that would not work on AWS', () => {
  test('is refused: a function whose role may not receive', async () => {
    const sample = sampleOf(notes);
    const resources = { ...sample.resources, Barred: mapping('Work', 'barred', []) };
    await expect(startSampleCloud({ ...sample, resources })).rejects.toThrow(
      'role/barredRole/barred is not authorized to perform: sqs:GetQueueAttributes',
    );
  });

  test("is refused: a queue whose visibility timeout is shorter than the function's", async () => {
    const sample = sampleOf(notes);
    const resources = { ...sample.resources, Plain: queue({ VisibilityTimeout: 0 }) };
    await expect(startSampleCloud({ ...sample, resources })).rejects.toThrow(
      'shorter than the time limit of plain',
    );
  });
});

describe('the store of queues and objects', () => {
  test('keeps messages and attributes over a restart, and applies the attributes of a new template', async () => {
    const folder = await temporaryFolder();
    const queueOf = (attributes: Record<string, string>) => ({
      name: 'kept',
      arn: 'arn:aws:sqs:us-east-1:000000000000:kept',
      url: 'http://127.0.0.1/000000000000/kept',
      attributes,
    });
    const first = await startSqsS3Store(folder, { region: 'us-east-1' });
    first.ensureQueue(queueOf({ VisibilityTimeout: '7', RedrivePolicy: '{"maxReceiveCount":1}' }));
    first.ensureBucket('things');
    const call = (endpoint: URL, target: string, body: object) =>
      fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${target}` },
        body: JSON.stringify({ QueueUrl: 'http://127.0.0.1/000000000000/kept', ...body }),
      }).then(
        (answer) =>
          answer.json() as Promise<Record<string, Record<string, string>[] & Record<string, string>>>,
      );
    await call(first.endpoint, 'SendMessage', { MessageBody: 'still here' });
    await fetch(new URL('/things/one', first.endpoint), { method: 'PUT', body: 'object' });
    await first.stop();

    const second = await startSqsS3Store(folder, { region: 'us-east-1' });
    second.ensureQueue(queueOf({ VisibilityTimeout: '9' }));
    second.ensureBucket('things');
    const { Attributes } = await call(second.endpoint, 'GetQueueAttributes', { AttributeNames: ['All'] });
    expect(Attributes).toMatchObject({ VisibilityTimeout: '9', ApproximateNumberOfMessages: '1' });
    expect(Attributes).not.toHaveProperty('RedrivePolicy');
    expect((await call(second.endpoint, 'ReceiveMessage', {})).Messages?.[0]?.Body).toBe('still here');
    expect(await (await fetch(new URL('/things/one', second.endpoint))).text()).toBe('object');
    await second.stop();
  });
});
