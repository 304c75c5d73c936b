import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import { Refusal, traceOf } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { isThrottled } from '../table/write.ts';
import { authenticateAndLoad, checkKeyFirst } from './admission.ts';
import { type ClientFactories, type Clients, clientsFor, operatorLog, outsideOf } from './container.ts';
import { bodyLimit, multipartBody, parseBody, urlencodedBody } from './form.ts';
import { Incoming, type Middleware } from './incoming.ts';
import {
  compression,
  documentReply,
  FAULT,
  failure,
  fileReply,
  planned,
  SAFETY,
  type ServedFile,
  success,
} from './reply.ts';
import type { HandlerSpec } from './request.ts';

/** What a handler gets besides the event: Lambda's context, or in a listener what tells it that the client has gone. */
type Context = LambdaContext | { readonly gone: AbortSignal };

type Lambda = (event: APIGatewayProxyEvent, context?: Context) => Promise<APIGatewayProxyResult>;

/** A Lambda handler. Tests call it with their own outside. */
export type Served = Lambda & { readonly with: (outside: Outside) => Lambda; readonly endpoint: Endpoint };

/**
 * Makes the Lambda handler of an endpoint that needs credentials: what `authenticateAndLoad` does, between the
 * middlewares of `handlerOf`.
 *
 * `factories` make the clients besides the table that `run` gets as `request.clients` (`shared/serve/container.ts`).
 */
export function serve<
  P extends Record<string, Parameter>,
  R extends object,
  I = Input<P>,
  D = undefined,
  F extends ClientFactories = Record<never, never>,
>(endpoint: Endpoint<P, R>, spec: HandlerSpec<Input<P>, I, D, R, Clients<F>>, factories?: F): Served {
  const makers = factories ?? ({} as F);
  const { run, ...before } = spec as HandlerSpec<unknown, unknown, unknown, object, unknown>;
  const handle = inEnvelope((outside, incoming) =>
    authenticateAndLoad(outside, endpoint, incoming, {
      ...before,
      run: (request, loaded) => run({ ...request, clients: clientsFor(outside, makers) }, loaded),
    }),
  );
  return handlerOf(endpoint, container, handle, checkKeyFirst);
}

/** The same for an endpoint that anyone may call: there is no caller, only the organization of the host. */
export function serveAnyone<
  P extends Record<string, Parameter>,
  R extends object,
  M extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, R>,
  run: (request: {
    readonly input: Input<P>;
    readonly host: string;
    readonly baseUrl: string;
    readonly cookies: string | undefined;
    /** Name of the client program. */
    readonly client: string;
    /** The network address of the client, for limits. */
    readonly address: string;
    readonly outside: Outside;
    readonly clients: Clients<M>;
  }) => Promise<R>,
  factories?: M,
): Served {
  const makers = factories ?? ({} as M);
  const handle = inEnvelope(async (outside, incoming) => {
    const read = await incoming.read();
    const { input } = read;
    const client = incoming.clientName(read);
    const clients = clientsFor(outside, makers);
    const { host } = incoming.address;
    const { viewerAddress: address } = incoming;
    const from = { ...incoming.surroundings, host, client, address };
    return run({ input: input as Input<P>, ...from, outside, clients });
  });
  return handlerOf(endpoint, container, handle);
}

/** The same for an endpoint that serves a file to anyone. It has its clients only, and no organization. */
export function serveFile<P extends Record<string, Parameter>, M extends ClientFactories>(
  endpoint: Endpoint<P, object>,
  run: (request: { readonly input: Input<P>; readonly clients: Clients<M> }) => Promise<ServedFile>,
  factories: M,
): Served {
  return handlerOf(endpoint, withoutTable, async (outside, incoming) => {
    const { input } = await incoming.read();
    return fileReply(await run({ input: input as Input<P>, clients: clientsFor(outside, factories) }));
  });
}

/** The same for an endpoint that serves a JSON document of ours to anyone. `text` is called once per container. */
export function serveDocument(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  text: () => string,
): Served {
  let made: string | undefined;
  return handlerOf(endpoint, withoutTable, async () => {
    made ??= text();
    return documentReply(made);
  });
}

/** What every function has around it. */
type Surroundings = Pick<Outside, 'environment' | 'report' | 'count'>;

const container = (): Outside => outsideOf(process.env);

const bare: Surroundings = { environment: process.env, ...operatorLog(Date.now, process.env) };
const withoutTable = (): Surroundings => bare;

type Handle<S, R> = (outside: S, incoming: Incoming) => Promise<R>;

/** Puts the fields of a reply into the envelope, with the names of ignored parameters. */
const inEnvelope =
  (run: Handle<Outside, object>): Handle<Outside, APIGatewayProxyResult> =>
  async (outside, incoming) => {
    const reply = await run(outside, incoming);
    return success(reply, (await incoming.read()).ignored);
  };

/**
 * Puts the middlewares around a handler. middy runs `before` from top to bottom, the handler, then `after` (or
 * `onError`) from bottom to top.
 */
function handlerOf<S extends Surroundings>(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  outsideHere: () => S,
  handle: Handle<S, APIGatewayProxyResult>,
  checkKey?: Handle<S, void>,
): Served {
  const make = (outside: () => S): Lambda => {
    const handler = middy<Incoming, APIGatewayProxyResult>()
      .use(compression)
      .use(commonHeaders)
      .use(errorEnvelope(endpoint, outside))
      .use(httpHeaderNormalizer() as Middleware)
      .use(pathCheck)
      .before(({ event }) => checkKey?.(outside(), event))
      .use(parseBody(bodyLimit(endpoint), urlencodedBody, multipartBody))
      .handler((incoming: Incoming) => handle(outside(), incoming));
    return (event, context = {} as LambdaContext) => {
      const gone = 'gone' in context ? context.gone : undefined;
      return handler(new Incoming(endpoint, event, gone), context as LambdaContext);
    };
  };
  return Object.assign(make(outsideHere), {
    with: (outside: Outside) => make(() => outside as Outside & S),
    endpoint,
  });
}

/** Adds the headers of every reply, and those that this request set even if it failed. */
const addHeaders: Middleware['after'] = ({ event, response }) => {
  if (response) response.headers = { ...SAFETY, ...response.headers, ...event.replyHeaders };
};

const commonHeaders: Middleware = { after: addHeaders, onError: addHeaders };

/** Refuses a path that does not exist, before the caller is checked. */
const pathCheck: Middleware = { before: ({ event }) => event.checkAddress() };

/** Puts errors into the envelope and counts them. Faults, and refusals for lack of capacity, are logged with their trace. */
const errorEnvelope = (endpoint: Endpoint, outside: () => Surroundings): Middleware => ({
  onError(request) {
    const { error, event: incoming } = request;
    const where = { endpoint: endpoint.id, requestId: incoming.requestId };
    const refused = planned(error);
    const isPlanned = refused instanceof Refusal;
    if (refused !== error || !isPlanned) {
      const level = isPlanned ? 'WARN' : 'ERROR';
      const message = isPlanned ? 'request refused for lack of capacity' : 'request failed';
      outside().report({ level, message, ...where, error: traceOf(error) });
    }
    if (isThrottled(error)) outside().count('StoreThrottled', undefined, where);
    outside().count('Errors', isPlanned ? refused.code : FAULT, where);
    request.response = failure(refused);
  },
});
