import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { outgoing, type Unreachable } from '../../shared/http/outgoing.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A service that answers with the given handler. */
async function serving(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  return (await listenOnLoopback(server, 0)).origin;
}

const ask = (address: string, { path = '/', timeout = 2_000, largest = 1_000 } = {}) =>
  outgoing({ addresses: [address, undefined], timeout, largest })(`${address}${path}`, {
    method: 'POST',
    body: 'hi',
  });

const failure = (reason: string) => expect.objectContaining({ name: 'Unreachable', reason });

describe('a request to another service', () => {
  test.each([200, 401, 500])('returns a reply with the status %i', async (status) => {
    const address = await serving((_, response) => response.writeHead(status, { 'x-a': 'b' }).end('{"a":1}'));
    const answer = await ask(address);
    expect([answer.status, answer.headers.get('x-a'), await answer.json()]).toEqual([status, 'b', { a: 1 }]);
  });

  test('returns a reply without a body', async () => {
    expect((await ask(await serving((_, response) => response.writeHead(204).end()))).status).toBe(204);
  });

  test('follows no redirect, not even to an allowed address', async () => {
    let calls = 0;
    const address = await serving((_, response) => {
      calls++;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await expect(ask(address)).rejects.toEqual(failure('it redirected'));
    expect(calls).toBe(1);
  });

  test('limits the time for the whole reply', async () => {
    const silent = await serving(() => {});
    await expect(ask(silent, { timeout: 80 })).rejects.toEqual(failure('no answer in time'));
    server?.close();
    const slow = await serving((_, response) => void response.writeHead(200).write('half'));
    await expect(ask(slow, { timeout: 80 })).rejects.toEqual(failure('no answer in time'));
  });

  test('limits the size of the reply', async () => {
    const address = await serving((_, response) => void response.writeHead(200).end('x'.repeat(1_001)));
    await expect(ask(address)).rejects.toEqual(failure('too much'));
  });

  test('reports a refused or lost connection without the address', async () => {
    const address = await serving((_, response) => void response.destroy());
    await expect(ask(address, { path: '/?key=secret' })).rejects.toEqual(failure('not reachable'));
    server?.close();
    const error = await ask(address, { path: '/?key=secret' }).catch((problem: Unreachable) => problem);
    expect(error).toEqual(failure('not reachable'));
    expect(String(error)).not.toContain('secret');
  });

  test('goes only to addresses that the operator configured', async () => {
    const address = await serving((_, response) => void response.end());
    const other = outgoing({ addresses: ['https://push.example.com'], timeout: 1_000 });
    await expect(other(address)).rejects.toEqual(failure('not configured'));
    await expect(other('http://push.example.com/')).rejects.toEqual(failure('not configured'));
    await expect(other('http://169.254.169.254/latest/')).rejects.toEqual(failure('not configured'));
  });
});
