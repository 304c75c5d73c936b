import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Input, Parameter } from '../endpoints/parameter.ts';
import type { Outside } from '../kernel/outside.ts';
import { authenticateAndLoad, checkKeyFirst } from './admission.ts';
import { chainOf, type Surroundings } from './chain.ts';
import { type ClientFactories, type Clients, clientsFor, outsideOf } from './container.ts';
import { Incoming } from './incoming.ts';
import { operatorLog } from './operator-log.ts';
import { documentReply, fileReply, type ServedFile, success } from './reply.ts';
import type { HandlerSpec } from './request.ts';

type Lambda = (event: APIGatewayProxyEvent, context?: LambdaContext) => Promise<APIGatewayProxyResult>;

/** A Lambda handler, which tests take with an outside of their own. */
export type Served = Lambda & { readonly with: (outside: Outside) => Lambda; readonly endpoint: Endpoint };

/**
 * Makes the Lambda handler of an endpoint that needs credentials: parse, authenticate and load (side by side where the
 * request is small), check who may call, run, and put the outcome into the envelope. What stands around this is the list
 * of middlewares in `chain.ts`.
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
  const { run, ...before } = spec as HandlerSpec<unknown, unknown, unknown, object, unknown>;
  return served(
    endpoint,
    (outside, incoming) =>
      authenticateAndLoad(outside, endpoint, incoming, {
        ...before,
        run: (request, loaded) => run({ ...request, clients: clientsFor(outside, factories ?? {}) }, loaded),
      }),
    checkKeyFirst,
  );
}

/** The same for an endpoint that anyone may call: there is no caller, only the organization of the host. */
export function serveAnyone<
  P extends Record<string, Parameter>,
  R extends object,
  M extends ClientFactories = Record<never, never>,
>(
  endpoint: Endpoint<P, R>,
  run: (look: {
    readonly input: Input<P>;
    readonly host: string;
    readonly baseUrl: string;
    readonly cookies: string | undefined;
    readonly outside: Outside;
    readonly clients: Clients<M>;
  }) => Promise<R>,
  factories?: M,
): Served {
  return served(endpoint, async (outside, incoming) => {
    const { input } = await incoming.read();
    const clients = clientsFor(outside, factories ?? ({} as M));
    return run({
      input: input as Input<P>,
      ...incoming.surroundings,
      host: incoming.address.host,
      outside,
      clients,
    });
  });
}

/** The same for an endpoint that serves a file to anyone. It knows its clients only, and no organization. */
export function serveFile<P extends Record<string, Parameter>, M extends ClientFactories>(
  endpoint: Endpoint<P, object>,
  run: (look: { readonly input: Input<P>; readonly clients: Clients<M> }) => Promise<ServedFile>,
  factories: M,
): Served {
  return handlerOf(
    endpoint,
    async (outside, incoming) => {
      const { input } = await incoming.read();
      return fileReply(await run({ input: input as Input<P>, clients: clientsFor(outside, factories) }));
    },
    () => bare,
  );
}

/** The same for an endpoint that serves a document of ours (JSON) to anyone, whatever is asked for. */
export const serveDocument = (
  endpoint: Endpoint<Record<string, Parameter>, object>,
  text: () => string,
): Served => {
  let made: string | undefined;
  return handlerOf(
    endpoint,
    async () => {
      made ??= text();
      return documentReply(made);
    },
    () => bare,
  );
};

/** What a function has around it that knows no organization. */
const bare: Surroundings = {
  environment: process.env,
  ...operatorLog(Date.now, process.env),
};

/** Answers a request; what is wrong with its parameters is told only to those who may call at all. */
type Run = (outside: Outside, incoming: Incoming) => Promise<object>;

function served(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  run: Run,
  checkKey?: (outside: Outside, incoming: Incoming) => Promise<void>,
): Served {
  return handlerOf(
    endpoint,
    async (outside, incoming) => {
      const reply = await run(outside, incoming);
      return success(reply, (await incoming.read()).ignored);
    },
    () => outsideOf(process.env),
    checkKey,
  );
}

function handlerOf<S extends Surroundings>(
  endpoint: Endpoint<Record<string, Parameter>, object>,
  answer: (outside: S, incoming: Incoming) => Promise<APIGatewayProxyResult>,
  container: () => S,
  checkKey?: (outside: S, incoming: Incoming) => Promise<void>,
): Served {
  const make = (outside: () => S): Lambda => {
    const handler = chainOf(endpoint, outside, answer, checkKey);
    return (event, context) => handler(new Incoming(endpoint, event), context ?? ({} as LambdaContext));
  };
  return Object.assign(make(container), {
    with: (outside: Outside) => make(() => outside as Outside & S),
    endpoint,
  });
}
