import type { Server } from 'node:http';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Listener } from '../../shared/endpoints/listener.ts';
import type { StoreName } from './aws-error.ts';
import { ensureTable, removeExpired } from './dynamo-table.ts';
import { edgeOf } from './edge.ts';
import { functionEnvironment, newAccessKeyId } from './function-environment.ts';
import { FunctionLogs } from './function-log.ts';
import { FunctionPool } from './function-pool.ts';
import { Gateway, type Page } from './gateway.ts';
import { IamDoor } from './iam-door.ts';
import type { InvocationResult } from './invocation.ts';
import { createKeyService } from './key-service.ts';
import { ListenerProcess } from './listener-process.ts';
import { ListenerRoute } from './listener-route.ts';
import { webFunctionOf } from './local-listener.ts';
import { listenOnLoopback } from './loopback.ts';
import { MailListener, type SmtpPort } from './mail-listener.ts';
import { createMailService, type Outbox } from './mail-service.ts';
import { QueuePoller } from './queue-poller.ts';
import { Scheduler } from './scheduler.ts';
import { createSecretService } from './secret-service.ts';
import { startSqsS3Store } from './sqs-s3-store.ts';
import { type LambdaFunction, readTemplate, type Service } from './template.ts';
import { type CloudFormationTemplate, localAccount, localRegion, type Place } from './template-values.ts';

export interface LocalCloudOptions {
  readonly template: CloudFormationTemplate;
  /** The cloud assembly that the template belongs to. */
  readonly assembly: string;
  readonly dataDirectory: string;
  /** Where DynamoDB answers. */
  readonly dynamodb: URL;
  /** Where clients find the service; 0 for any free port. */
  readonly port: number;
  /** Where programs of this machine leave mail, if the template takes any; absent where none is taken. */
  readonly smtp?: SmtpPort | undefined;
  /** How many functions may run at once. */
  readonly concurrency: number;
  /** Holds the requests that wait, with its code in a folder of the assembly; absent where functions hold them. */
  readonly listener?: Listener | undefined;
  /** The values of secrets, by the last part of their names. */
  readonly secrets?: ReadonlyMap<string, string>;
  /** Environment variables that are known only now. They replace those of the template. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What the gateway answers with where the API has no address. */
  readonly page?: Page;
  /** Keeps the mails that functions send. */
  readonly outbox?: Outbox | undefined;
  /** Shows what functions log on the console too. */
  readonly showLogs: boolean;
  /** Takes a line for the person at the console. */
  readonly report: (line: string) => void;
}

/** Milliseconds that running requests get to end when the local cloud stops; long polls do not last that long. */
const grace = 1500;
/**
 * Milliseconds after which a warm function that nobody needs is given up, and how many may wait that long: each takes some
 * 19 MB. One client uses fewer.
 */
const idleMs = 60_000;
const idleAtMost = 16;
/** Milliseconds without an end of anything after which a function's copies count as slow: nearly no request takes as long. */
const busyMs = 500;
/** Milliseconds between two removals of expired items. */
const expiryInterval = 60 * 60_000;

/** A deployed stack on a laptop: everything that a template describes, running. */
export interface LocalCloud {
  /** The address that clients use. */
  readonly address: URL;
  readonly service: Service;
  /** The port at which mail is left, if any is taken. */
  readonly smtpPort: number | undefined;
  /** Knows what each function has really done with its permissions. */
  readonly door: IamDoor;
  readonly place: Place;
  /** Where the stores answer, past the door. */
  readonly stores: Readonly<Record<StoreName, URL>>;
  /** Hands an event (JSON) to a function, as any service of AWS would. */
  invoke(functionName: string, event: string): Promise<InvocationResult>;
  /** Ends everything that was started; running requests get a moment to end. */
  stop(): Promise<void>;
}

/**
 * Deploys a template to this machine.
 *
 * @throws StartProblem when the port is taken.
 * @throws Error when the template has something that the local cloud cannot do.
 */
