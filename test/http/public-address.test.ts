import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { afterEach, describe, expect, it, test } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { outgoing } from '../../shared/http/outgoing.ts';
import { fetchPublic, isPublicAddress } from '../../shared/http/public-address.ts';

const fixture = (name: string): string => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const [key, cert] = [fixture('provider.key.pem'), fixture('provider.pem')];

const server = createServer({ key, cert });
afterEach(() => {
  server.removeAllListeners('request');
  server.closeAllConnections();
  server.close();
});

/** Finds every name on this machine, as a resolver of public addresses would find it elsewhere. */
const connection = {
  ca: cert,
  lookup: (_: string, __: object, found: (...result: never[]) => void): void =>
    (found as unknown as (error: null, addresses: object[]) => void)(null, [
      { address: '127.0.0.1', family: 4 },
    ]),
};

test.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001:81b::200e'])(
  '%s is a public address',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.31.0.1', '192.168.1.1'],
  ...[
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    'fe80::1',
    'fc00::1',
  ],
  ...['ff02::1', '64:ff9b::7f00:1', '2001::1', '2001:db8::1', '2002:7f00:1::', '', 'localhost', '127.1'],
])('%j is not a public address', (address) => expect(isPublicAddress(address)).toBe(false));

describe('a request to a public address', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    server.on('request', (request, response) => {
      const { method, headers, url } = request;
      request.setEncoding('utf8').on('data', (body) => {
        const seen = { method, url, type: headers['content-type'], length: headers['content-length'], body };
        response.writeHead(201, { 'x-a': 'b' }).end(JSON.stringify(seen));
      });
    });
    const { port } = await listenOnLoopback(server as never, 0);
    const request = new Request(`https://provider.example:${port}/token?a=b`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'höre',
    });
    const answer = await fetchPublic(request, connection as never);
    expect([answer.status, answer.headers.get('x-a')]).toEqual([201, 'b']);
    expect(await answer.json()).toEqual({
      method: 'POST',
      url: '/token?a=b',
      type: 'text/plain',
      length: '5',
      body: 'höre',
    });
  });

  it('accepts a reply without a body, and follows no redirect', async () => {
    server.on('request', (_, response) => response.writeHead(204).end());
    const { port } = await listenOnLoopback(server as never, 0);
    const request = new Request(`https://provider.example:${port}/`);
    expect((await fetchPublic(request, connection as never)).status).toBe(204);
    server.removeAllListeners('request');
    server.on('request', (_, response) => response.writeHead(302, { location: '/' }).end());
    expect((await fetchPublic(request, connection as never)).status).toBe(302);
  });

  it('refuses an untrusted certificate', async () => {
    const { port } = await listenOnLoopback(server as never, 0);
    const request = new Request(`https://provider.example:${port}/`);
    await expect(fetchPublic(request, { lookup: connection.lookup as never })).rejects.toThrow('self-signed');
  });

  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest/',
    'https://localhost/',
    'http://8.8.8.8/',
    'ftp://8.8.8.8/',
  ])('is refused for %s', async (address) => {
    const ask = outgoing({ addresses: ['https://provider.example'], mayAskPublic: true, timeout: 2_000 });
    await expect(ask(address)).rejects.toMatchObject({ name: 'Unreachable', reason: 'not public' });
  });
});
