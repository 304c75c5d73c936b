import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { Edge } from './edge.ts';
import {
  errorReply,
  type GatewayError,
  type GatewayReply,
  proxyReply,
  writtenReply,
} from './gateway-reply.ts';
import { BodyTooLarge, type HttpRequest, readRequest } from './http-request.ts';
import type { InvocationResult } from './invocation.ts';
import { roleMayInvoke } from './invoke-permission.ts';
import type { ListenerRoute } from './listener-route.ts';
import { mediaType } from './media-type.ts';
import { newRequestIds, proxyEvent, type RequestIds } from './proxy-event.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import type { FunctionIntegration, RestApi, Route } from './template-api.ts';
import type { Role } from './template-roles.ts';
import type { Place } from './template-values.ts';

export interface GatewayOptions {
  readonly api: RestApi;
  /** By their ARNs; integrations name those by which they call functions. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly place: Place;
  readonly invoke: (functionName: string, event: string, signal: AbortSignal) => Promise<InvocationResult>;
  /** What stands before the gateway and changes requests; nothing, unless there is something. */
  readonly edge?: Edge | undefined;
  /** Where requests of one path go instead of to their functions, if anywhere. */
  readonly listener?: ListenerRoute | undefined;
  /** Answers where the API has no address of its own, if it has one there: a page for people. */
  readonly page?: Page | undefined;
  /** Gets unexpected errors. */
  readonly onFault: (error: unknown) => void;
  /** Milliseconds that a client may take to send a request: half a minute, unless said otherwise. */
  readonly patience?: number;
}

/** Answers a request, or does not know its address. */
export type Page = (request: HttpRequest) => Promise<GatewayReply | undefined>;

/** Lambda's limit for an event, in bytes. */
const largestEvent = 6 * 1024 * 1024;

/** Milliseconds that a client may take to send a request, and the longest until it is seen that it took longer. */
const usualPatience = 30_000;
const longestCheck = 5_000;

/** Whether a route is that of every address which the API does not have. */
const isNowhere = ({ path, integration }: Route): boolean =>
  integration.kind === 'mock' && (path === '/' || path === '/{proxy+}');

/** Codes of errors with which a connection to the listener ends when one of the two sides goes. */
const ofConnection = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** API Gateway on a laptop: an HTTP server that answers as the REST API of the template says. */
export class Gateway {
  readonly server: Server;
  readonly #options: GatewayOptions;
  readonly #routes: RouteTable;
  /** The integrations whose role may not call their function. */
  readonly #barred: ReadonlySet<Route['integration']>;
  #answering = 0;
  #stopping = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { api, roles } = options;
    this.#routes = new RouteTable(api.routes);
    const integrations = api.routes.map(({ integration }) => integration);
    this.#barred = new Set(integrations.filter((it) => it.kind !== 'mock' && !roleMayInvoke(roles, it)));
    // A request without a host is answered like any other bad one, and not by Node in its own words.
    const { patience = usualPatience } = options;
    this.server = createServer({
      requestTimeout: patience,
      headersTimeout: patience,
      connectionsCheckingInterval: Math.min(patience, longestCheck),
      requireHostHeader: false,
    });
    this.server.on('request', (incoming, outgoing) => void this.#serve(incoming, outgoing));
    // Whatever a client expects besides, it gets an answer; Node would refuse it in its own words.
    this.server.on('checkExpectation', (incoming, outgoing) => void this.#serve(incoming, outgoing));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#turnAway(error, socket));
  }

  /** Takes no more requests, and resolves when those that are being answered are. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    if (this.#answering === 0) this.server.closeAllConnections();
    await closed;
  }

  /** Counts the requests that are being answered, so that the last of them lets the server end. */
  #count(outgoing: ServerResponse): void {
    this.#answering += 1;
    outgoing.once('close', () => {
      this.#answering -= 1;
      if (this.#stopping && this.#answering === 0) this.server.closeAllConnections();
    });
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.#count(outgoing);
    const ids = newRequestIds();
    try {
      this.#send(outgoing, await this.#read(incoming, outgoing, ids), ids);
    } catch (error) {
      if (error instanceof BodyTooLarge) this.#send(outgoing, this.#error('REQUEST_TOO_LARGE'), ids);
      else if (incoming.complete) this.#options.onFault(error);
      // A client that went away in the middle of its request gets no answer, and neither does a fault of ours.
      if (!outgoing.headersSent) outgoing.destroy();
    }
  }

  /** Returns the promise of the reply, and awaits nothing after the request: it need not be kept while its reply is awaited. */
  async #read(incoming: IncomingMessage, outgoing: ServerResponse, ids: RequestIds): Promise<GatewayReply> {
    const { edge = (it) => it } = this.#options;
    return this.#answer(edge(await readRequest(incoming)), ids, outgoing);
  }

