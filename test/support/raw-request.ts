import { randomUUID } from 'node:crypto';
import type { Served } from '../../shared/serve/serve.ts';
import type { Person, TestRealm } from './realm.ts';

/** A request just as it comes from the gateway, for what `call` of a realm is too well-behaved to send. */
export interface Raw {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, readonly string[]>>;
}

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: replies are what the tests look into
  readonly body: any;
}

export const basic = ({ email, apiKey }: Pick<Person, 'email' | 'apiKey'>): string =>
  `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;

/** Sends a request to a function. Bytes travel as the gateway lets binary bodies travel. */
export async function sendRaw(
  { outside, host }: TestRealm,
  handler: Served,
  { headers, body = '', path, query }: Raw,
): Promise<RawReply> {
  const isBinary = typeof body !== 'string';
  const event = {
    headers: { host, ...headers },
    body: isBinary ? Buffer.from(body).toString('base64') : body,
    isBase64Encoded: isBinary,
    pathParameters: path ?? null,
    multiValueQueryStringParameters: query ?? null,
    requestContext: { requestId: randomUUID(), domainName: host },
  };
  type Event = Parameters<ReturnType<Served['with']>>[0];
  const result = await handler.with(outside)(event as unknown as Event);
  return { status: result.statusCode, headers: result.headers ?? {}, body: JSON.parse(result.body) };
}
