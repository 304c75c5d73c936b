import type { IncomingMessage } from 'node:http';

/** API Gateway's limit for a request, in bytes. */
export const bodyLimit = 10 * 1024 * 1024;

/** What of a body over the limit is still taken, unkept, so that the client comes to read its refusal. */
const drainLimit = 10 * bodyLimit;

/** A request that has arrived as a whole. */
export interface HttpRequest {
  readonly method: string;
  /** The path as it was sent, percent-encoded. */
  readonly path: string;
  /** The query as it was sent, without its question mark. */
  readonly query: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** By lower-case name; of a header that came twice, the values joined. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly httpVersion: string;
  readonly sourceIp: string;
  readonly body: Buffer;
}

/** The body was over the limit. */
export class BodyTooLarge extends Error {}

/**
 * Reads a request to its end.
 *
 * @throws BodyTooLarge when the body is over the limit; what was over it was not kept.
 * @throws Error when the client went away before the end.
 */
export async function readRequest(incoming: IncomingMessage): Promise<HttpRequest> {
  const body = await readBody(incoming);
  const [path = '', ...query] = targetOf(incoming).split('?');
  return {
    method: incoming.method ?? 'GET',
    path,
    query: query.join('?'),
    rawHeaders: incoming.rawHeaders,
    headers: incoming.headers,
    httpVersion: incoming.httpVersion,
    sourceIp: (incoming.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    body,
  };
}

const noBody = Buffer.alloc(0);

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  // Reading leaves listeners that stay until the reply is sent, and most requests have no body.
  const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers;
  if (length === undefined && coding === undefined) return noBody;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= bodyLimit) chunks.push(chunk);
    else chunks.length = 0;
    if (size > drainLimit) break;
  }
  if (size > bodyLimit) throw new BodyTooLarge();
  return Buffer.concat(chunks);
}

/** The path and query, also of a client that sends the whole address as proxies do. */
const targetOf = ({ url = '/' }: IncomingMessage): string => url.replace(/^https?:\/\/[^/?]*/i, '') || '/';
