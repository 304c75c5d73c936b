import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, inject, test } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { jsonProtocol, sendBy } from '../../shared/table/protocol.ts';
import { fromWire, toWire } from '../../shared/table/stored-item.ts';
import { TABLE } from '../support/store.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

interface Sent {
  readonly body: unknown;
  readonly target: string | undefined;
  readonly type: string | undefined;
}

/** A client with what it sent last: with our protocol, or with its own, which is the measure. */
function newClient(own: boolean) {
  const config = { endpoint: inject('dynamodb'), region: 'us-east-1', maxAttempts: 1 };
  const client = new DynamoDBClient({ ...config, ...(own ? {} : { protocol: jsonProtocol }) });
  const last: { sent?: Sent } = {};
  client.middlewareStack.add(
    (next) => (args) => {
      const { body, headers } = args.request as {
        body: Uint8Array | string;
        headers: Record<string, string>;
      };
      last.sent = {
        body: JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)),
        target: headers['x-amz-target'],
        type: headers['content-type'],
      };
      return next(args);
    },
    { step: 'build' },
  );
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const sendOurs = (command: object) =>
    sendBy(client)((command as { readonly clientCommand: object }).clientCommand);
  return { last, send: own ? (command: object) => document.send(command as PutCommand) : sendOurs };
}

/** Items of errors are plain with our protocol; the client's own leaves them as the service sent them. */
const plain = (item: unknown, own: boolean): unknown =>
  own && item !== undefined ? unmarshall(item as Parameters<typeof unmarshall>[0]) : item;

const told = async (reply: Promise<unknown>, own: boolean): Promise<unknown> => {
  try {
    const { $metadata, ...output } = (await reply) as { $metadata: object };
    return output;
  } catch (error) {
    const { name, message, $fault, Item, CancellationReasons } = error as DynamoDBServiceException & {
      Item?: unknown;
      CancellationReasons?: readonly { readonly Item?: unknown }[];
    };
    const reasons = CancellationReasons?.map((reason) => ({ ...reason, Item: plain(reason.Item, own) }));
    return { name, message, $fault, Item: plain(Item, own), reasons };
  }
};

describe("our protocol gives the same results as the client's own:", () => {
  const [pk, sk] = [`protocol/${randomUUID()}`, 'item'];
  const Key = { pk, sk };
  const Item = {
    ...Key,
    text: 'Grüße \u2713 \ud83d\ude00 "quoted" \u0007 \\',
    number: -12.5,
    large: 2 ** 53 - 1,
    yes: true,
    nothing: null,
    bytes: Buffer.from([0, 255, 7]),
    many: new Set([new Uint8Array([1]), new Uint8Array([2, 3])]),
    numbers: new Set([3, 1]),
    texts: new Set(['a', 'b']),
    // Attributes that are called like the types of values.
    B: 'text',
    BS: ['list'],
    deep: { B: { BS: [{ B: new Uint8Array([9]) }] }, empty: {}, none: [] },
  };
  const refused = {
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };

  test.each<[string, () => object]>([
    ['puts', () => new PutCommand({ TableName: TABLE, Item })],
    [
      'gets a batch',
      () => new BatchGetCommand({ RequestItems: { [TABLE]: { Keys: [Key], ConsistentRead: true } } }),
    ],
    [
      'queries',
      () =>
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: '#pk = :pk',
          ExpressionAttributeNames: { '#pk': 'pk' },
          ExpressionAttributeValues: { ':pk': pk },
          Limit: 1,
          ReturnConsumedCapacity: 'INDEXES',
        }),
    ],
    [
      'updates',
      () =>
        new UpdateCommand({
          TableName: TABLE,
          Key,
          UpdateExpression: 'SET bytes = :bytes ADD numbers :more',
          ExpressionAttributeValues: { ':bytes': new Uint8Array([5]), ':more': new Set([1]) },
          ReturnValues: 'ALL_NEW',
        }),
    ],
    [
      'is refused a put, and by which item',
      () => new PutCommand({ TableName: TABLE, Item: Key, ...refused }),
    ],
    [
      'is refused a transaction, and by which item',
      () =>
        new TransactWriteCommand({
          ClientRequestToken: randomUUID(),
          TransactItems: [
            { Put: { TableName: TABLE, Item: { pk, sk: 'other' } } },
            { Put: { TableName: TABLE, Item: Key, ...refused } },
          ],
        }),
    ],
    ['is told of a table that is not there', () => new PutCommand({ TableName: 'elsewhere', Item: Key })],
    ['is told of a key that is none', () => new PutCommand({ TableName: TABLE, Item: { pk: '', sk: '' } })],
  ])('%s', async (_, command) => {
    const [ours, own] = [newClient(false), newClient(true)];
    const given = command() as PutCommand;
    // A command can be sent once.
    const again = new (given.constructor as new (input: object) => object)(given.input);
    const expected = await told(own.send(given), true);
    expect(await told(ours.send(again), false)).toEqual(expected);
    expect(ours.last.sent).toEqual(own.last.sent);
  });
});

test.each<[string, unknown]>([
  ['an empty set', new Set()],
  ['a set of several types', new Set(['a', 1])],
  ['a date', new Date(0)],
  ['a number that is not exact', 2 ** 53],
  ['no number', Number.NaN],
])('%s is refused before anything is sent', (_, value) => {
  expect(() => toWire({ Item: { value } })).toThrow(TypeError);
});

test('an item has its attributes in the order of their names, in whatever order they come', () => {
  const reply = (text: string) => fromWire(JSON.parse(text)) as { readonly Items: readonly [object] };
  const one = reply('{"Items":[{"sk":{"S":"b"},"pk":{"S":"a"},"deep":{"M":{"y":{"N":"1"},"x":{"N":"2"}}}}]}');
  const other = reply(
    '{"Items":[{"deep":{"M":{"x":{"N":"2"},"y":{"N":"1"}}},"pk":{"S":"a"},"sk":{"S":"b"}}]}',
  );
  expect(JSON.stringify(one.Items)).toBe('[{"deep":{"x":2,"y":1},"pk":"a","sk":"b"}]');
  expect(JSON.stringify(other.Items)).toBe(JSON.stringify(one.Items));
});

describe('a reply that is not from DynamoDB', () => {
  test.each<[string, number, string]>([
    ['a page of some proxy', 502, '<html>Bad gateway</html>'],
    ['half an answer', 200, '{"Items":[{"pk"'],
    ['no answer at all', 200, ''],
  ])('leaves the outcome of the request unknown: %s', async (_, status, body) => {
    const server = createServer((_request, reply) => void reply.writeHead(status).end(body));
    const { href } = await listenOnLoopback(server, 0);
    const client = new DynamoDBClient({
      endpoint: href,
      region: 'us-east-1',
      maxAttempts: 1,
      protocol: jsonProtocol,
    });
    const sent = DynamoDBDocumentClient.from(client).send(
      new PutCommand({ TableName: TABLE, Item: { pk: 'a', sk: 'b' } }),
    );
    const error: unknown = await sent.catch((thrown: unknown) => thrown);
    server.close().closeAllConnections();
    expect(error).toBeInstanceOf(DynamoDBServiceException);
    expect(error).toMatchObject({ name: 'InternalServerError', $metadata: { httpStatusCode: status } });
  });
});
