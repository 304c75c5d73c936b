import type { APIGatewayProxyResult } from 'aws-lambda';
import { Refusal, refusal } from '../kernel/errors.ts';
import { CommitTimeoutError, ConflictError } from '../log/commit.ts';
import { isThrottled } from '../table/outcome.ts';

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
class BrowserReply {
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

/** What is said of a file that never changes: whoever fetched it may keep it. */
export const FOR_EVER = 'public, max-age=31536000, immutable';

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
  headers: {
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
  },
  body,
});

/** The code of everything that nobody planned. */
export const FAULT = 'INTERNAL_SERVER_ERROR';

/** Seconds after which a client may try again that met no room: by then the service has tried for long. */
const RETRY_AFTER = 2;

/**
 * What failed for want of room, in the store or among others who change the same thing at this moment, as the refusal that
 * says so (429, wire facts 1.3); all else as it is.
 */
export const planned = (error: unknown): unknown =>
  isThrottled(error) || error instanceof ConflictError || error instanceof CommitTimeoutError
    ? refusal('tooMuchAtOnce', { seconds: RETRY_AFTER })
    : error;

/** A planned refusal in the envelope; anything else is a 500 that says nothing. */
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
