import { connect, type Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';

/** One call of DynamoDB, as the bytes that came. */
export interface StoreCall {
  readonly authorization: string;
  /** The header `X-Amz-Target`. */
  readonly target: string;
  readonly body: string;
}

export interface CallStreamOptions {
  readonly store: URL;
  /** Whether a call may go to the store. */
  readonly passes: (call: StoreCall) => boolean;
  /** Takes the connection over, at the first request that does not pass or is anything but such a call. */
  readonly otherwise: (socket: Socket) => void;
}

/** Bytes that the head of a request and the whole of it may have. */
const largestHead = 16 * 1024;
const largestCall = 16 * 1024 * 1024;

/**
 * Leads the calls of one connection to the store and the replies back, both as the bytes that they are: Node's HTTP server and
 * client take four times as long for it. A connection has only one call at a time, as those of Node's client do.
 */
export function streamCalls(socket: Socket, { store, passes, otherwise }: CallStreamOptions): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = 0;
  let upstream: Socket | undefined;

  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < wanted) return;
    const received = chunks.length === 1 ? chunk : Buffer.concat(chunks, size);
    const call = readCall(received);
    if (typeof call === 'number') {
      chunks = [received];
      wanted = call;
      return;
    }
    chunks = [];
    size = 0;
    wanted = 0;
    if (call !== undefined && passes(call)) toStore().write(received);
    else handOver(received);
  };
  const onEnd = (): void => void socket.destroy();
  const onClose = (): void => void upstream?.destroy();
  const onError = (): void => {};

  const toStore = (): Socket => {
    if (upstream !== undefined) return upstream;
    const { hostname: host, port } = urlToHttpOptions(store);
    upstream = connect({ host: host ?? '', port: Number(port ?? 80), noDelay: true });
    upstream.on('error', () => socket.destroy());
    upstream.pipe(socket);
    return upstream;
  };

  const handOver = (received: Buffer): void => {
    socket.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
    upstream?.unpipe(socket).destroy();
    socket.unshift(received);
    otherwise(socket);
  };

  socket.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
}

/** A line of a head that no two programs read in different ways. */
const plainField = /^([\w-]+): ([\x20-\x7e]*)$/;

/** Headers that say where a body ends in another way than by its length, or ask for more than a reply. */
const special = ['transfer-encoding', 'expect', 'upgrade'];

/**
 * Reads a request that is a call of a service which speaks JSON, and nothing unusual.
 *
 * @returns How many bytes it takes to say more, if these do not suffice; undefined when it is anything else.
 */
function readCall(received: Buffer): StoreCall | number | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return received.length < largestHead ? received.length + 1 : undefined;
  const [first, ...lines] = received.toString('latin1', 0, end).split('\r\n');
  if (first !== 'POST / HTTP/1.1') return undefined;
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = plainField.exec(line) ?? [];
    const key = name.toLowerCase();
    if (key === '' || fields.has(key)) return undefined;
    fields.set(key, value);
  }
  const { authorization, target, length } = {
    authorization: fields.get('authorization'),
    target: fields.get('x-amz-target'),
    length: fields.get('content-length') ?? '',
  };
  if (authorization === undefined || target === undefined || !/^\d{1,8}$/.test(length)) return undefined;
  if (special.some((name) => fields.has(name))) return undefined;
  const whole = end + 4 + Number(length);
  if (received.length < whole) return whole <= largestCall ? whole : undefined;
  // A second call before the reply to the first is nothing that the clients of AWS do.
  if (received.length > whole) return undefined;
  return { authorization, target, body: received.toString('utf8', end + 4) };
}
