import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type DemoName, planDemo } from '../../infra/local/demo.ts';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { itemVersions } from '../../shared/model/realm/realm.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { type Send, Table } from '../../shared/table/table.ts';
import { handlers } from '../support/handlers.ts';
import { httpRequest } from './http-request.ts';
import { median } from './latencies.ts';
import { endpointOf } from './local-cloud.ts';
import {
  type Call,
  channelIdOf,
  type Operation,
  operation,
  plain,
  type Request,
  talked,
} from './operation.ts';

/** Processor time (ms) of one call of a function, and of bare loops of its requests to DynamoDB. */
export interface ProcessorRow {
  readonly operation: string;
  /** Requests to DynamoDB. */
  readonly requests: number;
  readonly functionMs: number;
  /** With the functions' own client, and with the document client as the SDK has it. */
  readonly loopMs: number;
  readonly sdkLoopMs: number;
  /** The function to the loop with its own client: the median of the rounds, and what DESIGN allows. */
  readonly ratio: number;
  readonly budget: number;
  /** The function to the loop with the SDK's client. */
  readonly sdkRatio: number;
}

const TABLE = 'bench';

/** Rounds in which both are measured in turn, and calls of each in a round. */
const ROUNDS = 12;
const CALLS = 10;
/** Calls before, by when the code is compiled. */
const WARMING = 60;

const HOUR = 3_600_000;

/** What is measured, with its budget (DESIGN 7), and how much time (ms) passes before each call. */
const measured: readonly (readonly [operation: Operation, budget: number, apart?: number])[] = [
  [
    operation({
      name: 'messages.send',
      as: 'member',
      repeatable: true,
      prepare: async (call) => (await call('events.register', 'member', { fetch_event_types: [] })).queue_id,
      request: (queue_id: string, n) => ({
        parameters: {
          ...{ type: 'channel', to: 'general', topic: 'processor', queue_id },
          content: `The quick brown fox jumps over the lazy dog ${n}`,
          local_id: `${n}.01`,
        },
      }),
    }),
    1.6,
  ],
  [
    operation({
      name: 'messages.list',
      as: 'member',
      repeatable: true,
      prepare: async (call) => {
        await talked(call, 'admin', 'to be read', 120);
        return channelIdOf(call, 'general');
      },
      request: (channel) => ({
        query: {
          ...{ anchor: 'newest', num_before: 100, num_after: 0 },
          narrow: [
            { operator: 'channel', operand: channel },
            { operator: 'topic', operand: 'to be read' },
          ],
        },
      }),
    }),
    1.5,
  ],
  // An account has 64 queues. With more than that in use at once, each registration has to end another one.
  [plain('events.register', 'member', () => ({ parameters: { apply_markdown: true } })), 1.6, HOUR],
  [plain('emoji.list', 'member'), 1.3],
  [
    operation({
      name: 'events.get',
      as: 'guest',
      repeatable: true,
      prepare: async (call) => {
        const { queue_id, last_event_id } = await call('events.register', 'guest', { fetch_event_types: [] });
        return { queue_id, last_event_id, dont_block: true };
      },
      request: (query) => ({ query }),
    }),
    1.2,
  ],
];

/**
 * Measures the processor time of functions in this process, warm and one call after the other, against a loop that makes the
 * same requests to DynamoDB with the same client and drops the replies. Both take turns, so that a busy moment of the
 * machine meets both.
 *
 * @param only The endpoints to measure; all if absent.
 */
