import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import { Refusal, traceOf } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { directGroups, unreadGroups } from '../model/user/caller.ts';
import { isThrottled } from '../table/outcome.ts';
import { authenticateAndLoad, checkKeyFirst } from './admission.ts';
import { type ClientFactories, type Clients, clientsFor, operatorLog, outsideOf } from './container.ts';
import { Held } from './held.ts';
import { Incoming, type Middleware } from './incoming.ts';
import { bodyLimit, multipartBody, parseBody, urlencodedBody } from './parameters.ts';
import {
  compression,
  documentReply,
  FAULT,
  failure,
  fileReply,
  planned,
  SAFETY,
  type ServedFile,
  type StaticFile,
  staticReply,
  success,
} from './reply.ts';
import type { HandlerSpec, RequestByRole } from './request.ts';
import { rootOf } from './session.ts';

type Lambda = (event: APIGatewayProxyEvent, context?: LambdaContext) => Promise<APIGatewayProxyResult>;

/** A handler in two parts, for a server that holds replies: between them nothing need be kept but what is held. */
export interface HoldingHandler {
  /** Handles an event. Returns its reply, or holds it. */
  readonly begin: (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult | Held>;
  /** Makes the reply to the same event of what was held. */
  readonly finish: (event: APIGatewayProxyEvent, held: Held) => Promise<APIGatewayProxyResult>;
}

/** A Lambda handler. Tests call it with their own outside. */
export type Served = Lambda & {
  readonly with: (outside: Outside) => Lambda;
  readonly holding: (outside: Outside) => HoldingHandler;
  readonly endpoint: Endpoint;
};

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
  return handlerOf(endpoint, container, {
    handle: inEnvelope(authenticated(endpoint, spec, factories)),
    checkKey: checkKeyFirst,
  });
}

/**
 * The same for an endpoint whose reply depends on who the caller is and on their role, but not on the groups that they are
 * in. These are not read, which saves a request to the table.
 */
export function serveByRole<
  P extends Record<string, Parameter>,
  R extends object,
  I = Input<P>,
  D = undefined,
  F extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, R>,
  spec: HandlerSpec<Input<P>, I, D, R, Clients<F>, RequestByRole<I>>,
  factories?: F,
): Served {
  return handlerOf(endpoint, container, {
    handle: inEnvelope(authenticated(endpoint, spec, factories, unreadGroups)),
    checkKey: checkKeyFirst,
  });
}

/**
 * What `serve` does between the middlewares: the reply is what `run` of the handler returns.
 *
 * @param groupsOf reads the groups of the caller
 */
export function authenticated<
  P extends Record<string, Parameter>,
  R extends object,
  I,
  D,
  F extends ClientFactories,
>(
  endpoint: Endpoint<P, R>,
  spec: HandlerSpec<Input<P>, I, D, R, Clients<F>>,
  factories?: F,
  groupsOf = directGroups,
): Handle<Outside, object> {
  const makers = factories ?? ({} as F);
  const { load, run, ...before } = spec as HandlerSpec<unknown, unknown, unknown, object, unknown>;
  return (outside, incoming) =>
    authenticateAndLoad(outside, endpoint, incoming, {
      ...before,
      groupsOf,
      ...(load && { load: (request) => load({ ...request, clients: clientsFor(outside, makers) }) }),
      run: (request, loaded) => run({ ...request, clients: clientsFor(outside, makers) }, loaded),
    });
}

/** The same for an endpoint that anyone may call: there is no caller, only the organization of the host. */
export function serveAnyone<
  P extends Record<string, Parameter>,
  R extends object,
  M extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, R>,
  run: (request: AnyonesRequest<Input<P>, Clients<M>>) => Promise<R>,
  factories?: M,
): Served {
  return handlerOf(endpoint, container, { handle: inEnvelope(forAnyone(run, factories)) });
}

/** A request that anyone may make. */
export interface AnyonesRequest<I, C> {
  readonly input: I;
  readonly host: string;
  readonly baseUrl: string;
  readonly cookies: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether a page of another site led the browser here. */
  readonly fromOtherSite: boolean;
  /** Name of the client program. */
  readonly client: string;
  /** The network address of the client, for limits. */
  readonly address: string;
  readonly outside: Outside;
  readonly clients: C;
}

/** What `serveAnyone` does between the middlewares: the reply is what `run` returns. */
export function forAnyone<I, R extends object, M extends ClientFactories>(
  run: (request: AnyonesRequest<I, Clients<M>>) => Promise<R>,
  factories?: M,
): Handle<Outside, object> {
  const makers = factories ?? ({} as M);
  return async (outside, incoming) => {
    const read = await incoming.read();
    const input = read.input as I;
    const { host } = incoming.address;
    const from = { host, client: incoming.clientName(read), address: incoming.viewerAddress };
    return run({ input, ...incoming.surroundings, ...from, outside, clients: clientsFor(outside, makers) });
  };
}

/** The same for an endpoint that serves a file to anyone. It has its clients only, and no organization. */
export function serveFile<P extends Record<string, Parameter>, M extends ClientFactories>(
  endpoint: Endpoint<P, object>,
  run: (request: { readonly input: Input<P>; readonly clients: Clients<M> }) => Promise<ServedFile>,
  factories: M,
): Served {
  const handle: Handle<Surroundings, APIGatewayProxyResult> = async (outside, incoming) => {
    const { input } = await incoming.read();
    return fileReply(await run({ input: input as Input<P>, clients: clientsFor(outside, factories) }));
  };
  return handlerOf(endpoint, withoutTable, { handle });
}

