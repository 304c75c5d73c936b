import { randomUUID } from 'node:crypto';
import type { HttpRequest } from './http-request.ts';
import { isBinary, mediaType } from './media-type.ts';
import type { RouteMatch } from './route-table.ts';
import type { RestApi } from './template-api.ts';
import type { Place } from './template-values.ts';

/** What tells one request from all others. */
export interface RequestIds {
  readonly requestId: string;
  /** The id that API Gateway's support asks for. */
  readonly extendedRequestId: string;
  readonly traceId: string;
  readonly at: Date;
}

export const newRequestIds = (at = new Date()): RequestIds => ({
  requestId: randomUUID(),
  extendedRequestId: Buffer.from(randomDigits(22), 'hex').toString('base64'),
  traceId: newTraceId(at),
  at,
});

/** The id by which X-Ray follows a request: the time in seconds and 24 random digits. */
export const newTraceId = (at = new Date()): string =>
  `Root=1-${Math.floor(at.getTime() / 1000).toString(16)}-${randomDigits(24)}`;

/** Hexadecimal digits, at most 32. Node keeps random bytes ready for UUIDs, and for nothing else. */
const randomDigits = (count: number): string => randomUUID().replaceAll('-', '').slice(0, count);

/** Headers that concern the connection to the gateway, which it keeps to itself. */
const dropped = new Set([
  'connection',
  'content-length',
  'content-md5',
  'expect',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);

/** Headers whose names the gateway writes its own way, however they came. */
const capitalized: Readonly<Record<string, string>> = {
  authorization: 'Authorization',
  host: 'Host',
  'user-agent': 'User-Agent',
};

/**
 * The event that API Gateway makes of a request for a function behind a REST API (payload format 1.0).
 *
 * Values of the query arrive decoded, while path variables stay as they were sent. Of a header or parameter that is
 * given more than once, the single-value map has the last.
 */
export function proxyEvent(
  request: HttpRequest,
  { route, pathParameters }: RouteMatch,
  api: RestApi,
  ids: RequestIds,
  place: Place,
) {
  const headers = readHeaders(request, ids);
  const query = readQuery(request.query);
  const host = lastOf(headers, 'Host') ?? '';
  const domainName = host.replace(/:\d+$/, '');
  // A body that does not say what it is counts as JSON.
  const type = mediaType(request.headers['content-type']?.toString()) || 'application/json';
  const binary = isBinary(type, api.binaryMediaTypes);
  const empty = request.body.length === 0;
  return {
    resource: route.path,
    path: request.path,
    httpMethod: request.method,
    headers: lastValues(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: orNull(lastValues(query)),
    multiValueQueryStringParameters: orNull(Object.fromEntries(query)),
    pathParameters: orNull(pathParameters),
    stageVariables: orNull(api.stage.variables ?? {}),
    requestContext: {
      resourceId: resourceId(route.path),
      resourcePath: route.path,
      httpMethod: request.method,
      extendedRequestId: ids.extendedRequestId,
      requestTime: requestTime(ids.at),
      path: request.path,
      accountId: place.accountId,
      protocol: `HTTP/${request.httpVersion}`,
      stage: api.stage.name,
      domainPrefix: domainName.split('.')[0],
      requestTimeEpoch: ids.at.getTime(),
      requestId: ids.requestId,
      identity: { ...nobody, sourceIp: request.sourceIp, userAgent: lastOf(headers, 'User-Agent') ?? null },
      domainName,
      deploymentId: 'local',
      apiId: api.id,
    },
    body: empty ? null : request.body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: binary && !empty,
  };
}

type Values = Map<string, string[]>;

const nobody = {
  cognitoIdentityPoolId: null,
  accountId: null,
  cognitoIdentityId: null,
  caller: null,
  principalOrgId: null,
  accessKey: null,
  cognitoAuthenticationType: null,
  cognitoAuthenticationProvider: null,
  userArn: null,
  user: null,
};

function readHeaders(request: HttpRequest, ids: RequestIds): Values {
  const headers: Values = new Map();
  const names = new Map<string, string>();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const [sent = '', value = ''] = request.rawHeaders.slice(i, i + 2);
    const key = sent.toLowerCase();
    if (dropped.has(key)) continue;
    const name = names.get(key) ?? capitalized[key] ?? sent;
    names.set(key, name);
    add(headers, name, value);
  }
  const forwarded = names.get('x-forwarded-for');
  const before = forwarded === undefined ? [] : (headers.get(forwarded) ?? []);
  const port = /:(\d+)$/.exec(lastOf(headers, 'Host') ?? '')?.[1] ?? '80';
  const own = {
    'X-Forwarded-For': [...before, request.sourceIp].join(', '),
    'X-Forwarded-Port': port,
    'X-Forwarded-Proto': 'http',
    'X-Amzn-Trace-Id': ids.traceId,
  };
  for (const [name, value] of Object.entries(own)) {
    const sent = names.get(name.toLowerCase());
    if (sent !== undefined) headers.delete(sent);
    headers.set(name, [value]);
  }
  return headers;
}

function readQuery(query: string): Values {
  const values: Values = new Map();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [name = '', ...rest] = pair.split('=');
    add(values, decodeQuery(name), decodeQuery(rest.join('=')));
  }
  return values;
}

const decodeQuery = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

function add(values: Values, name: string, value: string): void {
  const before = values.get(name);
  if (before) before.push(value);
  else values.set(name, [value]);
}

const lastOf = (values: Values, name: string): string | undefined => values.get(name)?.at(-1);

const lastValues = (values: Values): Record<string, string> =>
  Object.fromEntries([...values].map(([name, list]) => [name, list.at(-1) ?? '']));

const orNull = <T extends object>(values: T): T | null => (Object.keys(values).length > 0 ? values : null);

/** Six letters and digits that stay the same for a path. */
const resourceId = (path: string): string =>
  Buffer.from(path)
    .reduce((sum, byte) => (sum * 31 + byte) % 36 ** 6, 7)
    .toString(36)
    .padStart(6, '0');

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The time in the format of access logs: `20/Nov/2026:11:05:00 +0000`. */
function requestTime(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
  return `${date}:${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`;
}
