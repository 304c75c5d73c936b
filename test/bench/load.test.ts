import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { type HttpRequest, httpRequest, send } from './http-request.ts';
import { LatencyRecorder, median } from './latencies.ts';
import { burst } from './load.ts';
import { endpointOf } from './local-cloud.ts';

const nobody = { host: 'bench.test', account: undefined };

/** A server that answers each request with the given status, and counts all requests and concurrent ones. */
async function serverThat(answers: (n: number) => number) {
  const seen = { paths: [] as string[], most: 0 };
  let now = 0;
  const server = createServer((request, response) => {
    seen.paths.push(request.url ?? '');
    now += 1;
    seen.most = Math.max(seen.most, now);
    const status = answers(seen.paths.length);
    setTimeout(() => {
      now -= 1;
      if (status === 0) response.destroy();
      else response.writeHead(status).end(`answer ${seen.paths.length}, ${status}`);
    }, 5);
  });
  const address = await listenOnLoopback(server, 0);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { service: { address }, seen };
}

const numbered = (): (() => HttpRequest) => {
  let n = 0;
  const endpoint = { method: 'GET', path: '/n/{n}' } as const;
  return () => httpRequest(endpoint, { path: { n: n++ } }, nobody);
};

const isGood = (status: number): boolean => status === 200;

test('a burst keeps the given number of different requests under way', async () => {
  const { service, seen } = await serverThat(() => 200);
  const { failed, perSecond, firstFailure } = await burst({ service }, 8, 0.2, numbered(), isGood);
  expect({ failed, firstFailure, most: seen.most }).toEqual({ failed: 0, firstFailure: undefined, most: 8 });
  expect(new Set(seen.paths).size).toBe(seen.paths.length);
  // What is answered while it stops is in no figure.
  expect(perSecond * 0.2).toBeLessThanOrEqual(seen.paths.length);
});

test('replies that fail the check count as failures, and in no other figure', async () => {
  const { service } = await serverThat((n) => (n <= 10 ? 200 : 503));
  const result = await burst({ service }, 1, 0.1, numbered(), isGood);
  expect(result.failed).toBeGreaterThan(0);
  expect(result.firstFailure).toBe('503: answer 11, 503');
  const all = await burst(await serverThat(() => 404), 1, 0.1, numbered(), isGood);
  expect(all).toMatchObject({ p50: Number.NaN, p99: Number.NaN, perSecond: 0 });
});

test('a connection that breaks counts as a failure', async () => {
  const { service } = await serverThat((n) => (n === 3 ? 0 : 200));
  const result = await burst({ service }, 1, 0.1, numbered(), isGood);
  expect(result).toMatchObject({ failed: 1, firstFailure: 'no reply' });
});

test('the percentiles are those of the recorded times', () => {
  const recorder = new LatencyRecorder();
  expect(recorder.latencies).toEqual({ p50: Number.NaN, p99: Number.NaN, max: Number.NaN });
  for (let ms = 1; ms <= 200; ms++) recorder.record(ms);
  const { p50, p99, max } = recorder.latencies;
  expect(Math.abs(p50 - 100)).toBeLessThan(0.2);
  expect(Math.abs(p99 - 198)).toBeLessThan(0.4);
  expect(Math.abs(max - 200)).toBeLessThan(0.4);
  expect([[3, 1, 2], [4, 1, 3, 2], [7]].map(median)).toEqual([2, 2.5, 7]);
});

test('requests arrive in the form that the service reads', async () => {
  const heard: { method: string; url: string; type: string; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { method = '', url = '', headers } = request;
    heard.push({ method, url, type: headers['content-type'] ?? '', body: Buffer.concat(chunks) });
    response.end();
  });
  const site = await listenOnLoopback(server, 0);
  onTestFinished(() => void server.close());
  const picture = Uint8Array.from({ length: 300 }, (_, i) => i % 256);
  await send(site, httpRequest(endpointOf('messages.list'), { query: { narrow: [['is', 'dm']] } }, nobody));
  const emoji = { path: { emoji_name: 'a b' }, parameters: { note: 'ü' }, files: [picture] };
  await send(site, httpRequest(endpointOf('emoji.add'), emoji, nobody));
  const [list, add] = heard;
  expect(list).toMatchObject({
    method: 'GET',
    url: '/api/v1/messages?narrow=%5B%5B%22is%22%2C%22dm%22%5D%5D',
  });
  expect(add).toMatchObject({ method: 'POST', url: '/api/v1/realm/emoji/a%20b' });
  const sent = new Response(new Uint8Array(add?.body ?? []), {
    headers: { 'content-type': add?.type ?? '' },
  });
  const [note, ...files] = await sent.formData();
  expect(note).toEqual(['note', 'ü']);
  expect(await Promise.all(files.map(([, file]) => new Response(file).bytes()))).toEqual([picture]);
});
