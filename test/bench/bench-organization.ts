import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { type DemoName, planDemo } from '../../infra/local/demo.ts';
import { startDynamoStore } from '../../infra/local/dynamo-store.ts';
import { tableDefinition } from '../../infra/table-schema.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { handlers } from '../support/handlers.ts';
import { type Asker, httpRequest } from './http-request.ts';
import { endpointOf } from './local-cloud.ts';
import type { Call, Request } from './operation.ts';

export const TABLE = 'bench';

/** By when (ms) nothing is recent any more that was done to prepare: requests read all that is (`model/message/recent.ts`). */
export const AFTER_PREPARING = 60_000;

/** Starts a store with the table alone. Tells the environment of functions that work with it. */
export async function startTable(folder: string) {
  const store = await startDynamoStore(join(folder, 'dynamodb.sqlite'), undefined);
  const endpoint = store.endpoint.origin;
  // Clients take credentials from the environment of their process.
  process.env.AWS_ACCESS_KEY_ID ??= 'bench';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'bench';
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1' });
  await client.send(new CreateTableCommand({ TableName: TABLE, ...tableDefinition() }));
  client.destroy();
  return {
    environment: {
      TABLE_NAME: TABLE,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      API_RATE_LIMIT: '100000000',
      // Nothing is sent there.
      AWS_ENDPOINT_URL_SQS: endpoint,
      AWS_ENDPOINT_URL_S3: endpoint,
      BUCKET_SEARCH_NAME: 'search',
      QUEUE_EXPORT_URL: 'http://127.0.0.1/export',
      QUEUE_PUSH_URL: 'http://127.0.0.1/push',
    },
    stop: () => store.stop(),
  };
}

let organizations = 0;

/** Makes an organization with the demo accounts, whose endpoints are called in this process. */
export async function givenOrganization(outside: Outside) {
  const host = `bench-${++organizations}.test`;
  const { demo, create } = planDemo(outside, { host, name: 'Bench' });
  await create(outside);
  const eventOf = (endpoint: string, as: DemoName | undefined, request: Request): APIGatewayProxyEvent =>
    gatewayEvent(endpoint, request, { host, account: demo.accounts.find(({ name }) => name === as) });
  /** A call that is ready to be made, which must work. */
  const ready = (endpoint: string, as: DemoName | undefined, request: Request, on = outside) => {
    const handler = handlers.get(endpoint)?.with(on);
    if (!handler) throw new Error(`There is no endpoint ${endpoint}.`);
    const event = eventOf(endpoint, as, request);
    return async (): Promise<APIGatewayProxyResult> => {
      const reply = await handler(event);
      if (reply.statusCode >= 400) throw new Error(`${endpoint} answered ${reply.body}`);
      return reply;
    };
  };
  const call: Call = async (endpoint, as, parameters = {}, options = {}) =>
    JSON.parse((await ready(endpoint, as, { ...options, parameters })()).body);
  return { eventOf, ready, call };
}

/** The gateway event of a request, with the parts that functions read. */
function gatewayEvent(id: string, request: Request, asker: Asker): APIGatewayProxyEvent {
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
