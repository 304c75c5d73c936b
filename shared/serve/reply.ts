import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { badRequest, Refusal, refusal } from '../kernel/errors.ts';
import { CommitTimeoutError, ConflictError } from '../log/commit.ts';
import { FOR_EVER } from '../model/realm/picture.ts';
import { isPassing, isThrottled } from '../table/outcome.ts';
import type { Middleware } from './incoming.ts';

/** The challenge that clients of the reference expect with every 401 (wire facts 1.3). */
const CHALLENGE = 'Basic realm="zulip"';

/**
 * Goes with every reply: it is what it says it is, and nothing of it runs, loads or is framed by a page. Pages of all
 * origins may read it, as in the reference: credentials are a header that the page sets itself.
 */
export const SAFETY = {
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' };

/** A file as it is served. */
export interface ServedFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Headers that go with a reply for a browser, a cookie perhaps. */
type Headers = Readonly<Record<string, string>>;

/** What a browser gets in place of the envelope. */
export class BrowserReply {
  readonly result: APIGatewayProxyResult;

  constructor(result: APIGatewayProxyResult) {
    this.result = result;
  }
}

/** Sends a browser on. */
export const redirection = (location: URL, headers: Headers = {}): BrowserReply =>
  new BrowserReply({
    statusCode: 302,
    headers: { ...HEADERS, ...headers, Location: location.href },
    body: '',
  });

/** A page, which runs its own script and loads nothing. */
export const page = (html: string, headers: Headers = {}): BrowserReply =>
  new BrowserReply({
    statusCode: 200,
    headers: {
      ...HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
    body: html,
  });

/** A successful reply in the envelope (specification 2.1), or what a browser gets instead. */
export function success(fields: object, ignored: readonly string[]): APIGatewayProxyResult {
  if (fields instanceof BrowserReply) return fields.result;
  return {
    statusCode: 200,
    headers: HEADERS,
    body: JSON.stringify({
      result: 'success',
      msg: '',
      ...fields,
      ...(ignored.length > 0 && { ignored_parameters_unsupported: ignored }),
    }),
  };
}

/** A file that never changes. */
export const fileReply = ({ bytes, contentType }: ServedFile): APIGatewayProxyResult => ({
  statusCode: 200,
  headers: {
    // What people uploaded is shown as what it was taken for, or not at all.
    'Content-Type': contentType,
    'Cache-Control': FOR_EVER,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  },
  body: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});

/** A document that is the same for everybody until the next deployment. */
export const documentReply = (body: string): APIGatewayProxyResult => ({
  statusCode: 200,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' },
  body,
});

/** Text or bytes that are the same for everybody until the next deployment. */
export interface StaticFile extends ServedFile {
  /** `Content-Security-Policy`, for a page. */
  readonly policy?: string;
}

/** Text goes as text, so that it can be compressed. */
export function staticReply({ bytes, contentType, policy }: StaticFile): APIGatewayProxyResult {
  const isText = contentType.startsWith('text/');
  return {
    statusCode: 200,
    headers: {
      'Content-Type': contentType,
      'Cache-Control': 'public, max-age=300',
      'Referrer-Policy': 'no-referrer',
      ...(policy !== undefined && { 'Content-Security-Policy': policy }),
    },
    body: Buffer.from(bytes).toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

/** The code of an unexpected error. */
export const FAULT = 'INTERNAL_SERVER_ERROR';

/** Seconds until a client may retry after 429 for lack of capacity. The service itself has retried before. */
const RETRY_AFTER = 2;

/**
 * Turns an error for lack of capacity (throttling, or too many changes of the same thing at once) into its refusal (429,
 * wire facts 1.3). So does a passing error of the store where the request only reads: nothing can have been done, and the
 * client asks again. Returns any other error as it is.
 */
export const planned = (error: unknown, method: Endpoint['method']): unknown =>
  isThrottled(error) ||
  error instanceof ConflictError ||
  error instanceof CommitTimeoutError ||
  (method === 'GET' && isPassing(error))
    ? refusal('tooMuchAtOnce', { seconds: RETRY_AFTER })
    : error;

/** A refusal in the envelope; any other error is a 500 without details. */
export function failure(error: unknown): APIGatewayProxyResult {
  if (!(error instanceof Refusal)) {
    return envelope(500, {
      msg: 'Something went wrong here; it has been reported.',
      code: FAULT,
    });
  }
  const { status, message, code, fields } = error;
  return envelope(
    status,
    { msg: message, code, ...fields },
    {
      ...(status === 401 && { 'WWW-Authenticate': CHALLENGE }),
      ...(status === 429 && { 'Retry-After': String(fields['retry-after']) }),
    },
  );
}

const envelope = (
  statusCode: number,
  fields: object,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode,
  headers: { ...HEADERS, ...headers },
  body: JSON.stringify({ result: 'error', ...fields }),
});

/** What a listener answers by itself, as the gateway does for every other path (`infra/gateway-replies.ts`). */
const plain = (
  statusCode: number,
  code: string,
  msg: string,
  fields: object = {},
): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', ...SAFETY },
  body: JSON.stringify({ result: 'error', msg, code, ...fields }),
});

/** A request that is not HTTP, or not as it must be. */
export const badRequestReply = (status: number): APIGatewayProxyResult =>
  plain(status, 'BAD_REQUEST', 'The request could not be understood.');

export const tooLargeReply = (): APIGatewayProxyResult =>
  plain(413, 'BAD_REQUEST', 'The request is too large.');

export function noSuchPath(): APIGatewayProxyResult {
  const { status, code, message } = refusal('noSuchAddress');
  return plain(status, code, message);
}

/** A request that went round CloudFront. */
export const notThroughTheEdge = (): APIGatewayProxyResult =>
  plain(403, 'BAD_REQUEST', 'Requests for events go to the address of the service.');

/** A method that the path does not have (wire facts 1.3). */
export function methodNotAllowed(allowed: readonly string[]): APIGatewayProxyResult {
  const { headers, ...reply } = plain(405, 'METHOD_NOT_ALLOWED', 'This method is not allowed here.', {
    allowed_methods: allowed,
  });
  return { ...reply, headers: { ...headers, Allow: allowed.join(', ') } };
}

/** `OPTIONS`: what browsers ask before a page calls the API. */
export function preflight(allowed: readonly string[]): APIGatewayProxyResult {
  const methods = allowed.join(', ');
  const headers = {
    ...SAFETY,
    Allow: methods,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': '3600',
  };
  return { statusCode: 204, headers, body: '' };
}

const compressed = promisify(gzip);

/** Shorter text (characters) is not compressed: it fits into a few packets. */
const WORTHWHILE = 8_192;

/** More compression gains little and takes a small function long. */
const LEVEL = 4;

/** Bytes that Lambda takes for a reply, as JSON. */
const LARGEST = 6 * 1024 * 1024;

/** How many times longer text can become as JSON in UTF-8. */
const GROWTH = 3;

/** What a client accepts: its headers of these names. */
export interface Accepted {
  readonly types: string | undefined;
  readonly encodings: string | undefined;
}

/** Compresses the reply if needed (`delivered`). */
const deliver: Middleware['after'] = async (request) => {
  const { event, response } = request;
  if (!response) return;
  const accepted = { types: event.header('accept'), encodings: event.header('accept-encoding') };
  request.response = await delivered(response, accepted);
};

export const compression: Middleware = { after: deliver, onError: deliver };

/**
 * Makes a reply ready for its way: large text goes compressed to clients that take it so, as the bytes that the gateway
 * hands on. It does that for clients whose first type of `Accept` is binary to it, which is every type
 * (`infra/gateway-body.ts`). Where a client names no type, nobody documents what the gateway does, so text stays text.
 *
 * Text that is larger than Lambda takes is compressed all the same, unless the client refuses gzip: a client that sends no
 * `Accept-Encoding` takes any coding (RFC 9110, 12.5.3). What is still too large is
 * `BAD_REQUEST`, which tells the client more than the gateway's 502 would.
 */
export async function delivered(
  reply: APIGatewayProxyResult,
  { types, encodings }: Accepted,
): Promise<APIGatewayProxyResult> {
  if (reply.isBase64Encoded || reply.body.length < WORTHWHILE) return reply;
  // Caches must know that other clients may get another encoding.
  const headers = { ...reply.headers, Vary: 'Accept, Accept-Encoding' };
  const text = { ...reply, headers };
  const mayCompress = acceptsGzip(encodings);
  if (!(mayCompress && namesType(types)) && fits(text)) return text;
  if (!mayCompress && encodings !== undefined) throw tooLarge(false);
  const zipped = {
    ...reply,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: (await compressed(reply.body, { level: LEVEL })).toString('base64'),
    isBase64Encoded: true,
  };
  if (!fits(zipped)) throw tooLarge(true);
  return zipped;
}

/** Whether Lambda takes a reply. */
const fits = (reply: APIGatewayProxyResult): boolean =>
  reply.body.length * GROWTH < LARGEST || Buffer.byteLength(JSON.stringify(reply)) <= LARGEST;

const tooLarge = (isCompressed: boolean): Error =>
  badRequest(
    isCompressed
      ? 'The reply is too large to be sent; ask for less at once.'
      : "The reply is too large to be sent; ask for less at once, or let it be compressed ('Accept-Encoding: gzip').",
  );

/** Whether `Accept` begins with a type, or a range of them. */
const namesType = (accepted = ''): boolean => /^\s*[^\s/,;]+\/[^\s/,;]+\s*([,;]|$)/.test(accepted);

/** Whether a client accepts gzip and does not prefer plain text (RFC 9110, 12.5.3). */
function acceptsGzip(accepted = ''): boolean {
  const weights = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((part): [string, number] => {
        const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [coding, weight === undefined ? 1 : Number(weight.slice(2))];
      }),
  );
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}
