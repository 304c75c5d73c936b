import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { type DemoName, planDemo } from '../../infra/local/demo.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import type { Needs } from '../../shared/endpoints/endpoint.ts';
import { operatorSettingNames } from '../../shared/endpoints/operator-setting.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { type Environment, variable } from '../../shared/environment.ts';
import { LookupCache } from '../../shared/kernel/lookup.ts';
import type { Outside, PasswordCost } from '../../shared/kernel/outside.ts';
import type { Log } from '../../shared/log/log.ts';
import { itemVersions, type RealmSettings } from '../../shared/model/realm/realm.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { partition } from '../../shared/table/keys.ts';
import { type Send, Table } from '../../shared/table/table.ts';
import { checkReply } from './declared.ts';
import { holdingToGrants } from './grants.ts';
import { Meter } from './meter.ts';
import { bucketOf, TABLE } from './store.ts';
import { storeClient } from './store-client.ts';
import type { Curtain } from './torn-reads.ts';

/** Someone who calls: how they authenticate, and their id. */
export interface Person {
  readonly email: string;
  readonly apiKey: string;
  readonly userId: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: replies are what the tests look into
  readonly body: any;
}

type Parameters = Readonly<Record<string, unknown>>;

let shared: Send | undefined;

/** The connection to the store of this run, shared by the tests of one file. */
function store(): Send {
  // The clients of the other services take them from here.
  process.env.AWS_ACCESS_KEY_ID ??= 'test';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'test';
  shared ??= storeClient(inject('dynamodb'));
  return shared;
}

/** An organization of its own for one test, with the demo accounts, reached through the real handlers. */
export interface TestRealm {
  readonly realm: string;
  readonly host: string;
  readonly people: Readonly<Record<DemoName, Person>>;
  readonly channels: Readonly<Record<'general' | 'random', number>>;
  readonly outside: Outside;
  readonly log: Log;
  readonly meter: Meter;
  /** Lines that were reported to the operator. */
  readonly reports: Record<string, unknown>[];
  /** What was counted for the operator. */
  readonly counts: Record<string, unknown>[];
  /** Shows readers that are behind it transactions in part, if the realm was made with one. */
  readonly curtain?: Curtain;
  /** Moves the clock of this realm on by some milliseconds. */
  readonly pass: (ms: number) => void;
  /** Calls an endpoint as a user (or nobody) with parameters as a client would send them. */
  readonly call: (
    handler: Served,
    as: Person | undefined,
    parameters?: Parameters,
    options?: CallOptions,
  ) => Promise<Reply>;
  /**
   * The same realm seen from another container: nothing remembered, a meter of its own, faults and another clock if
   * wanted. An environment that is given adds to the one there is.
   */
  readonly container: (faults?: (send: Send) => Send, outside?: Partial<Outside>) => TestRealm;
}

export interface CallOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Parameters;
  readonly headers?: Readonly<Record<string, string>>;
  /** Files to upload: the parameters then travel in a multipart body too. */
  readonly files?: readonly (Uint8Array | SentFile)[];
}

/** A file with a name and a content type of its own. */
export interface SentFile {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly type?: string;
}

/**
 * Makes an organization. Settings are those of a new one, except the given ones; a curtain observes the transactions
 * of all its containers.
 */
export async function newRealm(settings: Partial<RealmSettings> = {}, curtain?: Curtain): Promise<TestRealm> {
  const around = curtain?.writing ?? ((send: Send): Send => send);
  const host = `t${randomUUID().slice(0, 13)}.test`;
  const clock = { offset: 0 };
  const owner: { realm?: string } = {};
  const first = makeContainer(host, clock, owner, around);
  const { demo, create } = planDemo(first.outside, { host, name: 'Test', settings });
  owner.realm = demo.realm;
  if ((await create(first.outside)) !== 'created') throw new Error('the realm exists');
  const people = Object.fromEntries(demo.accounts.map((account) => [account.name, account]));
  const realm = (container: Container): TestRealm => ({
    realm: demo.realm,
    host,
    people: people as unknown as TestRealm['people'],
    channels: demo.channels,
    ...container,
    ...(curtain && { curtain }),
    log: {
      table: container.outside.table,
      realm: demo.realm,
      now: container.outside.now,
      wait: container.outside.wait,
    },
    pass: (ms) => {
      clock.offset += ms;
    },
    call: (handler, as, parameters, options) =>
      call(container.outside, host, handler, as, parameters, options),
    container: (faults = (send) => send, outside = {}) =>
      realm(makeContainer(host, clock, owner, (send) => faults(around(send)), outside)),
  });
  return realm(first);
}

