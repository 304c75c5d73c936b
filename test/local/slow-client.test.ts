import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../infra/local/gateway.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { readTemplate } from '../../infra/local/template.ts';
import { connection } from '../support/wire.ts';
import { sampleTemplate } from './sample-template.ts';

/** Milliseconds that the gateway of this test has for a client; a real one has half a minute. */
const PATIENCE = 300;

const tooSlow = '{"result":"error","msg":"too slow","code":"BAD_REQUEST"}';
const response = { responseTemplates: { 'application/json': tooSlow } };

let gateway: Gateway;
let address: URL;
const faults: unknown[] = [];

beforeAll(async () => {
  const place = { region: 'us-east-1', accountId: '000000000000', queueEndpoint: 'http://127.0.0.1:1' };
  const sample = {
    functions: { echo: { code: 'echo', routes: ['POST /things'] } },
    gatewayResponses: { DEFAULT_4XX: response },
  };
  const { api, roles } = readTemplate(sampleTemplate(sample), '/assembly', place);
  gateway = new Gateway({
    api,
    roles,
    place,
    invoke: () => Promise.reject(new Error('no function should hear of it')),
    onFault: (error) => faults.push(error),
    patience: PATIENCE,
  });
  address = await listenOnLoopback(gateway.server, 0);
});

afterAll(() => gateway.stop());

describe('a client that is too slow gets the error of the API, and is disconnected', () => {
  test.each([
    ['with headers that never end', 'POST /things HTTP/1.1\r\nHost: x\r\nX-Slow: a'],
    ['with a body that never ends', 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na'],
    [
      'with chunks that never end',
      'POST /things HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n',
    ],
  ])('%s', async (_, bytes) => {
    const socket = await connection(address);
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(bytes);
    // A byte now and then does not help the client.
    const trickle = setInterval(() => socket.write('a'), 50);
    await closed;
    clearInterval(trickle);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text.endsWith(tooSlow)).toBe(true);
    expect(faults).toEqual([]);
  });
});
