import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod/mini';
import { isBinary, mediaType } from './media-type.ts';
import type { RestApi } from './template-api.ts';

/** What the gateway sends to the client. */
export interface GatewayReply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** The errors that the gateway meets by itself, and the statuses that they have if the API does not say. */
const ownStatuses = {
  BAD_REQUEST_PARAMETERS: 400,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  API_CONFIGURATION_ERROR: 500,
  INTEGRATION_TIMEOUT: 504,
} as const;

/** An error of the gateway's own: one that has a name, or a status for which the API has a default. */
export type GatewayError = keyof typeof ownStatuses | number;

/** Renders an error of the gateway's own as the API's gateway responses say. */
export function errorReply(api: RestApi, error: GatewayError): GatewayReply {
  const status = typeof error === 'number' ? error : ownStatuses[error];
  const fallback = status >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
  const response = api.gatewayResponses[error] ?? api.gatewayResponses[fallback];
  return writtenReply(response ?? unconfigured, response?.statusCode ?? status);
}

/** Renders a reply that is written down in the API. */
export function writtenReply(
  { headers, templates }: Pick<RestApi['gatewayResponses'][string], 'headers' | 'templates'>,
  status: number,
): GatewayReply {
  const [type, text] = Object.entries(templates)[0] ?? ['application/json', ''];
  return {
    status,
    headers: [...(text === '' ? [] : [['Content-Type', type] as const]), ...Object.entries(headers)],
    body: Buffer.from(text),
  };
}

const unconfigured = { headers: {}, templates: { 'application/json': '{"message":"The request failed."}' } };

/** What a function may answer; with any other member API Gateway takes none of it. */
const functionReply = z.strictObject({
  statusCode: z.optional(z.union([z.int(), z.string().check(z.regex(/^\d{3}$/))])),
  headers: z.nullish(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  multiValueHeaders: z.nullish(z.record(z.string(), z.array(z.union([z.string(), z.boolean()])))),
  body: z.nullish(z.string()),
  isBase64Encoded: z.nullish(z.boolean()),
});

/**
 * Headers of a function's reply that belong to the connection; the gateway sends them under another name. API Gateway
 * does so with `WWW-Authenticate` too. Here that keeps its name, as clients need it: on AWS, whatever stands before
 * the gateway has to give it back.
 */
const remapped = new Set(['connection', 'content-length', 'date', 'server']);

/**
 * Makes the HTTP reply from what a function returned (JSON), or undefined where API Gateway would call it malformed.
 *
 * Base64 becomes bytes only if the first type that the client accepts is one that the API treats as binary. What API
 * Gateway does where a client says no type is not documented; here it gets the base64, so that nothing relies on better.
 */
export function proxyReply(
  payload: string,
  accept: string | undefined,
  api: RestApi,
): GatewayReply | undefined {
  const parsed = functionReply.safeParse(JSON.parse(payload));
  if (!parsed.success) return undefined;
  const { statusCode = 200, headers, multiValueHeaders, body, isBase64Encoded } = parsed.data;
  const status = Number(statusCode);
  if (status < 200 || status > 599) return undefined;

  const values = new Map<string, string[]>();
  for (const [name, list] of Object.entries(multiValueHeaders ?? {})) values.set(name, list.map(String));
  for (const [name, value] of Object.entries(headers ?? {})) {
    const list = values.get(name) ?? [];
    if (!list.includes(String(value))) values.set(name, [...list, String(value)]);
  }
  if (![...values.keys()].some((name) => name.toLowerCase() === 'content-type')) {
    values.set('Content-Type', ['application/json']);
  }
  if (![...values].every(([name, list]) => list.every((value) => isHeader(name, value)))) return undefined;
  const sent = [...values].filter(([name]) => name.toLowerCase() !== 'transfer-encoding');
  const binary = isBase64Encoded === true && isBinary(mediaType(accept), api.binaryMediaTypes);
  return {
    status,
    headers: sent.flatMap(([name, list]) =>
      list.map(
        (value) => [remapped.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name, value] as const,
      ),
    ),
    body: Buffer.from(body ?? '', binary ? 'base64' : 'utf8'),
  };
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
