import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Outside } from '../../shared/kernel/outside.ts';
import { itemVersions } from '../../shared/model/realm/realm.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { type Send, Table } from '../../shared/table/table.ts';
import { AFTER_PREPARING, givenOrganization, startTable, TABLE } from './bench-organization.ts';
import { median } from './latencies.ts';
import { type Operation, plain } from './operation.ts';
import {
  fetchHundred,
  pollOnce,
  REGISTERED_APART,
  registerEverything,
  sendToChannel,
} from './usual-calls.ts';

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

/** Rounds in which both are measured in turn, and calls of each in a round. */
const ROUNDS = 12;
const CALLS = 10;
/** Calls before, by when the code is compiled. */
const WARMING = 60;

/** What is measured, with its budget (DESIGN 7), and how much time (ms) passes before each call. */
const measured: readonly (readonly [operation: Operation, budget: number, apart?: number])[] = [
  [sendToChannel, 1.6],
  [fetchHundred, 1.5],
  [registerEverything, 1.6, REGISTERED_APART],
  [plain('emoji.list', 'member'), 1.3],
  [pollOnce, 1.2],
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
  const { environment, stop } = await startTable(folder);
  try {
    const rows: ProcessorRow[] = [];
    for (const [each, budget, apart] of measured) {
      if (only && !only.includes(each.name)) continue;
      rows.push(await rowOf(environment, each, budget, rounds, apart));
    }
    return rows;
  } finally {
    await stop();
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
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const outside: Outside = { ...makeOutside(environment), now, table: new Table(TABLE, send, itemVersions) };
  const recording: Outside = { ...outside, table: new Table(TABLE, recorded, itemVersions) };
  const { call, ready } = await givenOrganization(outside);
  const request = await operation.prepared(call, 0);
  passed = AFTER_PREPARING;
  const callOf = (n: number, on = outside) => {
    const run = ready(operation.endpoint, operation.as, request(n), on);
    return () => {
      passed += apart;
      return run();
    };
  };
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
