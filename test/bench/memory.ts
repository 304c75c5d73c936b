import { setTimeout as wait } from 'node:timers/promises';
import { startProvider } from '../support/call-provider.ts';
import { httpRequest, send } from './http-request.ts';
import { endpointOf, startBenchCloud } from './local-cloud.ts';
import type { Operation } from './operation.ts';
import { memoryOfChildren } from './usage.ts';

/** Memory of all processes of the local service together, what they share counted once (PSS), MB. */
export interface MemoryRow {
  readonly when: 'idle' | 'every function was called' | 'idle again';
  readonly mb: number;
}

/** Functions at once, as many as one client needs. */
const CONCURRENCY = 80;

/** Milliseconds until a service is idle that nobody calls. */
const QUIET = 10_000;
const IDLE = 80_000;

/** Measures the memory of the local service: when it is ready, after operations were called, and a while later. */
export async function measureMemory(operations: readonly Operation[]): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = [];
  const note = async (when: MemoryRow['when']): Promise<void> => {
    const mb = await memoryOfChildren();
    // Only Linux tells it.
    if (mb !== undefined) rows.push({ when, mb });
  };
  const provider = await startProvider();
  const { address } = provider;
  const zoom = { ZOOM_CLIENT_ID: 'bench', ZOOM_CLIENT_SECRET: 'bench' };
  const cloud = await startBenchCloud(CONCURRENCY, {
    ...zoom,
    ...{ ZOOM_OAUTH_URL: address, ZOOM_API_URL: address },
  });
  try {
    await wait(QUIET);
    await note('idle');
    for (const operation of operations) {
      const { asker, call } = await cloud.organization();
      try {
        const request = (await operation.prepared(call, 0))(0);
        const from = asker(operation.as);
        await send(cloud.service.address, httpRequest(endpointOf(operation.endpoint), request, from));
      } catch (error) {
        // What it answers is no part of this, as long as its function has run.
        console.error(`${operation.name}: ${error}`);
      }
    }
    await note('every function was called');
    await wait(IDLE);
    await note('idle again');
  } finally {
    await cloud.stop();
    provider.stop();
  }
  return rows;
}
