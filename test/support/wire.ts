import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What came back over a connection on which bytes were sent as they are. */
export interface Answer {
  /** Undefined where the connection was closed without one. */
  readonly status: number | undefined;
  readonly body: string;
}

/** A connection to the gateway, for bytes that no HTTP client would send. */
export async function connection({ port }: URL): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1');
  // The test looks at the reply, or its absence.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes, and no more after them, and returns the first answer. Rejects when none comes in time (ms). */
export async function exchange(address: URL, bytes: Uint8Array | string, time = 10_000): Promise<Answer> {
  const socket = await connection(address);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A side that has said all ends its half: the gateway can tell that nothing more will come.
  socket.end(bytes);
  const late = setTimeout(() => socket.destroy(new Error('no answer in time')), time);
  try {
    await once(socket, 'close');
  } finally {
    clearTimeout(late);
  }
  if (socket.errored?.message === 'no answer in time') throw socket.errored;
  return answerOf(Buffer.concat(chunks));
}

function answerOf(bytes: Buffer): Answer {
  const text = bytes.toString();
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  const end = text.indexOf('\r\n\r\n');
  return {
    status: status === undefined ? undefined : Number(status),
    body: end < 0 ? '' : text.slice(end + 4),
  };
}
