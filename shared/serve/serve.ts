import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from 'aws-lambda';
import { firstCodePoints } from '../domain/folding.ts';
import type { Outside } from '../domain/outside.ts';
import { badRequest, Refusal } from '../domain/problems.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import { type Admission, admit } from './admission.ts';
import { outsideOf } from './container.ts';
import { readCookie } from './cookie.ts';
import { delivered } from './delivery.ts';
import { type Fields, pathFields, queryFields, readForm } from './form.ts';
import { operatorLog } from './operator-log.ts';
import { checkAddress, type Read, readParameters } from './parameters.ts';
import { type PublicAddress, publicAddress } from './public-address.ts';
import { documentReply, FAULT, failure, fileReply, planned, type ServedFile, success } from './reply.ts';
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
export function serveAnyone<
  P extends Record<string, Parameter>,
  R extends object,
  M extends Makers = Record<never, never>,
>(
  endpoint: Endpoint<P, R>,
  run: (look: {
    readonly input: Input<P>;
    readonly host: string;
    readonly baseUrl: string;
    readonly cookie: (name: string) => string | undefined;
    readonly outside: Outside;
    readonly tools: Made<M>;
  }) => Promise<R>,
  makers?: M,
): Served {
  return served(endpoint, (outside, event, read) => {
    if (read instanceof Error) throw read;
    const { host, baseUrl, cookie } = admissionOf(event, read);
    const tools = toolsOf(outside, makers ?? ({} as M));
    return run({ input: read.input as Input<P>, host, baseUrl, cookie, outside, tools });
  });
}

/** The same for an endpoint that serves a file to anyone. It knows its tools only, and no organization. */
export function serveFile<P extends Record<string, Parameter>, M extends Makers>(
  endpoint: Endpoint<P, object>,
  run: (look: { readonly input: Input<P>; readonly tools: Made<M> }) => Promise<ServedFile>,
  makers: M,
): Served {
  return handlerOf(
    endpoint,
    async (outside, _, read) => {
      if (read instanceof Error) throw read;
      return fileReply(await run({ input: read.input as Input<P>, tools: toolsOf(outside, makers) }));
    },
    () => bare,
  );
}

/** The same for an endpoint that serves a document of ours (JSON) to anyone, whatever is asked for. */
export const serveDocument = (
  endpoint: Endpoint<Record<string, Parameter>, object>,
  text: () => string,
): Served =>
  handlerOf(
    endpoint,
    async () => documentReply(text()),
    () => bare,
  );

/** What a function has around it that knows no organization. */
const bare: Surroundings = {
  environment: process.env,
  ...operatorLog(Date.now),
};

/** What was read, or what is wrong with it: told only to those who may call at all. */
type Run = (outside: Outside, event: APIGatewayProxyEvent, read: Read | Refusal) => Promise<object>;

function served(endpoint: Endpoint<Record<string, Parameter>, object>, run: Run): Served {
  return handlerOf(
    endpoint,
    async (outside, event, read) =>
      success(
        await run(outside, event, read),
        read instanceof Error ? [] : read.ignored,
        addressOf(event).baseUrl,
      ),
    () => outsideOf(process.env),
  );
}

/** What every function has around it. */
type Surroundings = Pick<Outside, 'environment' | 'report' | 'count'>;

function handlerOf<S extends Surroundings>(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  answer: (outside: S, event: APIGatewayProxyEvent, read: Read | Refusal) => Promise<APIGatewayProxyResult>,
  container: () => S,
): Served {
  const make = (outside: () => S): Lambda => {
    const handler = middy(async (event: APIGatewayProxyEvent) => {
      const path = pathFields(event.pathParameters);
      checkAddress(endpoint.parameters, path);
      return answer(outside(), event, await parse(endpoint, event, path).catch(asRefusal));
    }).onError((request) => {
      const { error, event } = request;
      const where = { endpoint: endpoint.id, requestId: event.requestContext?.requestId };
      const told = planned(error);
      const isPlanned = told instanceof Refusal;
      if (told !== error || !isPlanned) {
        const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
        outside().report({ level: isPlanned ? 'WARN' : 'ERROR', ...where, error: trace });
      }
      outside().count('Errors', isPlanned ? told.code : FAULT, where);
      request.response = failure(told);
    });
    return async (event, context) => {
      const reply = (await handler(event, context ?? ({} as LambdaContext))) as APIGatewayProxyResult;
      return delivered(reply, {
        types: headerOf(event, 'accept'),
        encodings: headerOf(event, 'accept-encoding'),
      });
    };
  };
  return Object.assign(make(container), {
    with: (outside: Outside) => make(() => outside as Outside & S),
    endpoint,
  });
}

async function parse(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  event: APIGatewayProxyEvent,
  path: Fields,
): Promise<Read> {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  const { fields, files } = await readForm(body, headerOf(event, 'content-type') ?? '');
  const query = queryFields(event.multiValueQueryStringParameters);
  const read = readParameters(endpoint.parameters, path, fields, query);
  return endpoint.file === undefined ? read : { ...read, file: theFile(files) };
}

/** The one file of an upload (wire facts 11). */
function theFile([file, ...others]: readonly Uint8Array[]): Uint8Array {
  if (file === undefined || others.length > 0) throw badRequest('Send exactly one file.');
  return file;
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

/** What the request says about itself. */
function admissionOf(event: APIGatewayProxyEvent, read: Read | Refusal): Admission {
  const address = addressOf(event);
  return {
    ...address,
    cookie: (name) => readCookie(address.baseUrl, headerOf(event, 'cookie'), name),
    fromOtherSite: headerOf(event, 'sec-fetch-site') === 'cross-site',
    authorization: headerOf(event, 'authorization'),
    client: clientOf(('client' in read ? read.client : undefined) ?? headerOf(event, 'user-agent')),
    input: read instanceof Refusal ? read : { read: read.input },
    ...('file' in read && { file: read.file }),
  };
}

const addressOf = (event: APIGatewayProxyEvent): PublicAddress =>
  publicAddress(event, (name) => headerOf(event, name));

/** The product token of the `User-Agent`, at most 30 characters (wire facts 3.9). The table keeps well-formed text only. */
const clientOf = (agent: string | undefined): string =>
  firstCodePoints(agent?.toWellFormed().trim().split(/[/\s]/)[0] ?? '', 30) || 'Unspecified';

function headerOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  for (const [key, value] of Object.entries(event.headers ?? {}))
    if (key.toLowerCase() === name) return value;
  return undefined;
}
