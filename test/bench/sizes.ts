import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { buildFunctions } from '../../infra/build.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { running } from './activity.ts';
import { AFTER_PREPARING, givenOrganization, startTable } from './bench-organization.ts';
import { timeCost } from './call-cost.ts';
import { FunctionProcess } from './function-process.ts';
import { median } from './latencies.ts';
import { endpointOf } from './local-cloud.ts';
import type { Operation } from './operation.ts';
import { operationNamed } from './operations.ts';
import { ProcessorShare } from './processor-share.ts';
import {
  fetchHundred,
  pollOnce,
  REGISTERED_APART,
  registerEverything,
  sendToChannel,
} from './usual-calls.ts';

/** A function with so much memory, and the share of a processor that Lambda gives with it. */
export interface SizeRow {
  readonly operation: string;
  readonly memoryMb: number;
  /** Medians, ms: of a warm call, and of the first one with loading the code. */
  readonly warmMs: number;
  readonly coldMs: number;
  /** The most memory that the process ever had, with Node's own. */
  readonly peakMb: number;
  /** Whether that leaves room for the rest of Lambda's runtime. */
  readonly fits: boolean;
  /** Dollars for the time of a million calls, with the share of them that meets a new container. */
  readonly dollars: number;
}

/** Memory of Lambda functions, MB; the last one comes with a whole processor. */
const SIZES = [128, 256, 512, 1_024, 1_769];
const WHOLE_PROCESSOR = 1_769;

/** New processes of each size; calls of the last one before measuring, by when the code is compiled, and measured ones. */
const COLD = 5;
const WARMING = 60;
const WARM = 40;

/** Milliseconds between two calls, a little more for each: none begins with what the one before left of the share. */
const PAUSE = 30;
const STAGGER = 20;

/** Milliseconds by which the store answers later than the local one, as DynamoDB does; assumed (`running.roundTrip`). */
const LATER = 4;

/** Megabytes that Lambda's own part of a runtime takes besides; assumed. */
const RUNTIME = 20;

/** Seconds that a call may take. */
const LIMIT = 60;

/** What clients do most (`docs/COST.md`), and how much time (ms) passes before each call. */
const measured: readonly (readonly [operation: Operation, apart: number])[] = [
  [operationNamed('presence.update'), 60_000],
  [pollOnce, 0],
  [sendToChannel, 0],
  [fetchHundred, 0],
  [registerEverything, REGISTERED_APART],
];

/** How the runtime of Lambda probably divides memory: a tenth for new objects, the rest for old ones. */
const heapOf = (memoryMb: number): readonly string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb / 20)}`,
  `--max-old-space-size=${memoryMb - Math.floor(memoryMb / 10)}`,
];

/**
 * Measures what functions take by their memory. Each is the very bundle that Lambda gets, in a process of its own with a
 * part of a processor; only the store and the machine are not Lambda's.
 *
 * @param onRow Gets what was measured so far.
 * @throws Error where processes cannot have a share of a processor.
 */
export async function measureSizes(
  onRow: (row: SizeRow) => void = () => {},
  sizes: readonly number[] = SIZES,
): Promise<readonly SizeRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-sizes-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  try {
    const share = await ProcessorShare.create('parlance-bench-function');
    ends.push(() => share.remove());
    // The store should not wait for other programs either. It belongs to the group of the process that starts it.
    const others = await ProcessorShare.create('parlance-bench-others');
    ends.push(() => others.remove());
    await others.take(process.pid);
    const { environment, stop } = await startTable(folder);
    ends.push(stop);
    const way = await slowWay(environment.AWS_ENDPOINT_URL_DYNAMODB);
    ends.push(way.close);
    const { bundles } = await buildFunctions({
      endpoints: measured.map(([{ endpoint }]) => endpointOf(endpoint)),
      listeners: [],
      workers: [],
      outdir: join(folder, 'dist'),
    });
    const rows: SizeRow[] = [];
    for (const [operation, apart] of measured) {
      const next = await eventsOf(environment, operation, apart);
      const directory = bundles[operation.endpoint]?.directory ?? '';
      for (const memoryMb of sizes) {
        const newProcess = () =>
          new FunctionProcess(
            directory,
            { ...environment, AWS_ENDPOINT_URL_DYNAMODB: way.origin },
            heapOf(memoryMb),
          );
        const times = await measure(newProcess, next, share, memoryMb);
        const { warmMs, coldMs } = times;
        const billedMs = Math.ceil(warmMs) + coldMs / running.coldOneIn;
        const row = {
          operation: operation.name,
          memoryMb,
          ...times,
          fits: times.peakMb + RUNTIME <= memoryMb,
          dollars: timeCost(billedMs, memoryMb) * 1e6,
        };
        rows.push(row);
        onRow(row);
      }
    }
    return rows;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** The next event for a function, and how far (ms) its clock is ahead by then. */
type Next = () => { readonly event: object; readonly passed: number };

async function eventsOf(
  environment: Readonly<Record<string, string>>,
  operation: Operation,
  apart: number,
): Promise<Next> {
  const { call, eventOf } = await givenOrganization(makeOutside(environment));
  const request = await operation.prepared(call, 0);
  let n = 0;
  return () => ({
    event: eventOf(operation.endpoint, operation.as, request(++n)),
    passed: AFTER_PREPARING + n * apart,
  });
}

async function measure(
  newProcess: () => FunctionProcess,
  next: Next,
  share: ProcessorShare,
  memoryMb: number,
): Promise<Pick<SizeRow, 'warmMs' | 'coldMs' | 'peakMb'>> {
  const [cold, warm]: [number[], number[]] = [[], []];
  let peakMb = 0;
  const part = Math.min(1, memoryMb / WHOLE_PROCESSOR);
  for (let round = 1; round <= COLD; round++) {
    const running = newProcess();
    const run = async (): Promise<number> => {
      const { event, passed } = next();
      const ran = await running.run<APIGatewayProxyResult>(event, LIMIT, passed);
      if (ran.reply.statusCode >= 400) throw new Error(`A function answered ${ran.reply.body}`);
      ({ peakMb } = ran);
      return ran.ms;
    };
    try {
      await share.limit(part);
      await share.take(await running.started());
      await sleep(PAUSE);
      cold.push(await run());
      if (round < COLD) continue;
      await share.limit();
      for (let n = 0; n < WARMING; n++) await run();
      await share.limit(part);
      for (let n = 0; n < WARM; n++) {
        await sleep(PAUSE + (n * STAGGER) / WARM);
        warm.push(await run());
      }
    } finally {
      await running.stop();
    }
  }
  return { warmMs: median(warm), coldMs: median(cold), peakMb };
}

/** A way to a store on which each answer comes later. */
async function slowWay(store: string) {
  const { hostname, port } = new URL(store);
  const server = createServer({ noDelay: true }, (client) => {
    const behind = connect({ host: hostname, port: Number(port), noDelay: true });
    client.pipe(behind);
    behind.on('data', (data) => setTimeout(() => client.write(data), LATER));
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  const { origin } = await listenOnLoopback(server, 0);
  return { origin, close: async () => void server.close() };
}
