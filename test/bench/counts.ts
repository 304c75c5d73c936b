import { gzipSync } from 'node:zlib';
import { endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { startProvider } from '../support/call-provider.ts';
import { worked as exportsWorked } from '../support/export-request.ts';
import { elsewhere, worked as pushesWorked, pushRealm, relayAt } from '../support/phone.ts';
import { startRelay } from '../support/push-relay.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { avoidMidnight } from '../support/same-day.ts';
import { workOf } from '../support/work-queue.ts';
import { benchClock } from './bench-clock.ts';
import type { Operation, Request } from './operation.ts';
import { countingOthers, type OtherRequests } from './other-services.ts';
import { asked, type Bench, requests } from './realm-call.ts';

/** What one call takes. */
export interface Count {
  /** Sequential round trips to DynamoDB; requests that overlap count once. */
  readonly roundTrips: number;
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Requests to other services. */
  readonly others: OtherRequests;
  /** Bytes of the reply, and as it travels to a client that takes gzip. */
  readonly toldBytes: number;
  readonly replyBytes: number;
}

export interface CountRow {
  readonly operation: string;
  readonly endpoint: string;
  /** In a container that has served nobody yet, and again in the same one. */
  readonly cold: Count;
  readonly warm: Count;
}

/** Replies above this many bytes are compressed, as `shared/serve/reply.ts` does it. */
const COMPRESSED = 1_024;

function bytesOf(body: unknown): Pick<Count, 'toldBytes' | 'replyBytes'> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const toldBytes = Buffer.byteLength(text);
  return { toldBytes, replyBytes: toldBytes > COMPRESSED ? gzipSync(text).length : toldBytes };
}

/** Does a call in a container and counts what it takes. */
export async function counted(
  bench: Bench,
  container: TestRealm,
  { endpoint, as }: Pick<Operation, 'endpoint' | 'as'>,
  request: Request,
): Promise<Count> {
  const { meter } = container;
  meter.reset();
  const [{ body }, others] = await countingOthers(() =>
    asked({ ...bench, after: async () => {} }, container, endpoint, as, request),
  );
  const { roundTrips, calls, readUnits, writeUnits } = meter;
  return { roundTrips, requests: calls.length, readUnits, writeUnits, others, ...bytesOf(body) };
}

/** Counts an operation, cold and warm, in an organization. */
export async function countOperation(
  bench: Bench,
  operation: Operation,
  newContainer: () => TestRealm,
): Promise<CountRow> {
  const requestOf = await requests(bench, bench.realm, operation);
  const container = newContainer();
  const counts: Count[] = [];
  for (const n of [0, 1]) {
    const request = await requestOf(n);
    bench.pass(1_000 * (operation.pace ?? 0));
    counts.push(await counted(bench, container, operation, request));
  }
  const [cold, warm] = counts as [Count, Count];
  return { operation: operation.name, endpoint: operation.endpoint, cold, warm };
}

const queues = new Set([...endpoints, ...workers].flatMap(({ needs }) => needs.queues ?? []));

/**
 * Counts each of the operations in a new organization of its own, with stand-ins for the provider of calls and the
 * push relay. Time stands still but for who waits, so a
 * poll that is held sees its time pass at once.
 */
export async function measureCounts(operations: readonly Operation[]): Promise<readonly CountRow[]> {
  const [provider, relay] = await Promise.all([startProvider(), startRelay()]);
  const { address } = provider;
  const environment = {
    ...{ ZOOM_CLIENT_ID: 'our-zoom', ZOOM_OAUTH_URL: address, ZOOM_API_URL: address },
    ...relayAt(relay.address),
    // As in the local service, which signs people in without a password.
    DEVELOPMENT_SIGN_IN: 'true',
  };
  const rows: CountRow[] = [];
  try {
    for (const operation of operations) {
      const made = await newRealm();
      for (const name of queues) await workOf(made, name);
      avoidMidnight(made);
      const { pass, ...clock } = benchClock(made.outside.now());
      // Where others have a part in it, time must go by for them too.
      const newContainer = () =>
        made.container(undefined, { environment, ...(operation.beyond === undefined && clock) });
      const realm = newContainer();
      const push = elsewhere(await pushRealm(relay, made), undefined, { environment });
      const exports = await workOf(made, 'export');
      const after = async (endpoint: string): Promise<void> => {
        if (endpoint === 'exports.create') await exportsWorked(made, exports);
        if (endpoint.startsWith('push.')) await pushesWorked(push);
      };
      const bench: Bench = { realm, people: { ...made.people }, pass, after };
      const stop = operation.beyond === 'relay' ? beside(() => pushesWorked(push)) : async () => {};
      try {
        rows.push(await countOperation(bench, operation, newContainer));
      } finally {
        await stop();
      }
    }
  } finally {
    provider.stop();
    relay.stop();
  }
  return rows;
}

/** Does something again and again until it is stopped. */
function beside(work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      await work();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return async () => {
    isOver = true;
    await done;
  };
}
