import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { Door } from '../door.ts';
import { type Listener, proof } from '../endpoints/listener.ts';
import { required } from '../environment.ts';
import { traceOf } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { isSameSecret, sha256 } from '../kernel/text.ts';
import { WaitingRoom } from '../log/waiting-room.ts';
import { makeOutside } from './container.ts';
import { Held } from './held.ts';
import { httpEvent, pathOf } from './http-event.ts';
import { SMALL_REQUEST } from './parameters.ts';
import {
  badRequestReply,
  failure,
  methodNotAllowed,
  noSuchPath,
  notThroughTheEdge,
  preflight,
  SAFETY,
  tooLargeReply,
} from './reply.ts';
import type { Served } from './serve.ts';

/** The variable by which Lambda says where a Web Function listens, as `host:port`. */
const ADDRESS = 'AWS_LAMBDA_HTTP_ENDPOINT';

/** Most polls that one process holds: about 42 KB each. */
const CAPACITY = 4_000;

/** Most connections: room for polls, and for requests that are on their way in or out. */
const MAX_CONNECTIONS = 2 * CAPACITY;

/** Milliseconds that a client may take to send a request, and the longest until it is noticed that it took longer. */
const RECEIVE_MS = 10_000;
const CHECK_MS = 2_000;

/** Milliseconds that a reply may rest on its way because its client takes none of it. */
const SEND_MS = 30_000;

/** Milliseconds that an idle connection is kept: longer than CloudFront and Lambda keep theirs, so that they end it. */
const KEEP_ALIVE_MS = 125_000;

/**
 * Most requests that are in their first part at once, until they are answered or held. The others wait in line, so that a
 * crowd that comes at once, as after a restart, does not ask the store for more than it answers in time.
 */
const AT_ONCE = 32;

/** Most requests of one connection that are answered at once. Clients that wait for each reply have one. */
const MAX_PIPELINED = 8;

/** Milliseconds after which the process ends although replies are on their way: Lambda grants a second after SIGTERM. */
const STOP_MS = 900;

/** A server that holds requests. */
export interface ListeningServer {
  readonly server: Server;
  /** Takes no more requests, ends every poll with a heartbeat, and resolves when the replies are sent, or after 0.9 s. */
  readonly stop: () => Promise<void>;
}

/** A request that is being answered. Its reply may be held. */
class Visit {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  #held: Held | undefined;
  #isOver = false;
  /** The door, while it lets this request in. */
  #door: Door | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.incoming = incoming;
    this.outgoing = outgoing;
  }

  async enter(door: Door): Promise<void> {
    await door.enter();
    this.#door = door;
  }

  /** Lets the next request in. */
  leave(): void {
    this.#door?.leave();
    this.#door = undefined;
  }

  hold(held: Held): void {
    this.leave();
    this.#held = held;
    if (this.#isOver) held.end();
  }

  /** Waits no longer: its client has gone, or the process ends. */
  end(): void {
    this.#isOver = true;
    this.#held?.end();
  }
}

/**
 * Serves the endpoints of a listener by HTTP until the process gets SIGTERM. Where to listen is in the environment, as
 * Lambda sets it for a Web Function.
 */
export async function listen(listener: Listener, handlers: readonly Served[]): Promise<void> {
  const waitingRoom = new WaitingRoom({
    id: randomUUID(),
    holdMs: listener.holdSeconds * 1_000,
    capacity: CAPACITY,
  });
  const { server, stop } = listeningServer(handlers, { ...makeOutside(process.env), waitingRoom });
  process.once('SIGTERM', async () => {
    await stop();
    process.exit(0);
  });
  const [host, port] = required(process.env, ADDRESS).split(':');
  server.listen(Number(port), host);
}

