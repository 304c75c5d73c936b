import { createConnection, type Socket } from 'node:net';

/** The status and the body of a reply. */
type Reply = readonly [status: number, body: string];

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** The end of the head of a reply. */
const HEAD_END = '\r\n\r\n';

/** A connection that was idle for longer (ms) is not used again: the store may be closing it at this moment. */
const MAX_IDLE_MS = 10_000;

/** Bytes in which the head of a reply ends. */
const MOST_HEAD = 2000;

/**
 * Keeps connections to the store, an HTTP service of this machine. A connection carries one request at a time, each
 * written as one piece of text. Node's own client does much more for every request than tests need.
 *
 * It knows no chunked replies, since the store sends none.
 */
export class StoreConnections {
  readonly #host: string;
  readonly #port: number;
  readonly #idle: Connection[] = [];

  constructor(endpoint: string) {
    const { hostname, port } = new URL(endpoint);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Posts a body with these further lines of the head. Each ends with CRLF. */
  async post(lines: string, body: string): Promise<Reply> {
    const head = `POST / HTTP/1.1\r\nhost: ${this.#host}:${this.#port}\r\n${lines}`;
    const request = `${head}content-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`;
    let connection = this.#idle.pop();
    while (connection?.isOver) connection = this.#idle.pop();
    connection ??= new Connection(this.#host, this.#port);
    const reply = await connection.ask(request);
    this.#idle.push(connection);
    return reply;
  }
}

class Connection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #chunks: Buffer[] = [];
  #length = 0;
  /** How long the whole reply is, once its head is there. */
  #wanted = Number.POSITIVE_INFINITY;
  #headLength = 0;
  #status = 0;
  /** When its last reply was whole, ms. */
  #usedAt = performance.now();

  constructor(host: string, port: number) {
    this.#socket = createConnection({ host, port, noDelay: true });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The store closed the connection.')));
    this.#socket.unref();
  }

  /** Closes the connection if it was idle for too long. */
  get isOver(): boolean {
    if (performance.now() - this.#usedAt > MAX_IDLE_MS) this.#socket.destroy();
    return this.#socket.destroyed || !this.#socket.writable;
  }

  ask(request: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.ref();
      this.#socket.write(request);
    });
  }

  #fail(error: Error): void {
    this.#socket.destroy();
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#headLength === 0) this.#readHead();
    if (this.#length < this.#wanted) return;
    const whole = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const reply: Reply = [this.#status, whole.toString('utf8', this.#headLength, this.#wanted)];
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#usedAt = performance.now();
    this.#chunks = [];
    this.#length = 0;
    this.#headLength = 0;
    this.#wanted = Number.POSITIVE_INFINITY;
    this.#socket.unref();
    waiting?.resolve(reply);
  }

  #readHead(): void {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const text = all?.toString('latin1', 0, MOST_HEAD);
    const end = text?.indexOf(HEAD_END) ?? -1;
    if (text === undefined || end < 0) return;
    const head = text.slice(0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#fail(new Error(`The store sent a reply without a length: ${head}`));
      return;
    }
    this.#status = Number(head.slice(9, 12));
    this.#headLength = end + HEAD_END.length;
    this.#wanted = this.#headLength + Number(length);
  }
}
