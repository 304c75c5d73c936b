import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { pick, type Random } from './random-choice.ts';

/** The faults that requests to DynamoDB can meet. */
const faults = [
  'throttled',
  'conflict',
  'server error',
  'request lost',
  'reply lost',
  'reply cut',
  'delayed',
  'late',
  'keys unprocessed',
  'crash before',
  'crash after',
] as const;
export type Fault = (typeof faults)[number] | 'refused while down' | 'throttled while busy';

/** How many of a thousand writes (transactions, updates, puts) and of a thousand reads meet each fault. */
const rates: Readonly<Record<(typeof faults)[number], readonly [write: number, read: number]>> = {
  throttled: [15, 8],
  conflict: [25, 0],
  'server error': [8, 4],
  'request lost': [8, 3],
  'reply lost': [20, 4],
  'reply cut': [4, 2],
  delayed: [25, 8],
  late: [5, 1],
  'keys unprocessed': [0, 8],
  'crash before': [6, 0.5],
  'crash after': [8, 0.5],
};

/** What DynamoDB says when it is asked for too much. */
const throttles = [
  ['ProvisionedThroughputExceededException', 'The level of configured provisioned throughput was exceeded.'],
  ['ThrottlingException', 'Rate of requests exceeds the allowed throughput.'],
  ['RequestLimitExceeded', 'Throughput exceeds the current throughput limit for your account.'],
] as const;

/** Whole moments of trouble: how long (ms) at most, and how long it is quiet between two, on average. */
const moments = { down: 1_500, busy: 1_200, between: 12_000 } as const;

export interface FaultyDoorOptions {
  readonly random: Random;
  /** Kills whatever function has this access key, in the middle of what it does. */
  readonly crash: (accessKeyId: string) => void;
  /** Told of each fault. */
  readonly onFault: (fault: Fault) => void;
}

/**
 * An HTTP proxy between the functions and DynamoDB that injects the faults of DynamoDB and of networks, with the real
 * replies. Requests of the local service itself (`local`) pass unharmed, since they are not retried.
 */
export class FaultyDoor {
  readonly #options: FaultyDoorOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    this.#handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  /** Where the store answers; it moves when that is started again. */
  store: URL;
  #isCalm = true;
  #moment: 'quiet' | 'down' | 'busy' = 'quiet';
  #turn: NodeJS.Timeout | undefined;

  constructor(store: URL, options: FaultyDoorOptions) {
    this.store = store;
    this.#options = options;
  }

  listen(): Promise<URL> {
    return listenOnLoopback(this.#server, 0);
  }

  /** Starts or ends the faults. */
  set isCalm(calm: boolean) {
    this.#isCalm = calm;
    clearTimeout(this.#turn);
    this.#moment = 'quiet';
    if (!calm) this.#change();
  }

  close(): void {
    this.isCalm = true;
    this.#agent.destroy();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** From quiet to a moment of trouble, or back. */
  #change(): void {
    const { random } = this.#options;
    const now = this.#moment;
    const length = now === 'quiet' ? moments.between * 2 : moments[now];
    this.#turn = setTimeout(() => {
      this.#moment = now === 'quiet' ? pick(random, ['down', 'busy'] as const) : 'quiet';
      this.#change();
    }, random() * length);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const accessKeyId = /Credential=([^/]+)/.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const body = await read(incoming);
    const forward = (sent = body) => this.#forward(incoming, sent);
    if (this.#isCalm || accessKeyId === 'local') return answer(outgoing, await forward());
    if (this.#moment === 'down') {
      this.#options.onFault('refused while down');
      outgoing.destroy();
      return;
    }
    if (this.#moment === 'busy') {
      this.#options.onFault('throttled while busy');
      return throttle(outgoing, this.#options.random);
    }
    const fault = this.#faultFor(operation);
    if (fault === undefined) return answer(outgoing, await forward());
    this.#options.onFault(fault);
    await this.#befall(fault, { accessKeyId, operation, body, outgoing, forward });
  }

  /** The fault of a request, if any. */
  #faultFor(operation: string): (typeof faults)[number] | undefined {
    const isRead = operation === 'BatchGetItem' || operation === 'Query' || operation === 'GetItem';
    let dice = this.#options.random() * 1000;
    return faults.find((fault) => {
      if (fault === 'keys unprocessed' && operation !== 'BatchGetItem') return false;
      dice -= rates[fault][isRead ? 1 : 0];
      return dice < 0;
    });
  }

  async #befall(fault: (typeof faults)[number], asked: Asked): Promise<void> {
    const { random, crash } = this.#options;
    const { accessKeyId, operation, body, outgoing, forward } = asked;
    switch (fault) {
      case 'throttled':
        return throttle(outgoing, random);
      case 'conflict':
        return conflict(outgoing, operation, body, random);
      case 'server error':
        return refuse(outgoing, 500, 'InternalServerError', 'The request could not be processed.');
      case 'request lost':
        outgoing.destroy();
        return;
      case 'reply lost':
        await forward();
        outgoing.destroy();
        return;
      case 'reply cut':
        return cut(outgoing, await forward());
      case 'delayed':
        await wait(random() * 800);
        return answer(outgoing, await forward());
      case 'late':
        // Longer than a function waits for a reply: by then it has tried again, or given up.
        await wait(2_100 + random() * 4_000);
        return answer(outgoing, await forward());
      case 'keys unprocessed':
        return answer(outgoing, await withoutSome(body, forward));
      case 'crash before':
        crash(accessKeyId);
        outgoing.destroy();
        return;
      case 'crash after':
        await forward();
        crash(accessKeyId);
        outgoing.destroy();
    }
  }

