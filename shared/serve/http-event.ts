import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/** The header by which Lambda names a request to a Web Function. It lets no client set it. */
const REQUEST_ID = 'lambda-web-request-id';

/** The path of a request as it was sent, also of a client that sends the whole address as proxies do. */
export const pathOf = ({ url = '/' }: IncomingMessage): string => targetOf(url).split('?')[0] ?? '';

const targetOf = (url: string): string => url.replace(/^https?:\/\/[^/?]*/i, '') || '/';

/**
 * What API Gateway would hand to a function for this request: handlers take nothing else. Only what they use is in it.
 *
 * Throws a `URIError` where the query is not properly percent-encoded.
 */
export function httpEvent(incoming: IncomingMessage, body?: Buffer): APIGatewayProxyEvent {
  const headers = lastValues(incoming.rawHeaders);
  const [path = '', ...query] = targetOf(incoming.url ?? '/').split('?');
  const given = headers[REQUEST_ID];
  const requestId = given !== undefined && /^[\w-]{1,64}$/.test(given) ? given : randomUUID();
  return {
    path,
    httpMethod: incoming.method ?? 'GET',
    headers,
    pathParameters: null,
    multiValueQueryStringParameters: queryValues(query.join('?')),
    body: body?.toString('base64') ?? null,
    isBase64Encoded: body !== undefined,
    requestContext: { requestId },
  } as unknown as APIGatewayProxyEvent;
}

/** Headers by their names in small letters. Of one that came twice, the last counts, as at the gateway. */
function lastValues(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    headers[rawHeaders[i]?.toLowerCase() ?? ''] = rawHeaders[i + 1] ?? '';
  }
  return headers;
}

function queryValues(query: string): Record<string, string[]> {
  const values: Record<string, string[]> = Object.create(null);
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [name = '', ...rest] = pair.split('=');
    const key = decoded(name);
    values[key] = [...(values[key] ?? []), decoded(rest.join('='))];
  }
  return values;
}

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
