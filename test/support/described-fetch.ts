import { endpoints } from '../../shared/endpoints/all.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { checkReply } from './declared.ts';

/** Each endpoint with what its addresses look like; those with more of them fixed come first, as in the gateway. */
const routes = endpoints
  .map((endpoint) => ({
    endpoint,
    variables: endpoint.path.split('{').length - 1,
    address: new RegExp(
      `^${endpoint.gatewayPath
        .replaceAll('.', '\\.')
        .replace(/\{\w+\+\}/, '.+')
        .replace(/\{\w+\}/g, '[^/]+')}$`,
    ),
  }))
  .sort((one, other) => one.variables - other.variables);

/** The endpoint that answers there, if one does. */
const endpointAt = (method: string, path: string): Endpoint | undefined =>
  routes.find(({ endpoint, address }) => endpoint.method === method && address.test(path))?.endpoint;

/** Statuses that the gateway gives by itself, before any endpoint is asked. */
const OF_THE_GATEWAY: ReadonlySet<number> = new Set([403, 413, 415, 502, 504]);

/** Holds a reply that came over HTTP to what is declared of its endpoint. Throws for an address that is none of ours. */
export function checkDescribed(method: string, path: string, status: number, text: string): void {
  const endpoint = endpointAt(method, path);
  if (endpoint === undefined) {
    if (status !== 404 && status !== 405) throw new Error(`${method} ${path} is not described`);
  } else if (!OF_THE_GATEWAY.has(status) && (endpoint.serves === undefined || status >= 400)) {
    checkReply(endpoint, { status, body: JSON.parse(text) });
  }
}

/** Fetches something from a running service, and holds the reply as `realm.call` does where there is no HTTP. */
export async function describedFetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(address, init);
  const text = await response.text();
  checkDescribed(init.method ?? 'GET', new URL(address).pathname, response.status, text);
  return new Response(text, { status: response.status, headers: response.headers });
}
