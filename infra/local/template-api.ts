import * as z from 'zod/mini';

/** A reply of the gateway's own: what API Gateway calls a gateway response. */
export interface GatewayResponse {
  readonly statusCode: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** By the media type that it is written in. */
  readonly templates: Readonly<Record<string, string>>;
}

/** A function that answers a route, and the ARN of the role by which the gateway calls it. */
export interface FunctionIntegration {
  readonly kind: 'function';
  readonly functionName: string;
  readonly functionArn: string;
  readonly credentials: string;
  readonly timeoutMs: number;
}

/** What answers a route: a function, or a reply written down in the API. */
export type Integration =
  | FunctionIntegration
  | {
      readonly kind: 'mock';
      /** The media types of requests that it takes; another one is refused. */
      readonly accepts: readonly string[];
      /** The reply to a request with these variables of the path. */
      readonly reply: (pathParameters: Readonly<Record<string, string>>) => GatewayResponse;
    };

export interface Route {
  /** An HTTP method in capitals, or `ANY`. */
  readonly method: string;
  /** The path with its variables, as `/users/{user_id}` or `/{proxy+}`. */
  readonly path: string;
  readonly integration: Integration;
}

export interface Stage {
  readonly name: string;
  readonly variables: Readonly<Record<string, string>> | undefined;
}

export interface RestApi {
  readonly id: string;
  readonly stage: Stage;
  readonly routes: readonly Route[];
  readonly binaryMediaTypes: readonly string[];
  /** By type, as `DEFAULT_4XX` or `REQUEST_TOO_LARGE`. */
  readonly gatewayResponses: Readonly<Record<string, GatewayResponse>>;
}

/** The longest that the gateway waits for an integration, and what it waits if the API does not say. */
const defaultTimeoutMs = 29_000;

/**
 * Reads a REST API from the OpenAPI document in its `Body`.
 *
 * @throws Error when the API has what the local gateway does not do (other integrations, authorizers, mapping of
 *   requests).
 */
export function readRestApi(id: string, stage: Stage, properties: unknown): RestApi {
  const { Body: body } = apiShape.parse(properties);
  return {
    id,
    stage,
    routes: Object.entries(body.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([key]) => methods.has(key))
        .map(([key, operation]) => ({
          method: key === anyMethod ? 'ANY' : key.toUpperCase(),
          path,
          integration: readIntegration(`${key} ${path}`, operation),
        })),
    ),
    binaryMediaTypes: body['x-amazon-apigateway-binary-media-types'],
    gatewayResponses: Object.fromEntries(
      Object.entries(body['x-amazon-apigateway-gateway-responses']).map(([type, response]) => [
        type,
        readReply(response, 'gatewayresponse.header.'),
      ]),
    ),
  };
}

const anyMethod = 'x-amazon-apigateway-any-method';
const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', anyMethod]);

const replyShape = z.object({
  statusCode: z.optional(z.union([z.number(), z.string()])),
  responseParameters: z._default(z.record(z.string(), z.string()), {}),
  responseTemplates: z._default(z.record(z.string(), z.string()), {}),
});

const apiShape = z.object({
  Body: z.object({
    paths: z.record(z.string(), z.record(z.string(), z.unknown())),
    'x-amazon-apigateway-binary-media-types': z._default(z.array(z.string()), []),
    'x-amazon-apigateway-gateway-responses': z._default(z.record(z.string(), replyShape), {}),
  }),
});

const integrationShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('aws_proxy'),
    uri: z.string(),
    credentials: z.string(),
    timeoutInMillis: z._default(z.number(), defaultTimeoutMs),
  }),
  z.object({
    type: z.literal('mock'),
    passthroughBehavior: z.literal('never'),
    requestTemplates: z.record(z.string(), z.string()),
    responses: z.catchall(z.object({ default: replyShape }), replyShape),
  }),
]);

const operationShape = z.object({
  'x-amazon-apigateway-integration': integrationShape,
  security: z.optional(z.tuple([])),
});

function readIntegration(where: string, operation: unknown): Integration {
  const parsed = operationShape.safeParse(operation);
  if (!parsed.success)
    throw new Error(`The local gateway cannot do ${where}: ${z.prettifyError(parsed.error)}`);
  const integration = parsed.data['x-amazon-apigateway-integration'];
  if (integration.type === 'mock') {
    const replies = new Map(
      Object.entries(integration.responses).map(([status, reply]) => [
        status,
        readReply(reply, 'method.response.header.'),
      ]),
    );
    const [statusOf, ...others] = [...new Set(Object.values(integration.requestTemplates))].map(readStatus);
    const usual = replies.get('default');
    if (!statusOf || others.length > 0 || !usual)
      throw new Error(`${where} has no one status to answer with.`);
    return {
      kind: 'mock',
      accepts: Object.keys(integration.requestTemplates),
      reply: (pathParameters) => replies.get(statusOf(pathParameters)) ?? usual,
    };
  }
  const { uri, credentials, timeoutInMillis: timeoutMs } = integration;
  const [, functionArn, functionName] = /\/functions\/(.*:function:([^/:]+))\/invocations$/.exec(uri) ?? [];
  if (!functionArn || !functionName) throw new Error(`The integration of ${where} names no function: ${uri}`);
  return { kind: 'function', functionName, functionArn, credentials, timeoutMs };
}

/** The status that a request template decides on: always the same one, or by what some variables of the path match. */
function readStatus(template: string): (pathParameters: Readonly<Record<string, string>>) => string {
  const [, conditions, yes, no] =
    /^#if\((.+)\)\{"statusCode":(\d+)\}#else\{"statusCode":(\d+)\}#end$/.exec(template) ?? [];
  if (conditions === undefined || yes === undefined || no === undefined) {
    const { statusCode } = fixedStatus.parse(JSON.parse(template));
    return () => String(statusCode);
  }
  const tests = conditions.split(' || ').map((condition) => {
    const [, name, pattern] = /^\$input\.params\('(\w+)'\)\.matches\('(.+)'\)$/.exec(condition) ?? [];
    if (name === undefined || pattern === undefined) {
      throw new Error(`The local gateway cannot evaluate ${condition} of a request template.`);
    }
    return { name, pattern: new RegExp(`^(?:${pattern})$`) };
  });
  return (values) => (tests.some(({ name, pattern }) => pattern.test(values[name] ?? '')) ? yes : no);
}

const fixedStatus = z.object({ statusCode: z.int() });

function readReply(reply: z.infer<typeof replyShape>, headerPrefix: string): GatewayResponse {
  const headers = Object.entries(reply.responseParameters).map(([name, value]) => {
    const literal = /^'(.*)'$/s.exec(value)?.[1];
    if (!name.startsWith(headerPrefix) || literal === undefined) {
      throw new Error(`The local gateway sets headers from literals only, and not ${name} from ${value}.`);
    }
    return [name.slice(headerPrefix.length), literal] as const;
  });
  for (const template of Object.values(reply.responseTemplates)) {
    if (/[$#]/.test(template)) throw new Error(`The local gateway cannot evaluate the template ${template}`);
  }
  return {
    statusCode: reply.statusCode === undefined ? undefined : Number(reply.statusCode),
    headers: Object.fromEntries(headers),
    templates: reply.responseTemplates,
  };
}