/** What passwords of tests cost to hash. The real cost would take many seconds of a processor in each run. */
export const CHEAP: PasswordCost = { log2N: 10, r: 8, p: 1 };

type Container = Pick<TestRealm, 'outside' | 'meter' | 'reports' | 'counts'>;

function makeContainer(
  host: string,
  clock: { offset: number },
  owner: { readonly realm?: string },
  faults = (send: Send): Send => send,
  { environment: added, ...given }: Partial<Outside> = {},
): Container {
  const meter = new Meter();
  const reports: Record<string, unknown>[] = [];
  const counts: Record<string, unknown>[] = [];
  const outside: Outside = {
    table: new Table(TABLE, meter.around(faults(withoutOthers(store(), owner))), itemVersions),
    cache: new LookupCache(),
    now: () => Date.now() + clock.offset,
    wait: (ms) => wait(ms),
    uuid: randomUUID,
    randomBytes,
    passwordCost: CHEAP,
    environment: { TABLE_NAME: TABLE, API_RATE_LIMIT: '0', ...environmentOf(host, everything), ...added },
    report: (line) => void reports.push(line),
    count: (metric, kind, details) => void counts.push({ metric, kind, ...details }),
    ...given,
  };
  return { outside, meter, reports, counts };
}

/** The lists that hold entries of every organization. Workers go through them, and tests share one table. */
const sharedLists: ReadonlySet<unknown> = new Set(
  (['organization', 'retention', 'unusedFile', 'pushRealm', 'due', 'outbox'] as const).map((kind) =>
    partition(kind, {}),
  ),
);

/** Those of them that are in the order of organizations. */
const listsByRealm: ReadonlySet<unknown> = new Set(
  (['organization', 'retention', 'pushRealm', 'outbox'] as const).map((kind) => partition(kind, {})),
);

/**
 * Hides other tests' entries in shared lists: this realm's clock, queues and faults are not meant for them. A list that is
 * read whole is read from this realm's entries on, since the organizations of a whole run are thousands.
 */
const withoutOthers =
  (send: Send, owner: { readonly realm?: string }): Send =>
  async (command) => {
    const { input } = command as unknown as { input: QueryCommandInput };
    const list = input.ExpressionAttributeValues?.[':v0'];
    if (!sharedLists.has(list)) return send(command);
    if (listsByRealm.has(list) && !input.KeyConditionExpression?.includes(' AND ')) {
      input.KeyConditionExpression += ' AND begins_with(#own, :own)';
      input.ExpressionAttributeNames = { ...input.ExpressionAttributeNames, '#own': 'sk' };
      input.ExpressionAttributeValues = { ...input.ExpressionAttributeValues, ':own': `${owner.realm}/` };
      return send(command);
    }
    // A page might hold entries of other tests only, and then be taken for the last one.
    input.Limit = undefined;
    const output = await send(command);
    const { Items } = output as { Items?: { realm?: string }[] };
    if (Items === undefined) return output;
    return { ...(output as object), Items: Items.filter((item) => item.realm === owner.realm) };
  };

/** What every function together needs. */
const everything = [...endpoints, ...workers].map(({ needs }) => needs);

/**
 * Where the queues and buckets are that are needed, as the stack would tell. Buckets are there; a queue is the realm's
 * own and must be made by the test that wants it (`test/support/work-queue.ts`), so that nobody takes another test's
 * messages.
 */
export function environmentOf(host: string, needs: readonly Needs[]): Record<string, string> {
  const stores = inject('sqsS3');
  const queues = needs.flatMap(({ queues = [] }) => queues);
  const buckets = needs.flatMap(({ buckets = {} }) => Object.keys(buckets));
  const secrets = needs.flatMap(({ secrets = [] }) => secrets);
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
    AWS_ENDPOINT_URL_SQS: stores,
    AWS_ENDPOINT_URL_S3: stores,
    AWS_ENDPOINT_URL_KMS: inject('kms'),
    AWS_ENDPOINT_URL_SECRETS_MANAGER: inject('secretsManager'),
    KEY_ARN: 'arn:aws:kms:us-east-1:000000000000:key/TokenKey',
    ...Object.fromEntries(queues.map((name) => [variable('QUEUE', name), queueUrl(host, name)])),
    ...Object.fromEntries(buckets.map((name) => [variable('BUCKET', name), bucketOf(name)])),
    ...Object.fromEntries(
      secrets.map((name) => [
        variable('SECRET', name),
        `arn:aws:secretsmanager:us-east-1:000000000000:secret:Parlance/${name}`,
      ]),
    ),
  };
}