export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const started: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of started.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(options, (end) => started.push(end))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts one part after the other and says how each is ended, the last one first. */
async function start(
  options: LocalCloudOptions,
  atEnd: (end: () => unknown) => void,
): Promise<Omit<LocalCloud, 'stop'>> {
  const { report } = options;
  const onFault = (error: unknown) =>
    report(error instanceof Error ? (error.stack ?? error.message) : String(error));

  // The address of the door is in the environments and in the URLs of queues, so it comes first of all.
  const doorServer = createServer({ allowHalfOpen: true, noDelay: true });
  const doorAddress = await listenOnLoopback(doorServer, 0);
  atEnd(() => new Promise((resolve) => doorServer.close(resolve)));
  const place: Place = { region: localRegion, accountId: localAccount, queueEndpoint: doorAddress.origin };
  const service = readTemplate(options.template, options.assembly, place);
  for (const type of service.unknownTypes) report(`The local cloud has nothing for ${type}; it is left out.`);

  const { listener } = options;
  const webFunction =
    listener && webFunctionOf(listener, service.functions, join(options.assembly, listener.id));
  const lambdas = webFunction === undefined ? service.functions : [...service.functions, webFunction];
  const keys = new Map(lambdas.map(({ name }) => [name, newAccessKeyId()]));
  const keyOf = ({ name }: LambdaFunction) => keys.get(name) ?? '';
  const logs = new FunctionLogs(join(options.dataDirectory, 'logs'), options.showLogs);
  atEnd(() => logs.close());
  let variables = options.variables ?? {};
  const environmentOf = (lambda: LambdaFunction) =>
    functionEnvironment(lambda, { endpoint: doorAddress, accessKeyId: keyOf(lambda), variables }, place);

  // It takes as long to start as all the rest.
  const listenerStart =
    webFunction &&
    ListenerProcess.start({
      directory: webFunction.directory,
      environment: environmentOf(webFunction),
      onOutput: (text) => logs.write(webFunction.name, text),
      onEnd: () =>
        report(`${webFunction.name} ended and is started again (more in ${logs.pathOf(webFunction.name)})`),
    });
  // If it fails, that is said below, where it is waited for.
  listenerStart?.catch(() => {});
  atEnd(() => listenerStart?.then((process) => process.stop()).catch(() => {}));

  const store = await startSqsS3Store(join(options.dataDirectory, 'fauxqs'), place);
  atEnd(() => store.stop());
  for (const queue of service.queues) store.ensureQueue(queue);
  for (const bucket of service.buckets) store.ensureBucket(bucket);
  await keepTables(service, options.dynamodb, place, atEnd, onFault);

  const keyService = createKeyService(join(options.dataDirectory, 'key'));
  const secretService = createSecretService(options.secrets ?? new Map());
  const mailService = createMailService(options.outbox);
  const own = [keyService, secretService, mailService];
  const [kms, secretsmanager, ses] = (await Promise.all(own.map((each) => listenOnLoopback(each, 0)))) as [
    URL,
    URL,
    URL,
  ];
  atEnd(() => Promise.all(own.map(close)));
  const { dynamodb } = options;
  const stores = { dynamodb, sqs: store.endpoint, s3: store.endpoint, kms, secretsmanager, ses };
  const door = new IamDoor({
    stores,
    callers: new Map(
      lambdas.map((lambda) => [keyOf(lambda), { functionName: lambda.name, ...lambda }] as const),
    ),
    place,
  });
  doorServer.on('connection', door.take);
  atEnd(() => door.close());

  const pool = new FunctionPool(service.functions, {
    environmentOf,
    onOutput: ({ name }, text) => logs.write(name, text),
    onFailure: ({ name }, error) => {
      logs.writeError(name, error);
      report(`${name} failed: ${error.errorType}: ${error.errorMessage} (more in ${logs.pathOf(name)})`);
    },
    concurrency: options.concurrency,
    startsAtOnce: availableParallelism(),
    busyMs,
    idleMs,
    idleAtMost,
  });
  const invoke = (name: string, event: string, signal?: AbortSignal) => pool.invoke(name, event, signal);

  const listening = await listenerStart;
  const route = listener && listening && new ListenerRoute(pathOf(listener), methodsOf(listener), listening);
  atEnd(() => route?.close());

  const { api, roles, edgeFunction } = service;
  const edge = edgeFunction === undefined ? undefined : edgeOf(edgeFunction);
  const gateway = new Gateway({
    api,
    roles,
    place,
    invoke,
    edge,
    listener: route,
    page: options.page,
    onFault,
  });
  const pollers = service.eventSources.map((source) => {
    const lambda = service.functions.find(({ name }) => name === source.functionName);
    const queue = service.queues.find(({ arn }) => arn === source.queueArn);
    if (!lambda || !queue)
      throw new Error(`${source.queueArn} or ${source.functionName} is not in the template.`);
    const client = sqsClient(doorAddress, keyOf(lambda), place);
    return new QueuePoller({
      source,
      lambda,
      queueUrl: queue.url,
      region: place.region,
      client,
      invoke,
      onFault,
    });
  });
  const scheduler = new Scheduler({
    schedules: service.schedules,
    permissions: service.permissions,
    place,
    file: join(options.dataDirectory, 'schedules.json'),
    invoke,
    onFault,
  });
  // What brings work in ends together with what does the work: each waits for the other's last requests.
  atEnd(() => {
    scheduler.stop();
    return Promise.all([
      gateway.stop(),
      listening?.stop(),
      pool.close(grace),
      ...pollers.map((poller) => poller.stop()),
    ]);
  });
  const address = await listenOnLoopback(gateway.server, options.port);
  // In the template it is the address that CloudFront gives.
  variables = { ...variables, SITE: address.origin };
  await Promise.all(pollers.map((poller) => poller.start()));
  scheduler.start();
  const smtpPort = await listenForMail(service, options.smtp, store.endpoint, place, atEnd, onFault);
  return { address, service, smtpPort, door, place, stores, invoke };
}

