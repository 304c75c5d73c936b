import { once } from 'node:events';
import { Agent, createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type StoreCall, streamCalls } from '../../infra/local/call-stream.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen<S extends Server>(server: S): Promise<S & { readonly port: number }> {
  servers.push(server);
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

/** A store that answers with the body that it got, and a way to it for the calls whose target is allowed. */
async function setUp() {
  const store = await listen(
    createHttpServer(async (incoming, outgoing) => {
      const body = await incoming.setEncoding('utf8').toArray();
      outgoing.end(`store: ${body.join('')}`);
    }),
  );
  const http = createHttpServer(async (incoming, outgoing) => {
    const body = await incoming.setEncoding('utf8').toArray();
    outgoing.end(`http: ${body.join('')}`);
  });
  const seen: StoreCall[] = [];
  const door = await listen(
    createServer({ allowHalfOpen: true }, (socket) =>
      streamCalls(socket, {
        store: new URL(`http://127.0.0.1:${store.port}`),
        passes: (call) => {
          seen.push(call);
          return call.target === 'Allowed';
        },
        otherwise: (it) => http.emit('connection', it),
      }),
    ),
  );
  return { store, door, seen };
}

async function post(port: number, agent: Agent, body: string, target: string): Promise<string> {
  const headers = { authorization: 'me', 'x-amz-target': target, 'content-length': Buffer.byteLength(body) };
  const sent = request({ host: '127.0.0.1', port, agent, method: 'POST', headers }).end(body);
  const [response] = await once(sent, 'response');
  return (await response.setEncoding('utf8').toArray()).join('');
}

/** Writes pieces one after the other, and resolves with the beginning of what is answered. */
async function write(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  sockets.push(socket);
  for (const piece of pieces) {
    socket.write(piece);
    await pause(10);
  }
  const [answer] = await once(socket, 'data');
  return String(answer);
}

const head = (...lines: string[]) => `${['POST / HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n`;
const allowed = ['Authorization: me', 'X-Amz-Target: Allowed'];

describe('calls of a connection', () => {
  test('go to the store, and its replies come back', async () => {
    const { door, seen } = await setUp();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const large = 'é'.repeat(1_000_000);
    for (const body of ['one', large, '']) {
      expect(await post(door.port, agent, body, 'Allowed')).toBe(`store: ${body}`);
    }
    expect(seen.map(({ body }) => body)).toEqual(['one', large, '']);
    expect(seen[0]).toEqual({ authorization: 'me', target: 'Allowed', body: 'one' });
    agent.destroy();
  });

  test('may come in pieces', async () => {
    const { door } = await setUp();
    const whole = `${head(...allowed, 'Content-Length: 5')}hello`;
    const pieces = [whole.slice(0, 9), whole.slice(9, -7), whole.slice(-7, -2), whole.slice(-2)];
    expect(await write(door.port, pieces)).toMatch(/store: hello$/);
  });

  test('stop being led there with one that does not pass, which another server answers', async () => {
    const { door } = await setUp();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const large = 'x'.repeat(1_000_000);
    expect(await post(door.port, agent, 'one', 'Allowed')).toBe('store: one');
    expect(await post(door.port, agent, large, 'Refused')).toBe(`http: ${large}`);
    expect(await post(door.port, agent, 'three', 'Allowed')).toBe('http: three');
    agent.destroy();
  });

  test.each([
    ['a body in chunks', `${head(...allowed, 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`],
    ['two lengths', `${head(...allowed, 'Content-Length: 1', 'Content-Length: 2')}x`],
    [
      'a length and chunks',
      `${head(...allowed, 'Content-Length: 1', 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`,
    ],
    ['a length that is no number', `${head(...allowed, 'Content-Length: 0x1')}x`],
    ['no length', head(...allowed)],
    ['two targets', `${head(...allowed, 'X-Amz-Target: Other', 'Content-Length: 1')}x`],
    ['a header that goes on in the next line', `${head(...allowed, 'Content-Length: 1', ' 2')}x`],
    ['a line that ends without a carriage return', `${head(...allowed, 'A: b\nContent-Length: 1')}x`],
    ['a space before a colon', `${head(...allowed, 'Content-Length : 1')}x`],
    ['a second call before the reply', `${head(...allowed, 'Content-Length: 1')}x`.repeat(2)],
    ['another method', `${head(...allowed, 'Content-Length: 1').replace('POST', 'PUT')}x`],
    ['another path', `${head(...allowed, 'Content-Length: 1').replace('/ ', '/a ')}x`],
    ['something that is not HTTP', 'hello\r\n\r\n'],
  ])('are left to the other server with %s', async (_, text) => {
    const { door, seen } = await setUp();
    expect(await write(door.port, [text])).not.toContain('store:');
    expect(seen).toEqual([]);
  });

  test('end when the store goes, and let go of the store when their client goes', async () => {
    const { store, door } = await setUp();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await post(door.port, agent, 'one', 'Allowed');
    const [client] = Object.values(agent.freeSockets).flat();
    store.closeAllConnections();
    if (client) await once(client, 'close');
    expect(client?.destroyed).toBe(true);

    await post(door.port, agent, 'two', 'Allowed');
    agent.destroy();
    await expect.poll(() => new Promise((done) => store.getConnections((_, n) => done(n)))).toBe(0);
  });
});
