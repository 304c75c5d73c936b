import { createContext, Script } from 'node:vm';
import type { HttpRequest } from './http-request.ts';

/** A header as CloudFront hands it to a function. */
type EdgeHeaders = Record<string, { readonly value: string }>;

type Handler = (event: object) => { readonly headers: EdgeHeaders };

/** What a request becomes before it reaches the gateway. */
export type Edge = (request: HttpRequest) => HttpRequest;

/**
 * The part of CloudFront in front of the gateway that changes requests: runs the template's function for viewer requests
 * on their headers. API Gateway's own address works without it, and so does a gateway without an edge.
 *
 * @param code The function as it stands in the template.
 */
export function edgeOf(code: string): Edge {
  const context = createContext({});
  new Script(code).runInContext(context);
  const handler: Handler = new Script('handler').runInContext(context);
  return (request) => {
    const sent = headersOf(request);
    // CloudFront refuses a request without a host by itself; here the gateway does.
    if (sent.host === undefined) return request;
    const { headers } = handler({
      request: { method: request.method, uri: request.path, headers: { ...sent } },
      viewer: { ip: request.sourceIp },
    });
    const made = Object.entries(headers);
    const changed = made.filter(([name, { value }]) => sent[name]?.value !== value);
    const names = new Set(changed.map(([name]) => name));
    return {
      ...request,
      headers: { ...request.headers, ...Object.fromEntries(changed.map(([name, it]) => [name, it.value])) },
      rawHeaders: [
        ...without(request.rawHeaders, names),
        ...changed.flatMap(([name, { value }]) => [name, value]),
      ],
    };
  };
}

const headersOf = ({ headers }: HttpRequest): EdgeHeaders =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, { value: String(value) }]],
    ),
  );

/** Headers (names and values in turn) without those of these names. */
const without = (rawHeaders: readonly string[], names: ReadonlySet<string>): string[] =>
  rawHeaders.filter((_, i) => !names.has((rawHeaders[i - (i % 2)] ?? '').toLowerCase()));
