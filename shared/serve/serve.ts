import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from 'aws-lambda';
import { firstCodePoints } from '../domain/folding.ts';
import type { Outside } from '../domain/outside.ts';
import { Refusal } from '../domain/problems.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import { type Admission, admit } from './admission.ts';
import { outsideOf } from './container.ts';
import { bodyFields, pathFields, queryFields } from './form.ts';
import { type Read, readParameters } from './parameters.ts';
import { failure, success } from './reply.ts';
import type { Handling } from './request.ts';
import { type Made, type Makers, toolsOf } from './tools.ts';

type Lambda = (event: APIGatewayProxyEvent, context?: LambdaContext) => Promise<APIGatewayProxyResult>;

/** A Lambda handler, which tests take with an outside of their own. */
export type Served = Lambda & { readonly with: (outside: Outside) => Lambda; readonly endpoint: Endpoint };

/**
 * Makes the Lambda handler of an endpoint that needs credentials: parse, authenticate and load in parallel, check
 * who may call, run, and put the outcome into the envelope. Every way in and out of a function is here.
 *
 * `makers` are the tools besides the table that `run` gets as `context.tools` (`shared/serve/tools.ts`).
 */
export function serve<
  P extends Record<string, Parameter>,
  R extends object,
  D = undefined,
  M extends Makers = Record<never, never>,
>(endpoint: Endpoint<P, R>, handling: Handling<Input<P>, D, R, Made<M>>, makers?: M): Served {
  const { run, ...before } = handling as Handling<unknown, unknown, object, unknown>;
  return served(endpoint, (outside, event, read) =>
    admit(outside, endpoint, admissionOf(event, read), {
      ...before,
      run: (context, loaded) => run({ ...context, tools: toolsOf(outside, makers ?? {}) }, loaded),
    }),
  );
}

/** The same for an endpoint that anyone may call: there is no caller, only the organization of the host. */
export function serveAnyone<P extends Record<string, Parameter>, R extends object>(
  endpoint: Endpoint<P, R>,
  run: (look: {
    readonly input: Input<P>;
    readonly host: string;
    readonly baseUrl: string;
    readonly outside: Outside;
  }) => Promise<R>,
): Served {
  return served(endpoint, (outside, event, read) => {
    if (read instanceof Error) throw read;
    const { host, baseUrl } = admissionOf(event, read);
    return run({ input: read.input as Input<P>, host, baseUrl, outside });
  });
}

/** What was read, or what is wrong with it: told only to those who may call at all. */
type Run = (outside: Outside, event: APIGatewayProxyEvent, read: Read | Refusal) => Promise<object>;

function served(endpoint: Endpoint<Record<string, Parameter>, object>, run: Run): Served {
  const make = (outside: () => Outside): Lambda => {
    const handler = middy(async (event: APIGatewayProxyEvent) => {
      const read = await parse(endpoint, event).catch(asRefusal);
      const reply = await run(outside(), event, read);
      return success(reply, read instanceof Error ? [] : read.ignored);
    }).onError((request) => {
      const { error, event } = request;
      if (!(error instanceof Refusal)) {
        outside().report({
          level: 'ERROR',
          endpoint: endpoint.id,
          requestId: event.requestContext?.requestId,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
      }
      request.response = failure(error);
    });
    return (event, context) =>
      handler(event, context ?? ({} as LambdaContext)) as Promise<APIGatewayProxyResult>;
  };
  const container = make(() => outsideOf(process.env));
  return Object.assign(container, { with: (outside: Outside) => make(() => outside), endpoint });
}

async function parse(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  event: APIGatewayProxyEvent,
): Promise<Read> {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  const fields = await bodyFields(body, headerOf(event, 'content-type') ?? '');
  const query = queryFields(event.multiValueQueryStringParameters);
  return readParameters(endpoint.parameters, pathFields(event.pathParameters), fields, query);
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

/** What the request says about itself. */
function admissionOf(event: APIGatewayProxyEvent, read: Read | Refusal): Admission {
  const given = headerOf(event, 'host') ?? event.requestContext?.domainName ?? '';
  const host = given.toLowerCase().replace(/:\d+$/, '');
  const scheme = headerOf(event, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return {
    host: host.length <= 255 && host.isWellFormed() ? host : '',
    baseUrl: `${scheme}://${given}`,
    authorization: headerOf(event, 'authorization'),
    client: clientOf(('client' in read ? read.client : undefined) ?? headerOf(event, 'user-agent')),
    input: read instanceof Refusal ? read : { read: read.input },
  };
}

/** The product token of the `User-Agent`, at most 30 characters (wire facts 3.9). */
const clientOf = (agent: string | undefined): string =>
  firstCodePoints(agent?.trim().split(/[/\s]/)[0] ?? '', 30) || 'Unspecified';

function headerOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  for (const [key, value] of Object.entries(event.headers ?? {}))
    if (key.toLowerCase() === name) return value;
  return undefined;
}