const pathOf = ({ endpoints }: Listener): string => endpoints[0]?.path ?? '';

const methodsOf = ({ endpoints }: Listener): string[] => endpoints.map(({ method }) => method);

/** Takes mail in the place of SES, if the template has a way for it. */
async function listenForMail(
  { mailRoutes: routes, queues }: Service,
  smtp: SmtpPort | undefined,
  store: URL,
  { region }: Place,
  atEnd: (end: () => unknown) => void,
  onFault: (error: unknown) => void,
): Promise<number | undefined> {
  if (smtp === undefined || routes.length === 0) return undefined;
  const listener = new MailListener({ routes, queues, store, region, onFault });
  atEnd(() => listener.stop());
  return listener.start(smtp);
}

/** Makes the tables, and removes what has expired in them from time to time. */
async function keepTables(
  { tables }: Service,
  endpoint: URL,
  { region }: Place,
  atEnd: (end: () => unknown) => void,
  onFault: (error: unknown) => void,
): Promise<void> {
  const client = new DynamoDBClient({ endpoint: endpoint.origin, region, credentials: operator });
  atEnd(() => client.destroy());
  for (const table of tables) await ensureTable(client, table);
  const timer = setInterval(() => {
    const now = Math.floor(Date.now() / 1000);
    for (const table of tables) removeExpired(client, table, now).catch(onFault);
  }, expiryInterval);
  atEnd(() => clearInterval(timer));
}

/** Credentials of the user who starts the local cloud. The stores accept any. */
const operator = { accessKeyId: 'local', secretAccessKey: 'local' };

const sqsClient = (endpoint: URL, accessKeyId: string, { region }: Place): SQSClient =>
  new SQSClient({ endpoint: endpoint.origin, region, credentials: { ...operator, accessKeyId } });

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