  #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onward = request(this.store, {
        method,
        path: url,
        headers: { ...headers, host: this.store.host, 'content-length': body.length },
        agent: this.#agent,
      });
      onward.on('response', (response) => {
        read(response).then((answered) => {
          const { 'content-length': _, 'transfer-encoding': __, ...rest } = response.headers;
          resolve({ status: response.statusCode ?? 502, headers: rest, body: answered });
        }, reject);
      });
      onward.on('error', reject);
      onward.end(body);
    });
  }
}

/** A request of a function. */
interface Asked {
  readonly accessKeyId: string;
  readonly operation: string;
  readonly body: Buffer;
  readonly outgoing: ServerResponse;
  readonly forward: (body?: Buffer) => Promise<Answer>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function answer(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

/** The beginning of an answer, and then nothing. */
function cut(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, { ...headers, 'content-length': body.length });
  outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
}

/** An error in the form of DynamoDB. */
function refuse(outgoing: ServerResponse, status: number, code: string, message: string, more = {}): void {
  const fields = { __type: `com.amazonaws.dynamodb.v20120810#${code}`, message, ...more };
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  answer(outgoing, { status, headers, body: Buffer.from(JSON.stringify(fields)) });
}

function throttle(outgoing: ServerResponse, random: Random): void {
  const [code, message] = pick(random, throttles);
  refuse(outgoing, 400, code, message);
}

/** Another transaction is at work on one of the items. */
function conflict(outgoing: ServerResponse, operation: string, body: Buffer, random: Random): void {
  if (operation !== 'TransactWriteItems') {
    const message = 'Transaction is ongoing for the item';
    refuse(outgoing, 400, 'TransactionConflictException', message);
    return;
  }
  const { TransactItems } = JSON.parse(body.toString()) as { TransactItems: unknown[] };
  const met = Math.floor(random() * TransactItems.length);
  const code = pick(random, ['TransactionConflict', 'TransactionConflict', 'ThrottlingError'] as const);
  const reasons = TransactItems.map((_, i) => ({ Code: i === met ? code : 'None' }));
  const list = reasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${list}]`;
  refuse(outgoing, 400, 'TransactionCanceledException', message, { CancellationReasons: reasons });
}

/** Looks up only some of the keys of a batch, and hands back the others as DynamoDB does when it is busy. */
async function withoutSome(body: Buffer, forward: Asked['forward']): Promise<Answer> {
  const asked = JSON.parse(body.toString()) as { RequestItems: Record<string, { Keys: unknown[] }> };
  const [[table, wanted] = ['', { Keys: [] }]] = Object.entries(asked.RequestItems);
  const half = Math.floor(wanted.Keys.length / 2);
  if (half === 0) return forward();
  const some = { ...asked, RequestItems: { [table]: { ...wanted, Keys: wanted.Keys.slice(0, half) } } };
  const answered = await forward(Buffer.from(JSON.stringify(some)));
  if (answered.status !== 200) return answered;
  const left = { [table]: { ...wanted, Keys: wanted.Keys.slice(half) } };
  const fields = { ...JSON.parse(answered.body.toString()), UnprocessedKeys: left };
  const { 'x-amz-crc32': _, ...headers } = answered.headers;
  return { ...answered, headers, body: Buffer.from(JSON.stringify(fields)) };
}
