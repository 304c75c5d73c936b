import autocannon from 'autocannon';
import { startProvider } from '../support/call-provider.ts';
import { type HttpRequest, httpRequest, send } from './http-request.ts';
import { LatencyRecorder } from './latencies.ts';
import { type BenchCloud, endpointOf, startBenchCloud } from './local-cloud.ts';
import type { Operation } from './operation.ts';

/** How many requests are under way at once. */
const LEVELS = [1, 8, 32] as const;

type InFlight = (typeof LEVELS)[number];

export interface LoadRow {
  /** Its name, or in brackets what part of the local cloud is measured alone. */
  readonly operation: string;
  readonly inFlight: InFlight;
  /** ms, of the replies that were as they should be; not numbers where there were none. */
  readonly p50: number;
  readonly p99: number;
  /** Replies that were as they should be, a second. */
  readonly perSecond: number;
  /** Replies that were not. */
  readonly failed: number;
  /** The first of them, as it came. */
  readonly firstFailure?: string;
  /** How it was measured, if in another way than most, or why it was not. */
  readonly note?: string;
}

export interface LoadOptions {
  /** Seconds that the rows may take together. */
  readonly seconds?: number;
  /** How many requests are under way at once, in a row each. */
  readonly levels?: readonly InFlight[];
  /** Told of each row when it is there. */
  readonly onRow?: (row: LoadRow) => void;
}

/** Seconds that one row takes at most and at least, once it is warm. */
const LONGEST = 2.5;
const SHORTEST = 0.5;

/** Replies that warm a row up, for each request under way: until as many copies of the function have started. */
const WARMING = 4;

/** Preparations of an operation that needs one for each call: at least and at most, as time allows. */
const FEWEST = 5;
const MOST = 40;

/** Seconds after which a row is given up, or a reply. */
const PATIENCE = 30;

/** Functions at once: the busiest one's copies, and as many of others that prepare or are still warm. */
const CONCURRENCY = 80;

/**
 * What an operation does is more than the function's work: these two are the share of the local cloud itself, which
 * stands in every other row too. A request that no route takes is answered by the gateway; one without credentials by
 * the function, before it asks the store for anything.
 */
const shares: readonly { readonly name: string; readonly path: string; readonly status: number }[] = [
  { name: '(gateway)', path: '/api/v1/nothing', status: 404 },
  { name: '(gateway and thread)', path: endpointOf('users.getOwn').path, status: 401 },
];

/**
 * Measures operations through the whole local cloud: the gateway, functions in threads of their own, the door that
 * asks their policies, and the store, all on this machine, which also makes the requests. Each row has an organization
 * of its own. A row begins when as many requests were answered as warm it up.
 */
export async function measureLoad(
  operations: readonly Operation[],
  { seconds = 240, levels = LEVELS, onRow = () => {} }: LoadOptions = {},
): Promise<readonly LoadRow[]> {
  const rows: LoadRow[] = [];
  const add = (row: LoadRow): void => {
    rows.push(row);
    onRow(row);
  };
  const rowSeconds = secondsOfRow(operations, seconds, levels.length);
  const provider = await startProvider();
  const cloud = await startBenchCloud(CONCURRENCY, {
    ZOOM_CLIENT_ID: 'bench',
    ZOOM_CLIENT_SECRET: 'bench',
    ZOOM_OAUTH_URL: provider.address,
    ZOOM_API_URL: provider.address,
  });
  try {
    for (const { name, path, status } of shares) {
      const { asker } = await cloud.organization();
      const request = httpRequest({ method: 'GET', path }, {}, asker(undefined));
      for (const inFlight of levels) {
        const isGood = (answered: number): boolean => answered === status;
        add({
          operation: name,
          inFlight,
          ...(await burst(cloud, inFlight, rowSeconds, () => request, isGood)),
        });
      }
    }
    for (const each of operations) await measure(cloud, each, rowSeconds, levels, add);
  } finally {
    await cloud.stop();
    provider.stop();
  }
  return rows;
}

/** Divides the time by the rows. Rows that are measured one call after the other take about as long as others. */
function secondsOfRow(operations: readonly Operation[], seconds: number, levels: number): number {
  const count = operations.reduce((sum, { repeatable }) => sum + (repeatable ? levels : 1), 0);
  return Math.max(SHORTEST, Math.min(LONGEST, seconds / (count + shares.length * levels)));
}

/** Measures one operation. What goes wrong in its preparation is said in its row and stops no other. */
async function measure(
  cloud: BenchCloud,
  operation: Operation,
  seconds: number,
  levels: readonly InFlight[],
  add: (row: LoadRow) => void,
): Promise<void> {
  const { name, repeatable, held, pace } = operation;
  if (held) {
    const note = 'not measured: it is held until something happens; the table of delivery has that';
    return add({ operation: name, inFlight: 1, ...nothing, note });
  }
  for (const inFlight of repeatable ? levels : ([1] as const)) {
    try {
      const measured = repeatable
        ? await repeated(cloud, operation, inFlight, seconds)
        : await oneByOne(cloud, operation, seconds);
      const note =
        pace === undefined ? {} : { note: `sooner than the ${pace} s after which clients ask again` };
      add({ operation: name, inFlight, ...note, ...measured });
    } catch (error) {
      add({ operation: name, inFlight, ...nothing, failed: 1, firstFailure: String(error) });
      return;
    }
  }
}