/** The same for an endpoint that serves a JSON document of ours to anyone. `text` is called once per container. */
export function serveDocument(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  text: () => string,
): Served {
  let made: string | undefined;
  const handle = async (): Promise<APIGatewayProxyResult> => {
    made ??= text();
    return documentReply(made);
  };
  return handlerOf(endpoint, withoutTable, { handle });
}

/**
 * The same for an endpoint that serves what is the same for everybody until the next deployment, such as a script. `run`
 * also gets what comes before every path (`rootOf`).
 */
export function serveStatic<P extends Record<string, Parameter>>(
  endpoint: Endpoint<P, object>,
  run: (input: Input<P>, root: string) => Promise<StaticFile>,
): Served {
  const handle: Handle<Surroundings, APIGatewayProxyResult> = async (_, incoming) =>
    staticReply(await run((await incoming.read()).input as Input<P>, rootOf(incoming.surroundings.baseUrl)));
  return handlerOf(endpoint, withoutTable, { handle });
}

/** What every function has around it. */
type Surroundings = Pick<Outside, 'environment' | 'report' | 'count'>;

export const container = (): Outside => outsideOf(process.env);

const bare: Surroundings = { environment: process.env, ...operatorLog(Date.now, process.env) };
const withoutTable = (): Surroundings => bare;

/** A step of a request. */
export type Handle<S, R> = (outside: S, incoming: Incoming) => Promise<R>;

/** What a handler does between the middlewares, and how its replies look. */
interface Handling<S> {
  readonly handle: Handle<S, APIGatewayProxyResult>;
  /** Refuses a request before its body is parsed. */
  readonly checkKey?: Handle<S, void>;
  /** Makes the reply from what was thrown. By default it is in the envelope. */
  readonly failed?: (error: unknown, incoming: Incoming) => APIGatewayProxyResult;
  /** Headers of every reply that has none of its own under these names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Puts the fields of a reply into the envelope, with the names of ignored parameters. */
const inEnvelope =
  (run: Handle<Outside, object>): Handle<Outside, APIGatewayProxyResult> =>
  async (outside, incoming) => {
    const reply = await (incoming.late?.reply ?? run(outside, incoming));
    if (reply instanceof Held) {
      incoming.held = reply;
      // Nobody gets this one.
      return { statusCode: 204, body: '' };
    }
    return success(reply, (await incoming.read()).ignored);
  };

/**
 * Puts the middlewares around a handler. middy runs `before` from top to bottom, the handler, then `after` (or
 * `onError`) from bottom to top.
 */
export function handlerOf<S extends Surroundings>(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  outsideHere: () => S,
  { handle, checkKey, failed = failure, headers = SAFETY }: Handling<S>,
): Served {
  const make = (outside: () => S) => {
    const handler = middy<Incoming, APIGatewayProxyResult>()
      .use(compression)
      .use(commonHeaders(headers))
      .use(errorReply(endpoint, outside, failed))
      .use(httpHeaderNormalizer() as Middleware)
      .use(pathCheck)
      .before(({ event }) => (event.late ? undefined : checkKey?.(outside(), event)))
      .use(parseBody(bodyLimit(endpoint), urlencodedBody, multipartBody))
      .handler((incoming: Incoming) => handle(outside(), incoming));
    const begin = async (event: APIGatewayProxyEvent, context = {} as LambdaContext) => {
      const incoming = new Incoming(endpoint, event);
      const reply = await handler(incoming, context);
      return incoming.held ?? reply;
    };
    const finish = (event: APIGatewayProxyEvent, held: Held, context = {} as LambdaContext) =>
      handler(new Incoming(endpoint, event, held), context);
    return { begin, finish };
  };
  const whole = (outside: () => S): Lambda => {
    const { begin, finish } = make(outside);
    return async (event, context) => {
      const reply = await begin(event, context);
      return reply instanceof Held ? finish(event, reply, context) : reply;
    };
  };
  const given = (outside: Outside) => () => outside as Outside & S;
  return Object.assign(whole(outsideHere), {
    with: (outside: Outside) => whole(given(outside)),
    holding: (outside: Outside) => make(given(outside)),
    endpoint,
  });
}

/** Adds the headers of every reply, and those that this request set even if it failed. */
function commonHeaders(headers: Readonly<Record<string, string>>): Middleware {
  const add: Middleware['after'] = ({ event, response }) => {
    if (response) response.headers = { ...headers, ...response.headers, ...event.replyHeaders };
  };
  return { after: add, onError: add };
}

/** Refuses a path that does not exist, before the caller is checked. */
const pathCheck: Middleware = { before: ({ event }) => event.checkAddress() };

/** Makes replies from errors, and counts them. Faults, and refusals for lack of capacity, are logged with their trace. */
const errorReply = (
  endpoint: Endpoint,
  outside: () => Surroundings,
  failed: NonNullable<Handling<never>['failed']>,
): Middleware => ({
  onError(request) {
    const { error, event: incoming } = request;
    const where = { endpoint: endpoint.id, requestId: incoming.requestId };
    const refused = planned(error, endpoint.method);
    const isPlanned = refused instanceof Refusal;
    if (refused !== error || !isPlanned) {
      const level = isPlanned ? 'WARN' : 'ERROR';
      const message = isPlanned ? 'request refused for lack of capacity' : 'request failed';
      outside().report({ level, message, ...where, error: traceOf(error) });
    }
    if (isThrottled(error)) outside().count('StoreThrottled', undefined, where);
    outside().count('Errors', isPlanned ? refused.code : FAULT, where);
    request.response = failed(refused, incoming);
  },
});
