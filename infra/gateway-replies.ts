/**
 * Replies that the gateway gives without a function: always Zulip's error envelope (wire facts 1.3), as fixed text.
 * They contain nothing from the request, so nothing needs escaping.
 */

import { refusal } from '../shared/kernel/errors.ts';
import { failurePage } from '../shared/pages/failure.ts';
import { plainDocumentOf } from '../shared/pages/layout.ts';

const json = 'application/json';
const html = 'text/html';

/** The error envelope as text. */
const envelope = (code: string, msg: string, fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ result: 'error', msg, code, ...fields });

/** Header values are literals for the gateway, which it wants in single quotes. */
const literal = (value: string | number): string => `'${value}'`;

/** Sent with every reply, as functions do (`SAFETY` in `shared/serve/reply.ts`). */
const safety = { 'X-Content-Type-Options': 'nosniff', 'Access-Control-Allow-Origin': '*' };

/** Headers of a reply, as the gateway has them under this name. */
const inHeaders = (place: string, headers: Readonly<Record<string, string | number>> = {}) =>
  Object.fromEntries(
    Object.entries({ ...safety, ...headers }).map(([name, value]) => [`${place}.${name}`, literal(value)]),
  );

interface GatewayResponse {
  readonly statusCode?: number;
  readonly responseTemplates: { readonly [json]: string };
  readonly responseParameters?: Readonly<Record<string, string>>;
}

const gatewayResponse = (
  statusCode: number | undefined,
  code: string,
  msg: string,
  extra: {
    readonly fields?: Record<string, unknown>;
    readonly headers?: Record<string, string | number>;
  } = {},
): GatewayResponse => ({
  ...(statusCode === undefined ? {} : { statusCode }),
  responseTemplates: { [json]: envelope(code, msg, extra.fields) },
  responseParameters: inHeaders('gatewayresponse.header', extra.headers),
});

/** The reply that functions give for a path whose id is not digits. */
const { status: notFound, code: notFoundCode, message: notFoundMessage } = refusal('noSuchAddress');
const noSuchRoute = gatewayResponse(notFound, notFoundCode, notFoundMessage);

/** Seconds after which a throttled caller may try again: the gateway's bucket fills up every second. */
const retryAfter = 1;

/** The body of a 429 (wire facts 1.3), for everything in front of the functions. */
export const rateLimited = (seconds: number): string =>
  envelope('RATE_LIMIT_HIT', 'Too many requests; wait a moment and try again.', { 'retry-after': seconds });

const tooMany: GatewayResponse = {
  statusCode: 429,
  responseTemplates: { [json]: rateLimited(retryAfter) },
  responseParameters: inHeaders('gatewayresponse.header', { 'Retry-After': retryAfter }),
};

const fault = (statusCode?: number) =>
  gatewayResponse(statusCode, 'INTERNAL_SERVER_ERROR', 'Something went wrong on the server.');

/**
 * The gateway's own errors. The API asks the gateway for no authorization, so all of its refusals about
 * credentials mean one thing: the address is not in the API, and the gateway looked for a signature instead.
 */
export const gatewayResponses: Readonly<Record<string, GatewayResponse>> = {
  DEFAULT_4XX: gatewayResponse(undefined, 'BAD_REQUEST', 'The request could not be understood.'),
  DEFAULT_5XX: fault(),
  BAD_REQUEST_BODY: gatewayResponse(400, 'BAD_REQUEST', 'The body of the request is not valid.'),
  BAD_REQUEST_PARAMETERS: gatewayResponse(400, 'BAD_REQUEST', 'The parameters of the request are not valid.'),
  MISSING_AUTHENTICATION_TOKEN: noSuchRoute,
  INVALID_SIGNATURE: noSuchRoute,
  ACCESS_DENIED: noSuchRoute,
  RESOURCE_NOT_FOUND: noSuchRoute,
  REQUEST_TOO_LARGE: gatewayResponse(413, 'BAD_REQUEST', 'The request is too large.'),
  UNSUPPORTED_MEDIA_TYPE: gatewayResponse(415, 'BAD_REQUEST', 'The content type is not supported here.'),
  THROTTLED: tooMany,
  QUOTA_EXCEEDED: tooMany,
  WAF_FILTERED: tooMany,
  INTEGRATION_FAILURE: fault(502),
  INTEGRATION_TIMEOUT: fault(504),
};

/** Bodies of these types, and requests without one, get the answers below; any other type is 415. */
const bodyTypes = [
  json,
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
  'application/octet-stream',
] as const;

interface MockReply {
  readonly statusCode: string;
  readonly contentHandling: 'CONVERT_TO_TEXT';
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates?: Readonly<Record<string, string>>;
}

/** A method that the gateway answers without a function. */
export interface MockMethod {
  readonly responses: Readonly<Record<string, object>>;
  readonly 'x-amazon-apigateway-integration': {
    readonly type: 'mock';
    readonly contentHandling: 'CONVERT_TO_TEXT';
    readonly passthroughBehavior: 'never';
    readonly requestTemplates: Readonly<Record<string, string>>;
    /** By the status that the request template decides on. */
    readonly responses: { readonly default: MockReply; readonly [status: number]: MockReply };
  };
}

