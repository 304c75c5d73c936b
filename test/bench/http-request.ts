import { randomUUID } from 'node:crypto';
import { type Agent, request } from 'node:http';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import type { Request } from './operation.ts';

/** A request as it goes over the wire. */
export interface HttpRequest {
  readonly method: Endpoint['method'];
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface HttpReply {
  readonly status: number;
  readonly location: string | undefined;
  /** The first cookie that it sets. */
  readonly cookie: string | undefined;
  readonly body: string;
  /** When the request was about to be written and when the reply was whole, by this process's clock, ms. */
  readonly sentAt: number;
  readonly repliedAt: number;
}

/** Who asks, and which organization. */
export interface Asker {
  readonly host: string;
  readonly account: { readonly email: string; readonly apiKey: string } | undefined;
}

/** Text goes as it is, everything else as JSON, as clients of the reference send it. */
const fieldsOf = (parameters: Readonly<Record<string, unknown>> = {}): [string, string][] =>
  Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);

/** Writes a request as a client would: parameters of a `GET` in the query, all others as a form. */
export function httpRequest(
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
  { parameters, path: inPath = {}, query, files, headers }: Request,
  { host, account }: Asker,
): HttpRequest {
  const fields = fieldsOf(parameters);
  const search = new URLSearchParams([...(method === 'GET' ? fields : []), ...fieldsOf(query)]).toString();
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? ''));
  const form = method === 'GET' ? undefined : formOf(fields, files);
  return {
    method,
    path: search === '' ? place : `${place}?${search}`,
    headers: {
      host,
      'user-agent': 'ParlanceBench/1.0',
      ...headers,
      ...(account && {
        authorization: `Basic ${Buffer.from(`${account.email}:${account.apiKey}`).toString('base64')}`,
      }),
      ...(form && { 'content-type': form.type }),
    },
    body: form?.body ?? Buffer.alloc(0),
  };
}

function formOf(fields: readonly [string, string][], files: readonly Uint8Array[] | undefined) {
  if (files === undefined) {
    const type = 'application/x-www-form-urlencoded';
    return { type, body: Buffer.from(new URLSearchParams([...fields]).toString()) };
  }
  const boundary = randomUUID();
  const part = (disposition: string, content: string | Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);
  const body = Buffer.concat([
    ...fields.map(([name, value]) => part(`name="${name}"`, value)),
    ...files.map((file, i) => part(`name="file${i}"; filename="file${i}"`, file)),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}

/**
 * Sends a request and waits for the whole reply, whatever its status. Without an agent it has a connection of its own: one that
 * is kept may be closed by the other side just when the next request is written.
 */
export async function send(
  site: URL,
  { method, path, headers, body }: HttpRequest,
  agent?: Agent,
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const length = body.length === 0 ? {} : { 'content-length': String(body.length) };
    const sentAt = performance.now();
    const outgoing = request(new URL(path, site), {
      method,
      agent: agent ?? false,
      headers: { ...headers, ...length },
    });
    outgoing.on('error', reject).on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming
        .on('error', reject)
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const { statusCode: status = 0, headers: answered } = incoming;
          const repliedAt = performance.now();
          resolve({
            status,
            location: answered.location,
            cookie: answered['set-cookie']?.[0],
            body: Buffer.concat(chunks).toString(),
            sentAt,
            repliedAt,
          });
        });
    });
    outgoing.end(body);
  });
}