export async function measureProcessor(
  only?: readonly string[],
  rounds = ROUNDS,
): Promise<readonly ProcessorRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-processor-'));
  const store = await startDynamoStore(join(folder, 'dynamodb.sqlite'), undefined);
  try {
    process.env.AWS_ACCESS_KEY_ID ??= 'bench';
    process.env.AWS_SECRET_ACCESS_KEY ??= 'bench';
    const environment = {
      TABLE_NAME: TABLE,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL_DYNAMODB: store.endpoint.origin,
      API_RATE_LIMIT: '100000000',
      // Nothing is sent there.
      AWS_ENDPOINT_URL_SQS: store.endpoint.origin,
      AWS_ENDPOINT_URL_S3: store.endpoint.origin,
      BUCKET_SEARCH_NAME: 'search',
      QUEUE_EXPORT_URL: 'http://127.0.0.1/export',
      QUEUE_PUSH_URL: 'http://127.0.0.1/push',
    };
    const client = new DynamoDBClient({ endpoint: store.endpoint.origin, region: 'us-east-1' });
    await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
    client.destroy();
    const rows: ProcessorRow[] = [];
    for (const [each, budget, apart] of measured) {
      if (only && !only.includes(each.name)) continue;
      rows.push(await rowOf(environment, each, budget, rounds, apart));
    }
    return rows;
  } finally {
    await store.stop();
    await rm(folder, { recursive: true });
  }
}

async function rowOf(
  environment: Readonly<Record<string, string>>,
  operation: Operation,
  budget: number,
  rounds: number,
  apart?: number,
): Promise<ProcessorRow> {
  const send = tableClient(environment);
  const sdkClient = new DynamoDBClient({
    endpoint: environment.AWS_ENDPOINT_URL_DYNAMODB as string,
    region: 'us-east-1',
  });
  const sdk = DynamoDBDocumentClient.from(sdkClient, { marshallOptions: { removeUndefinedValues: true } });
  const own = await prepared(environment, operation, send, apart);
  const other = await prepared(environment, operation, send, apart);
  for (let n = 0; n < WARMING; n++) await own.call(n)();
  const waves = await other.waves();
  const loop = (by: Send) => () => async (): Promise<void> => {
    for (const wave of waves) await Promise.all(wave.map((command) => by(again(command))));
  };
  const ownLoop = loop(send);
  const sdkLoop = loop((command) => sdk.send(forDocuments(command)));
  for (let n = 0; n < WARMING; n++) {
    await ownLoop()();
    await sdkLoop()();
  }
  const times = { functions: [] as number[], loops: [] as number[], sdkLoops: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.functions.push(await processorTime((n) => own.call(WARMING + round * CALLS + n)));
    times.loops.push(await processorTime(ownLoop));
    times.sdkLoops.push(await processorTime(sdkLoop));
  }
  sdkClient.destroy();
  const { functions, loops, sdkLoops } = times;
  const ratioTo = (others: readonly number[]): number =>
    median(functions.map((ms, i) => ms / (others[i] as number)));
  return {
    operation: operation.name,
    requests: waves.flat().length,
    functionMs: median(functions),
    loopMs: median(loops),
    sdkLoopMs: median(sdkLoops),
    ratio: ratioTo(loops),
    budget,
    sdkRatio: ratioTo(sdkLoops),
  };
}

/** Processor time (ms) of one of several calls, one after the other, which are prepared before. */
async function processorTime(prepare: (n: number) => () => Promise<unknown>): Promise<number> {
  const calls = Array.from({ length: CALLS }, (_, n) => prepare(n));
  const before = process.cpuUsage();
  for (const call of calls) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / CALLS;
}

let organizations = 0;

/** By when (ms) nothing is recent any more that was done to prepare: requests read all that is (`model/message/recent.ts`). */
const AFTER_PREPARING = 60_000;