interface Reply {
  readonly statusCode: number;
  readonly body?: string;
  /** The media type of the body, if it is not JSON. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const mockReply = ({ statusCode, body, type = json, headers }: Reply): MockReply => ({
  statusCode: String(statusCode),
  // Otherwise the gateway decodes the text as base64 for clients that accept any type.
  contentHandling: 'CONVERT_TO_TEXT',
  responseParameters: inHeaders('method.response.header', headers),
  ...(body === undefined ? {} : { responseTemplates: { [type]: body } }),
});

const described = ({ statusCode, body, type = json, headers }: Reply) => ({
  [statusCode]: {
    description: 'Gateway',
    headers: Object.fromEntries(
      Object.keys({ ...safety, ...headers }).map((name) => [name, { schema: { type: 'string' } }]),
    ),
    ...(body === undefined
      ? {}
      : { content: { [type]: { schema: { type: type === json ? 'object' : 'string' } } } }),
  },
});

const mock = (
  reply: Reply,
  requestTemplate: string,
  other?: Reply,
  types: readonly string[] = bodyTypes,
): MockMethod => ({
  responses: { ...described(reply), ...(other && described(other)) },
  'x-amazon-apigateway-integration': {
    type: 'mock',
    // A multipart body arrives as bytes, to which no template can be applied until they are text.
    contentHandling: 'CONVERT_TO_TEXT',
    passthroughBehavior: 'never',
    // The gateway reads the status from the request that the template makes for the missing backend.
    requestTemplates: Object.fromEntries(types.map((type) => [type, requestTemplate])),
    responses: { default: mockReply(reply), ...(other && { [other.statusCode]: mockReply(other) }) },
  },
});

const status = (statusCode: number): string => JSON.stringify({ statusCode });

const unknown: Reply = { statusCode: notFound, body: noSuchRoute.responseTemplates[json] };

/** Any other path. */
export const unknownRoute = (): MockMethod => mock(unknown, status(unknown.statusCode));

/** A reply that is a page. Its policy stands in it: a header of the gateway's cannot contain quotes. */
const pageReply = (statusCode: number, message: string, headers: Reply['headers'] = {}): Reply => ({
  statusCode,
  body: plainDocumentOf(failurePage(undefined, statusCode, message)),
  type: html,
  headers: { 'Cache-Control': 'no-store', 'X-Frame-Options': 'DENY', ...headers },
});

/** Any other path below those of pages. */
export const unknownPage = (): MockMethod =>
  mock(pageReply(notFound, 'Check the address, or begin again at the first page.'), status(notFound));

/** Any method that a page does not have: 405, with the ones that it has. */
export const wrongPageMethod = (allowed: readonly string[]): MockMethod =>
  mock(pageReply(405, 'Load the page again, and try once more.', { Allow: allowed.join(', ') }), status(405));

/** Sends a browser from the root to its account, which sends it on to the sign-in if it has none. */
export const toAccount = (): MockMethod =>
  // Relative, as the name of the stage may stand before all paths.
  mock({ statusCode: 302, headers: { Location: 'account', 'Cache-Control': 'no-store' } }, status(302));

/**
 * A reply to a path whose variables in `ids` accept only digits. With anything else it is an unknown path: the VTL
 * template searches for a character that is not a digit (in VTL, a path variable is a Java string).
 */
const onPath = (reply: Reply, ids: readonly string[]): MockMethod => {
  if (ids.length === 0) return mock(reply, status(reply.statusCode));
  const isOther = ids.map((name) => `$input.params('${name}').matches('.*[^0-9].*')`).join(' || ');
  const template = `#if(${isOther})${status(unknown.statusCode)}#else${status(reply.statusCode)}#end`;
  return mock(reply, template, unknown);
};

/** The body of a refusal of a method (wire facts 1.3), with those that the path has. */
export const methodNotAllowed = (allowed: readonly string[]): string =>
  envelope('METHOD_NOT_ALLOWED', 'This method is not allowed here.', { allowed_methods: allowed });

/** Any method that a path does not have: 405, with the ones that it has. `ids`: its variables that take digits only. */
export const wrongMethod = (allowed: readonly string[], ids: readonly string[] = []): MockMethod =>
  onPath({ statusCode: 405, headers: { Allow: allowed.join(', ') }, body: methodNotAllowed(allowed) }, ids);

/**
 * `OPTIONS` on a path: 204 with its methods and no body, and what browsers ask before a page calls the API. It is short,
 * since every path has it: one with a body of another type is 415, and a variable may be anything.
 */
export const options = (allowed: readonly string[]): MockMethod => {
  const methods = allowed.join(', ');
  const headers = {
    Allow: methods,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': '3600',
  };
  return mock({ statusCode: 204, headers }, status(204), undefined, [json]);
};