type Measured = Omit<LoadRow, 'operation' | 'inFlight'>;

const nothing = { p50: Number.NaN, p99: Number.NaN, perSecond: 0, failed: 0 } as const;

/** Whether a reply is as it should be: a success, or for what serves files or pages also the way to one. */
const isGoodFor = (operation: Operation): ((status: number) => boolean) => {
  const below = endpointOf(operation.endpoint).serves === undefined ? 300 : 400;
  return (status) => status >= 200 && status < below;
};

/** One preparation, and then so many calls at once. */
async function repeated(
  cloud: BenchCloud,
  operation: Operation,
  inFlight: InFlight,
  seconds: number,
): Promise<Measured> {
  const { asker, call } = await cloud.organization();
  const request = await operation.prepared(call, 0);
  const endpoint = endpointOf(operation.endpoint);
  const from = asker(operation.as);
  let n = 0;
  const next = (): HttpRequest => httpRequest(endpoint, request(n++), from);
  return burst(cloud, inFlight, seconds, next, isGoodFor(operation));
}

/** One call after the other, each with a preparation and an organization of its own, which take no part in the time. */
async function oneByOne(cloud: BenchCloud, operation: Operation, seconds: number): Promise<Measured> {
  const recorder = new LatencyRecorder();
  const endpoint = endpointOf(operation.endpoint);
  const isGood = isGoodFor(operation);
  const ends = performance.now() + 1000 * seconds;
  let [failed, busy] = [0, 0];
  let firstFailure: string | undefined;
  // The first one finds no warm copy of the function.
  for (let n = -1; n < FEWEST || (n < MOST && performance.now() < ends); n++) {
    const { asker, call } = await cloud.organization();
    const request = (await operation.prepared(call, 0))(0);
    const reply = await send(cloud.service.address, httpRequest(endpoint, request, asker(operation.as)));
    if (!isGood(reply.status)) {
      failed += 1;
      firstFailure ??= `${reply.status}: ${reply.body}`;
    } else if (n >= 0) {
      recorder.record(reply.repliedAt - reply.sentAt);
      busy += reply.repliedAt - reply.sentAt;
    }
  }
  const { p50, p99 } = recorder.latencies;
  return {
    p50,
    p99,
    perSecond: recorder.count === 0 ? 0 : (1000 * recorder.count) / busy,
    failed,
    ...(firstFailure !== undefined && { firstFailure }),
    note: `one after the other, each in a new organization: ${recorder.count} calls`,
  };
}

/**
 * Keeps so many requests under way for some seconds and measures the replies that come after those that warm up. What
 * fails counts from the first on.
 */
export async function burst(
  { service }: { readonly service: { readonly address: URL } },
  inFlight: InFlight,
  seconds: number,
  next: () => HttpRequest,
  isGood: (status: number) => boolean,
): Promise<Measured> {
  const recorder = new LatencyRecorder();
  let [sent, answered, refused] = [0, 0, 0];
  let isOver = false;
  let firstFailure: string | undefined;
  let begun = Number.POSITIVE_INFINITY;
  let ended = Number.POSITIVE_INFINITY;
  const options: autocannon.Options = {
    url: service.address.origin,
    connections: inFlight,
    duration: PATIENCE,
    timeout: PATIENCE,
    // It looks this often (ms) whether it has been stopped.
    sampleInt: 20,
    requests: [
      {
        setupRequest: (request) => {
          if (!isOver) sent += 1;
          return { ...request, ...next() };
        },
        onResponse: (status, body) => {
          if (isOver || isGood(status)) return;
          refused += 1;
          firstFailure ??= `${status}: ${body}`;
        },
      },
    ],
  };
  await new Promise<void>((resolve, reject) => {
    const run = autocannon(options, (error) => (error ? reject(error) : resolve()));
    run.on('reqError', (error: unknown) => {
      firstFailure ??= String(error);
    });
    run.on('response', (_client, status, _bytes, milliseconds) => {
      if (isOver) return;
      const now = performance.now();
      answered += 1;
      if (answered === WARMING * inFlight) begun = now;
      if (isGood(status) && now > begun) recorder.record(milliseconds);
      if (begun + 1000 * seconds > now) return;
      isOver = true;
      ended = now;
      run.stop();
    });
  });
  // A connection that ends without a reply is reopened silently. The others have one request under way each.
  const lost = sent - answered - (isOver ? inFlight - 1 : inFlight);
  if (lost > 0) firstFailure ??= 'no reply';
  const { p50, p99 } = recorder.latencies;
  const elapsed = Math.min(ended, performance.now()) - begun;
  return {
    p50,
    p99,
    perSecond: elapsed > 0 ? (1000 * recorder.count) / elapsed : 0,
    failed: refused + lost,
    ...(firstFailure !== undefined && { firstFailure }),
    ...(answered < WARMING * inFlight && { note: `not warm: ${answered} replies in ${PATIENCE} s` }),
  };
}