/** An organization in which an operation is ready to be called. */
async function prepared(
  environment: Readonly<Record<string, string>>,
  operation: Operation,
  send: Send,
  apart = 0,
) {
  const sent: { readonly command: object; readonly started: number; ended: number }[] = [];
  let moment = 0;
  const recorded: Send = async (command) => {
    const entry = { command, started: moment, ended: Number.POSITIVE_INFINITY };
    sent.push(entry);
    const reply = await send(command);
    entry.ended = ++moment;
    return reply;
  };
  const host = `bench-${++organizations}.test`;
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const outside: Outside = { ...makeOutside(environment), now, table: new Table(TABLE, send, itemVersions) };
  const recording: Outside = { ...outside, table: new Table(TABLE, recorded, itemVersions) };
  const { demo, create } = planDemo(outside, { host, name: 'Bench' });
  await create();
  const ready = (endpoint: string, as: DemoName | undefined, request: Request, on = outside) => {
    const handler = handlers.get(endpoint)?.with(on);
    if (!handler) throw new Error(`There is no endpoint ${endpoint}.`);
    const event = eventOf(endpoint, request, {
      host,
      account: demo.accounts.find(({ name }) => name === as),
    });
    return async () => {
      passed += apart;
      const reply = await handler(event);
      if (reply.statusCode >= 400) throw new Error(`${endpoint} answered ${reply.body}`);
      return reply;
    };
  };
  const call: Call = async (endpoint, as, parameters = {}, options = {}) =>
    JSON.parse((await ready(endpoint, as, { ...options, parameters })()).body);
  const request = await operation.prepared(call, 0);
  passed = AFTER_PREPARING;
  const callOf = (n: number, on = outside) => ready(operation.endpoint, operation.as, request(n), on);
  return {
    call: (n: number) => callOf(n),
    /** The requests of a warm call: those of a wave are under way at once. */
    async waves(): Promise<readonly (readonly object[])[]> {
      for (const n of [-3, -2]) await callOf(n, recording)();
      sent.length = 0;
      await callOf(-1, recording)();
      await sleep(50);
      const waves: object[][] = [];
      let ends = Number.POSITIVE_INFINITY;
      for (const { command, started, ended } of sent) {
        if (waves.length === 0 || started >= ends) {
          waves.push([command]);
          ends = ended;
        } else {
          waves.at(-1)?.push(command);
          ends = Math.min(ends, ended);
        }
      }
      return waves;
    },
  };
}

/** A command that was recorded, so that it succeeds again: without conditions, and a transaction under another token. */
function again(command: object): object {
  const { input } = command as { readonly input: Fields };
  const Class = command.constructor as new (input: object) => object;
  const elements = input.TransactItems as readonly Readonly<Record<string, Fields>>[] | undefined;
  return new Class({
    ...unconditional(input),
    ...(elements && {
      ClientRequestToken: randomUUID(),
      TransactItems: elements.map((element) =>
        Object.fromEntries(
          Object.entries(element).map(([kind, fields]) => [
            kind,
            kind === 'ConditionCheck' ? fields : unconditional(fields),
          ]),
        ),
      ),
    }),
  });
}

const documentCommands = { BatchGetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand };

/** The same command for the document client, whose commands have the same names (`shared/table/commands.ts`). */
function forDocuments(command: object): QueryCommand {
  const Class = documentCommands[command.constructor.name as 'QueryCommand'];
  return new Class((command as QueryCommand).input);
}

type Fields = Readonly<Record<string, unknown>>;

/** The same write without its condition, and without the names and values that only this has. */
function unconditional({ ConditionExpression: condition, ...fields }: Fields): Fields {
  if (condition === undefined) return fields;
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values, ...others } = fields;
  const words = new Set(String(others.UpdateExpression ?? '').match(/[#:]\w+/g));
  const used = (all: unknown): object =>
    Object.fromEntries(Object.entries(all ?? {}).filter(([label]) => words.has(label)));
  return {
    ...others,
    ...(Object.keys(used(names)).length > 0 && { ExpressionAttributeNames: used(names) }),
    ...(Object.keys(used(values)).length > 0 && { ExpressionAttributeValues: used(values) }),
  };
}

/** The event that the gateway makes of a request, as far as functions read it. */
function eventOf(
  id: string,
  request: Request,
  asker: Parameters<typeof httpRequest>[2],
): APIGatewayProxyEvent {
  const endpoint = endpointOf(id);
  const { path, headers, body } = httpRequest(endpoint, request, asker);
  const url = new URL(path, 'http://bench.test');
  const query = Object.fromEntries([...url.searchParams].map(([name, value]) => [name, [value]]));
  return {
    path: url.pathname,
    headers,
    body: body.length === 0 ? null : body.toString(),
    isBase64Encoded: false,
    pathParameters: null,
    multiValueQueryStringParameters: url.search === '' ? null : query,
    requestContext: { requestId: 'bench', domainName: asker.host },
  } as unknown as APIGatewayProxyEvent;
}
