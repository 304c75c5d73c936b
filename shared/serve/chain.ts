import middy, { type MiddyfiedHandler } from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { Refusal, traceOf } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { isThrottled } from '../table/outcome.ts';
import { bodyLimit, multipartBody, parseBody, urlencodedBody } from './form.ts';
import type { Incoming, Middleware } from './incoming.ts';
import { compression, FAULT, failure, planned, SAFETY } from './reply.ts';

/** What every function has around it. */
export type Surroundings = Pick<Outside, 'environment' | 'report' | 'count'>;

/**
 * The way of every request, as middy runs it: `before` from top to bottom, the handler, then `after` (or `onError`) from
 * bottom to top.
 *
 * `checkKey` stands before the body is parsed, at endpoints that need a key.
 */
export const chainOf = <S extends Surroundings>(
  endpoint: Endpoint,
  outside: () => S,
  answer: (outside: S, incoming: Incoming) => Promise<APIGatewayProxyResult>,
  checkKey?: (outside: S, incoming: Incoming) => Promise<void>,
): MiddyfiedHandler<Incoming, APIGatewayProxyResult> =>
  middy<Incoming, APIGatewayProxyResult>()
    .use(compression)
    .use(commonHeaders)
    .use(errorEnvelope(endpoint, outside))
    .use(httpHeaderNormalizer() as Middleware)
    .use(addressCheck)
    .before(({ event }) => checkKey?.(outside(), event))
    .use(parseBody(bodyLimit(endpoint), urlencodedBody, multipartBody))
    .handler((incoming: Incoming) => answer(outside(), incoming));

/** Adds the headers that go with every reply, and those that this request earned whatever became of it. */
const addHeaders: Middleware['after'] = ({ event, response }) => {
  if (response) response.headers = { ...SAFETY, ...response.headers, ...event.replyHeaders };
};

const commonHeaders: Middleware = { after: addHeaders, onError: addHeaders };

/** Refuses a path that no address has, whoever calls. */
const addressCheck: Middleware = { before: ({ event }) => event.checkAddress() };

/**
 * Puts errors into the envelope. Each is counted; those that nobody planned are reported with their trace, as is what was
 * refused for want of room.
 */
const errorEnvelope = (endpoint: Endpoint, outside: () => Surroundings): Middleware => ({
  onError(request) {
    const { error, event: incoming } = request;
    const where = { endpoint: endpoint.id, requestId: incoming.requestId };
    const told = planned(error);
    const isPlanned = told instanceof Refusal;
    if (told !== error || !isPlanned) {
      const level = isPlanned ? 'WARN' : 'ERROR';
      const message = isPlanned ? 'request refused for lack of capacity' : 'request failed';
      outside().report({ level, message, ...where, error: traceOf(error) });
    }
    if (isThrottled(error)) outside().count('StoreThrottled', undefined, where);
    outside().count('Errors', isPlanned ? told.code : FAULT, where);
    request.response = failure(told);
  },
});
