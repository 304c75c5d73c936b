import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { GatewayReply } from './gateway-reply.ts';
import type { ListenerProcess } from './listener-process.ts';

/** A request as it goes on to the listener. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
  readonly requestId: string;
}

/** Headers of a reply that belong to its connection. */
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length']);

/** Connections that are kept while nothing is asked: those who wake together ask again at once. */
const maxFreeSockets = 1_000;

/** Leads the requests of one path to the listener, as CloudFront does. */
export class ListenerRoute {
  readonly path: string;
  readonly methods: readonly string[];
  readonly #process: Pick<ListenerProcess, 'port' | 'ready'>;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets });

  constructor(path: string, methods: readonly string[], process: Pick<ListenerProcess, 'port' | 'ready'>) {
    this.path = path;
    this.methods = methods;
    this.#process = process;
  }

  /**
   * Forwards a request, and resolves with the reply. Rejects if the listener ended meanwhile, or the client has gone: then
   * the listener sees that its connection ends. While the reply is awaited, nothing is kept of the request but what Node keeps.
   */
  async forward(forwarded: ForwardedRequest, client: ServerResponse): Promise<GatewayReply> {
    await this.#process.ready;
    return replyTo(this.#send(forwarded), client);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send({ method, target, headers, body, requestId }: ForwardedRequest): ClientRequest {
    const sent = request({
      host: '127.0.0.1',
      port: this.#process.port,
      agent: this.#agent,
      method,
      path: target,
      headers: [
        ...Object.entries(headers).flatMap(([name, values]) => values.flatMap((value) => [name, value])),
        ...['lambda-web-request-id', requestId],
        ...(body.length > 0 ? ['Content-Length', String(body.length)] : []),
      ],
    });
    return sent.end(body);
  }
}

const replyTo = (sent: ClientRequest, client: ServerResponse): Promise<GatewayReply> =>
  new Promise((resolve, reject) => {
    client.on('close', () => sent.destroy());
    sent.on('error', reject);
    sent.on('response', (response) => readReply(response).then(resolve, reject));
    if (client.closed) sent.destroy();
  });

async function readReply(response: IncomingMessage): Promise<GatewayReply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = response.rawHeaders.slice(i, i + 2);
    if (!ofConnection.has(name.toLowerCase())) headers.push([name, value]);
  }
  return { status: response.statusCode ?? 502, headers, body: Buffer.concat(chunks) };
}
