import { createServer, request as forward, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { DemoName } from '../../infra/local/demo.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { runPool } from '../../shared/pool.ts';
import { type HttpReply, httpRequest, send } from './http-request.ts';
import { type BenchCloud, endpointOf, type Organization, startBenchCloud } from './local-cloud.ts';
import { memoryOfChildren } from './usage.ts';

export interface HeldRow {
  /** Clients that wait, in so many organizations. */
  readonly clients: number;
  readonly organizations: number;
  /** Polls that ended although nothing happened: how many by their status, or by the error of their connection. */
  readonly ended: Readonly<Record<string, number>>;
  /** Memory of the local service and its store without and with them, MB; absent if unknown. */
  readonly idleMb?: number;
  readonly heldMb?: number;
  /** Functions that asked the store for something meanwhile. */
  readonly functions: number;
  /** Looks at the end of one organization's log, a second. */
  readonly looks: number;
  /** Other reads of the store, a minute for each poll. */
  readonly reads: number;
}

/** Functions that may run at once: far fewer than clients wait. */
const FUNCTIONS = 8;

/** Queues that each account of an organization has: fewer than an account may have. */
const ACCOUNTS: readonly DemoName[] = ['owner', 'admin', 'moderator', 'member', 'guest'];
const QUEUES = 60;

/** Registrations at once; one that finds no room is tried again after a moment (ms). */
const AT_ONCE = 4;
const MOMENT = 2_000;

/** Milliseconds that nothing happens before memory is read: short polls would be over, and garbage is collected. */
const QUIET = 10_000;

/** Milliseconds for which requests to the store are counted. Polls that are held end after 55 s. */
const COUNTED = 10_000;

/** Measures what clients that wait take of the local service while nothing happens. */
export async function measureHeldPolls(clients: number): Promise<HeldRow> {
  const store = new WatchedStore();
  const cloud = await startBenchCloud(FUNCTIONS, {}, (address) => store.standBefore(address));
  try {
    const { organizations, queues } = await newQueues(cloud, clients);
    await wait(QUIET);
    const idleMb = await memoryOfChildren();
    const ended: Record<string, number> = {};
    let isCounting = true;
    const note = (how: string): void => {
      // At the end, the service stops and ends what is still held.
      if (isCounting) ended[how] = (ended[how] ?? 0) + 1;
    };
    for (const queue of queues) {
      poll(cloud, queue).then(
        ({ status }) => note(String(status)),
        (error: Error) => note(error.message),
      );
    }
    await wait(QUIET + clients * 5);
    store.reset();
    const began = performance.now();
    await wait(COUNTED);
    const seconds = (performance.now() - began) / 1_000;
    const heldMb = await memoryOfChildren();
    isCounting = false;
    if (store.looks === 0) throw new Error('Nobody looks at a log, so no poll is held.');
    return {
      clients,
      organizations,
      ended,
      ...(idleMb !== undefined && { idleMb }),
      ...(heldMb !== undefined && { heldMb }),
      functions: store.others,
      looks: store.looks / seconds / organizations,
      reads: (60 * store.reads) / seconds / clients,
    };
  } finally {
    await cloud.stop();
    store.close();
  }
}

interface Queue {
  readonly organization: Organization;
  readonly as: DemoName;
  readonly queue_id: string;
  readonly last_event_id: number;
}

async function newQueues(cloud: BenchCloud, count: number) {
  const queues: Queue[] = [];
  const each = ACCOUNTS.length * QUEUES;
  let organizations = 0;
  for (let left = count; left > 0; left -= each) {
    const organization = await cloud.organization();
    organizations += 1;
    const wanted = Array.from({ length: Math.min(each, left) }, (_, i) => ACCOUNTS[i % ACCOUNTS.length]);
    const [failure] = await runPool(wanted, AT_ONCE, async (as = 'owner') => {
      queues.push({ organization, as, ...(await register(cloud, organization, as)) });
    });
    if (failure !== undefined) throw failure;
  }
  return { organizations, queues };
}

async function register(
  cloud: BenchCloud,
  organization: Organization,
  as: DemoName,
): Promise<Pick<Queue, 'queue_id' | 'last_event_id'>> {
  const parameters = { event_types: ['message'], fetch_event_types: [] };
  const asked = httpRequest(endpointOf('events.register'), { parameters }, organization.asker(as));
  const { status, body } = await send(cloud.service.address, asked);
  if (status === 200) return JSON.parse(body);
  if (status !== 429) throw new Error(`A client could not register: ${status} ${body}`);
  await wait(MOMENT);
  return register(cloud, organization, as);
}

function poll({ service }: BenchCloud, { organization, as, ...query }: Queue): Promise<HttpReply> {
  return send(service.address, httpRequest(endpointOf('events.get'), { query }, organization.asker(as)));
}

/** A proxy in front of the store that counts requests by caller and kind. */
class WatchedStore {
  /** Looks at the end of a log: queries for one item. */
  looks = 0;
  /** Other requests that read. */
  reads = 0;
  readonly #looking = new Set<string>();
  readonly #asking = new Set<string>();
  #close = (): void => {};

  /** How many of those that asked did not look: functions, as only the listener looks. */
  get others(): number {
    return [...this.#asking].filter((caller) => !this.#looking.has(caller)).length;
  }

  reset(): void {
    this.looks = 0;
    this.reads = 0;
    this.#looking.clear();
    this.#asking.clear();
  }

  close(): void {
    this.#close();
  }

  /** Begins to stand before a store, and returns the address for those who ask. */
  async standBefore(store: URL): Promise<URL> {
    const server = createServer(async (asked, reply) => {
      const { method = 'GET', headers } = asked;
      const body = await read(asked);
      this.#note(headers, body);
      const passed = forward(store, { method, headers }, (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
      });
      passed.on('error', () => reply.destroy());
      passed.end(body);
    });
    this.#close = () => server.close().closeAllConnections();
    return listenOnLoopback(server, 0);
  }

  #note(headers: IncomingMessage['headers'], body: Buffer): void {
    const caller = /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
    this.#asking.add(caller);
    const action = String(headers['x-amz-target']).split('.').at(-1);
    if (action === 'Query' && JSON.parse(body.toString()).Limit === 1) {
      this.looks += 1;
      this.#looking.add(caller);
    } else if (action === 'Query' || action === 'BatchGetItem') this.reads += 1;
  }
}

async function read(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
