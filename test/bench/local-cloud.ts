import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { type DemoName, planDemo } from '../../infra/local/demo.ts';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { type Asker, httpRequest, send } from './http-request.ts';
import type { Call } from './operation.ts';
import { type Service, startService } from './service.ts';

/** The whole local cloud for measuring, with organizations as they are wanted. */
export interface BenchCloud {
  readonly service: Service;
  /** A new organization with the demo accounts, so that no measurement meets what another one left. */
  organization(): Promise<Organization>;
  stop(): Promise<void>;
}

export interface Organization {
  /** Somebody there, or nobody in particular. */
  asker(as: DemoName | undefined): Asker;
  /** Calls an endpoint over HTTP, which must work. */
  readonly call: Call;
}

const byId: ReadonlyMap<string, Endpoint> = new Map(endpoints.map((each) => [each.id, each]));

/** The declaration of an endpoint. */
export function endpointOf(id: string): Endpoint {
  const found = byId.get(id);
  if (!found) throw new Error(`There is no endpoint ${id}.`);
  return found;
}

/**
 * Starts the local cloud as `npm start` does: the real template, gateway, functions and store, in other processes than
 * this one.
 *
 * @param concurrency How many functions may run at once; each takes some 24 MB.
 * @param settings Variables of the operator besides those of this process.
 * @param wayTo The address at which the service finds the store, if something stands before it.
 */
export async function startBenchCloud(
  concurrency: number,
  settings: Readonly<Record<string, string>> = {},
  wayTo: (store: URL) => Promise<URL> = async (store) => store,
): Promise<BenchCloud> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-store-'));
  const given = process.env.DYNAMODB_ENDPOINT;
  const store = await startDynamoStore(join(folder, 'dynamodb.sqlite'), given ? new URL(given) : undefined);
  const started: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true }), () => store.stop()];
  const stop = async (): Promise<void> => {
    for (const end of started.splice(0).reverse()) await end();
  };
  try {
    const service = await startService({
      environment: {
        ...settings,
        DYNAMODB_ENDPOINT: (await wayTo(store.endpoint)).origin,
        LOCAL_CONCURRENCY: String(concurrency),
      },
    });
    started.push(() => service.stop());
    const outside = makeOutside({
      TABLE_NAME: await tableAt(store.endpoint),
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_DYNAMODB: store.endpoint.origin,
    });
    let made = 0;
    return {
      service,
      stop,
      async organization() {
        const host = `bench-${++made}.test`;
        const { demo, create } = planDemo(outside, { host, name: `Bench ${made}` });
        if ((await create(outside)) !== 'created')
          throw new Error(`There is an organization at ${host} already.`);
        const asker = (as: DemoName | undefined): Asker => ({
          host,
          account: demo.accounts.find(({ name }) => name === as),
        });
        return { asker, call: caller(service.address, asker) };
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The name of the one table in a store. */
async function tableAt(endpoint: URL): Promise<string> {
  process.env.AWS_ACCESS_KEY_ID ??= 'bench';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'bench';
  const client = new DynamoDBClient({ endpoint: endpoint.origin, region: 'us-east-1' });
  const { TableNames: names = [] } = await client.send(new ListTablesCommand());
  client.destroy();
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) throw new Error(`Not one table, but ${names.length}.`);
  return name;
}

const caller =
  (site: URL, asker: (as: DemoName | undefined) => Asker): Call =>
  async (id, as, parameters = {}, options = {}) => {
    const endpoint = endpointOf(id);
    const reply = await send(site, httpRequest(endpoint, { ...options, parameters }, asker(as)));
    if (reply.status >= 400) throw new Error(`${id} answered ${reply.status}: ${reply.body}`);
    if (reply.location !== undefined) return { location: reply.location, cookie: reply.cookie };
    return endpoint.serves === undefined ? JSON.parse(reply.body) : undefined;
  };