  async #answer(request: HttpRequest, ids: RequestIds, outgoing: ServerResponse): Promise<GatewayReply> {
    const { api, place } = this.#options;
    const match = this.#match(request);
    if (match === 'not readable') return this.#error(400);
    if (!match || isNowhere(match.route)) {
      const page = await this.#options.page?.(request);
      if (page) return page;
    }
    if (!match) return this.#error('MISSING_AUTHENTICATION_TOKEN');
    const { integration } = match.route;
    if (integration.kind === 'mock') {
      const type = mediaType(request.headers['content-type']?.toString()) || 'application/json';
      if (!integration.accepts.includes(type)) return this.#error('UNSUPPORTED_MEDIA_TYPE');
      const reply = integration.reply(match.pathParameters);
      return writtenReply(reply, reply.statusCode ?? 200);
    }
    if (this.#barred.has(integration)) return this.#error('API_CONFIGURATION_ERROR');
    const { listener } = this.#options;
    if (listener?.path === match.route.path && listener.methods.includes(match.route.method)) {
      return this.#forward(listener, request, match, ids, outgoing);
    }
    const event = JSON.stringify(proxyEvent(request, match, api, ids, place));
    if (Buffer.byteLength(event) > largestEvent) return this.#error('REQUEST_TOO_LARGE');
    return this.#invoke(integration, event, request.headers.accept?.toString());
  }

  /** Waits for the listener, however long that takes, as long as the client is there. */
  #forward(
    listener: ListenerRoute,
    request: HttpRequest,
    match: RouteMatch,
    ids: RequestIds,
    client: ServerResponse,
  ): Promise<GatewayReply> {
    const { api, place } = this.#options;
    const { multiValueHeaders: headers } = proxyEvent(request, match, api, ids, place);
    const { method, query, body } = request;
    const target = query === '' ? listener.path : `${listener.path}?${query}`;
    const { requestId } = ids;
    return listener.forward({ method, target, headers, body, requestId }, client).catch(this.#unanswered);
  }

  /** The reply when the listener gave none. */
  readonly #unanswered = (error: NodeJS.ErrnoException): GatewayReply => {
    if (!ofConnection.has(error.code ?? '')) this.#options.onFault(error);
    return this.#error(502);
  };

  /** The route, if there is one; a path or query that is not properly percent-encoded has none to be looked for. */
  #match({ method, path, query }: HttpRequest): RouteMatch | undefined | 'not readable' {
    try {
      decodeURIComponent(path);
      decodeURIComponent(query);
    } catch {
      return 'not readable';
    }
    return this.#routes.match(method, path);
  }

  /** Waits for the function as long as API Gateway would; the function may go on after that. */
  async #invoke(
    { functionName, timeoutMs }: FunctionIntegration,
    event: string,
    accept: string | undefined,
  ): Promise<GatewayReply> {
    const waiting = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<'timed out'>((resolve) => {
      timer = setTimeout(() => {
        waiting.abort();
        resolve('timed out');
      }, timeoutMs);
    });
    const result = await Promise.race([timedOut, this.#options.invoke(functionName, event, waiting.signal)]);
    clearTimeout(timer);
    if (result === 'timed out') return this.#error('INTEGRATION_TIMEOUT');
    if (result.outcome === 'throttled') return this.#error(500);
    if (result.outcome === 'failure') return this.#error(502);
    return proxyReply(result.payload, accept, this.#options.api) ?? this.#error(502);
  }

  #error(error: GatewayError): GatewayReply {
    return errorReply(this.#options.api, error);
  }

  #send(outgoing: ServerResponse, { status, headers, body }: GatewayReply, ids: RequestIds): void {
    const own = [
      ['x-amzn-RequestId', ids.requestId],
      ['x-amz-apigw-id', ids.extendedRequestId],
      ['X-Amzn-Trace-Id', ids.traceId],
      ...(status === 204 || status === 304 ? [] : [['Content-Length', String(body.length)]]),
    ];
    outgoing.writeHead(status, [...headers, ...own].flat()).end(body);
  }

  /** Answers what is not HTTP, or comes too slowly, in the API's words too. */
  #turnAway(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const asked =
      error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
    const { status, headers, body } = this.#error(asked);
    const fields = [...headers, ['Content-Length', String(body.length)], ['Connection', 'close']];
    const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields.map((field) => field.join(': '))];
    socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  }
}