/** Makes the server: each request runs the handler of its method, in this outside. All handlers have one path. */
export function listeningServer(handlers: readonly Served[], outside: Outside): ListeningServer {
  const path = handlers[0]?.endpoint.path;
  const byMethod = new Map(
    handlers.flatMap((served) => {
      const [{ method }, handler] = [served.endpoint, served.holding(outside)];
      // Node leaves the body of an answer to HEAD out.
      return (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((it) => [it, handler] as const);
    }),
  );
  const isProven = proofCheck(outside.environment[proof.variable]);
  const allowed = [...byMethod.keys()].sort();
  const visits = new Set<Visit>();
  const door = new Door(AT_ONCE);
  const onSocket = new WeakMap<Socket, number>();
  let isStopping = false;

  /** The reply, unless it is held: `finish` sends it then. */
  const answer = async (visit: Visit): Promise<APIGatewayProxyResult | undefined> => {
    const { incoming } = visit;
    if (!isProven(incoming)) return notThroughTheEdge();
    if (pathOf(incoming) !== path) return noSuchPath();
    if (incoming.method === 'OPTIONS') return preflight(allowed);
    const handler = byMethod.get(incoming.method ?? '');
    if (handler === undefined) return methodNotAllowed(allowed);
    const body = await readBody(incoming);
    if (body === 'too large') return tooLargeReply();
    await visit.enter(door);
    try {
      const reply = await handler.begin(httpEvent(incoming, body));
      if (!(reply instanceof Held)) return reply;
      visit.hold(reply);
      const finish = () => void respond(visit, () => handler.finish(httpEvent(incoming, body), reply));
      reply.reply.then(finish, finish);
      return undefined;
    } catch (error) {
      if (error instanceof URIError) return badRequestReply(400);
      throw error;
    } finally {
      visit.leave();
    }
  };

  const respond = async (
    { incoming, outgoing }: Visit,
    makeReply: () => Promise<APIGatewayProxyResult | undefined>,
  ): Promise<void> => {
    try {
      const reply = await makeReply();
      if (reply !== undefined) send(outgoing, reply, isStopping || !incoming.complete);
    } catch (error) {
      // A client that went away in the middle of its request is no fault.
      if (outgoing.destroyed) return;
      outside.report({ level: 'ERROR', message: 'request failed', error: traceOf(error) });
      send(outgoing, { ...failure(error), headers: SAFETY }, true);
    }
  };

  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming;
    const count = (onSocket.get(socket) ?? 0) + 1;
    onSocket.set(socket, count);
    if (count > MAX_PIPELINED) return void socket.destroy();
    const visit = new Visit(incoming, outgoing);
    visits.add(visit);
    outgoing.on('close', () => {
      visits.delete(visit);
      onSocket.set(socket, (onSocket.get(socket) ?? 1) - 1);
      if (!outgoing.writableFinished) visit.end();
    });
    if (isStopping) visit.end();
    void respond(visit, () => answer(visit));
  };

  const server = createServer({
    requestTimeout: RECEIVE_MS,
    headersTimeout: RECEIVE_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', serve);
  // Whatever else a client expects, it gets an answer; Node would refuse it in its own words.
  server.on('checkExpectation', serve);
  server.on('clientError', turnAway);

  const stop = async (): Promise<void> => {
    isStopping = true;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const visit of visits) visit.end();
    const timer = setTimeout(() => server.closeAllConnections(), STOP_MS);
    await closed;
    clearTimeout(timer);
  };
  return { server, stop };
}

/** Whether a request shows the proof that CloudFront adds. Without a proof, as on a laptop, every request does. */
const proofCheck = (expected: string | undefined): ((incoming: IncomingMessage) => boolean) => {
  if (expected === undefined) return () => true;
  const wanted = sha256(expected);
  return ({ headers }) => isSameSecret(sha256(String(headers[proof.header] ?? '')), wanted);
};

/** Reads a small body; undefined if there is none. Throws if the client goes away. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined | 'too large'> {
  // Most requests have no body, and reading one leaves listeners that stay as long as the request is held.
  const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers;
  if (length === undefined && coding === undefined) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > SMALL_REQUEST) return 'too large';
    chunks.push(chunk);
  }
  return size === 0 ? undefined : Buffer.concat(chunks);
}

function send(outgoing: ServerResponse, reply: APIGatewayProxyResult, isLast: boolean): void {
  if (outgoing.destroyed) return;
  const body = Buffer.from(reply.body, reply.isBase64Encoded ? 'base64' : 'utf8');
  outgoing.setTimeout(SEND_MS, () => outgoing.destroy());
  for (const [name, value] of Object.entries(reply.headers ?? {})) outgoing.setHeader(name, String(value));
  if (reply.statusCode !== 204) outgoing.setHeader('Content-Length', body.length);
  if (isLast) outgoing.setHeader('Connection', 'close');
  outgoing.writeHead(reply.statusCode).end(body);
}

/** Answers what is not HTTP, or comes too slowly, in the envelope too. */
function turnAway(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const { headers, body } = badRequestReply(status);
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