/** The address of the realm's own queue of this name. */
export const queueUrl = (host: string, name: string): string =>
  `${inject('sqsS3')}/000000000000/${host.replaceAll('.', '-')}-${name}`;

/** What a function finds in its environment only if it declared it. */
const DECLARED = new RegExp(`^((QUEUE|BUCKET|SECRET)_.*|KEY_ARN|${operatorSettingNames.join('|')})$`);

/** The environment without what a function did not declare. */
export function onlyDeclared(
  environment: Environment,
  { queues = [], buckets = {}, secrets = [], key, settings = [] }: Needs,
): Environment {
  const declared = new Set<string>([
    ...(key ? ['KEY_ARN'] : []),
    ...settings,
    ...secrets.map((name) => variable('SECRET', name)),
    ...queues.map((name) => variable('QUEUE', name)),
    ...Object.keys(buckets).map((name) => variable('BUCKET', name)),
  ]);
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !DECLARED.test(name) || declared.has(name)),
  );
}

/** Text goes as it is, everything else as JSON, as clients of the reference send it. */
const encoded = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What is undefined is not sent. */
const encodedAll = (parameters: Parameters): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, encoded(value)]),
  );

export async function call(
  outside: Outside,
  host: string,
  handler: Served,
  as: Person | undefined,
  parameters: Parameters = {},
  options: CallOptions = {},
): Promise<Reply> {
  const form = await formOf(encodedAll(parameters), options.files);
  const headers: Record<string, string> = {
    host,
    'content-type': form.contentType,
    'user-agent': 'ParlanceTest/1.0',
    ...(as && { authorization: `Basic ${Buffer.from(`${as.email}:${as.apiKey}`).toString('base64')}` }),
    ...options.headers,
  };
  const query = options.query && encodedAll(options.query);
  const event = {
    headers,
    body: form.body,
    isBase64Encoded: form.isBase64Encoded,
    pathParameters: options.path
      ? Object.fromEntries(
          Object.entries(options.path).map(([name, value]) => [name, encodeURIComponent(value)]),
        )
      : null,
    multiValueQueryStringParameters: query
      ? Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]]))
      : null,
    requestContext: { requestId: randomUUID(), domainName: host },
  };
  // A function finds what it declared, and nothing else.
  const declared: Outside = {
    ...outside,
    environment: onlyDeclared(outside.environment, handler.endpoint.needs),
  };
  const result = await holdingToGrants(handler.endpoint, () =>
    handler.with(declared)(event as unknown as Parameters0<Served>),
  );
  const { statusCode: status, headers: answered = {} } = result;
  if (handler.endpoint.serves !== undefined && status < 400)
    return { status, headers: answered, body: result.body };
  const reply = { status, headers: answered, body: JSON.parse(result.body) };
  checkReply(handler.endpoint, reply);
  return reply;
}

/** A body as the gateway hands it over. */
async function formOf(fields: Readonly<Record<string, string>>, files: CallOptions['files']) {
  if (files === undefined) {
    const contentType = 'application/x-www-form-urlencoded';
    return { contentType, body: new URLSearchParams(fields).toString(), isBase64Encoded: false };
  }
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  files.forEach((file, i) => {
    const { bytes, name, type = '' } = 'bytes' in file ? file : { bytes: file, name: `file${i}` };
    data.append(`file${i}`, new Blob([new Uint8Array(bytes)], { type }), name);
  });
  const multipart = new Response(data);
  const body = Buffer.from(await multipart.arrayBuffer()).toString('base64');
  return { contentType: multipart.headers.get('content-type') ?? '', body, isBase64Encoded: true };
}

type Parameters0<F extends (...args: never[]) => unknown> = F extends (
  first: infer A,
  ...rest: never[]
) => unknown
  ? A
  : never;
