import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DemoName } from '../../infra/local/demo.ts';
import { MAX_QUEUES } from '../../shared/domain/event/queue.ts';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { describedFetch } from '../support/described-fetch.ts';
import { type LocalService, STARTING, startLocalService } from '../support/local-service.ts';
import { basic } from '../support/raw-request.ts';
import { type Answer, connection, exchange } from '../support/wire.ts';

/** How much of everything; `npm run fuzz` takes more. */
const POLLS = Number(process.env.FUZZ_POLLS ?? 30);
const MANGLED = Number(process.env.FUZZ_MANGLED ?? 200);
/** A minute (ms) for whatever scale, and what each adds on a busy machine; polls end after 55 seconds. */
const PATIENCE = { mangled: 60_000 + MANGLED * 100, polls: 60_000 + POLLS * 200 } as const;

/** So many functions run at once. None of them holds a poll. */
const CONCURRENCY = 40;
/**
 * Milliseconds until a poll is surely being held, and those that each of the others adds; at most half of the time that it
 * is held for.
 */
const SETTLING = 500;
const SETTLING_EACH = 20;
const MOST_SETTLING = (eventListener.holdSeconds * 1_000) / 2;

let service: LocalService;
let address: URL;
let authorization: string;

beforeAll(async () => {
  service = await startLocalService({ LOCAL_CONCURRENCY: String(CONCURRENCY) });
  address = new URL(service.address);
  authorization = basic(await account('member'));
}, STARTING);

afterAll(() => service?.end());

/** The address and key of a demo account. */
async function account(name: DemoName): Promise<{ email: string; apiKey: string }> {
  const text = await readFile(service.zuliprc(name), 'utf8');
  const [, email = ''] = /^email=(.*)$/m.exec(text) ?? [];
  const [, apiKey = ''] = /^key=(.*)$/m.exec(text) ?? [];
  return { email, apiKey };
}

/** A proper request, and what it comes to. */
async function call(method: string, path: string, fields?: Record<string, string>, as = authorization) {
  const answer = await describedFetch(new URL(`/api/v1${path}`, address), {
    method,
    headers: { authorization: as },
    ...(fields && { body: new URLSearchParams(fields) }),
  });
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, body };
}

/** The service still does what it is for, and at once. */
async function expectWell(): Promise<void> {
  const message = { type: 'stream', to: 'general', topic: 'well', content: 'all is well' };
  expect(await call('POST', '/messages', message)).toMatchObject({ status: 200 });
}

/** An answer in the envelope that blames the client, or none where there was nothing to be answered. */
function expectTurnedAway({ status, body }: Answer): void {
  if (status === undefined) return;
  expect(status).toBeLessThan(500);
  if (status !== 200 && status !== 204 && body !== '') {
    expect(JSON.parse(body)).toMatchObject({ result: 'error', code: expect.any(String) });
  }
}

describe('malformed requests', () => {
  const head = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;
  const get = (...headers: string[]) => head(['GET /api/v1/users/me HTTP/1.1', 'Host: x', ...headers]);
  const long = 'a'.repeat(10_000);

  test.each([
    ['two lengths', get('Content-Length: 1', 'Content-Length: 2')],
    ['a negative length', get('Content-Length: -1')],
    ['a length and chunks', `${get('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\nGET /x`],
    ['chunks of no size', `${get('Transfer-Encoding: chunked')}zz\r\nabc\r\n`],
    ['a chunk larger than all memory', `${get('Transfer-Encoding: chunked')}ffffffffffffffff\r\nabc`],
    ['an unknown encoding', get('Transfer-Encoding: gzip, chunked')],
    ['two hosts', get('Host: y')],
    ['no host', head(['GET /api/v1/users/me HTTP/1.1'])],
    ['a folded header', get('X-One: a', ' b')],
    ['a control character in a header', get('X-One: a\u0001b')],
    ['a NUL in a header', get('X-One: a\0b')],
    ['bytes above ASCII in a header', get('X-One: \u00ff\u00fe')],
    ['a header without a name', get(': a')],
    ['two thousand headers', get(...Array.from({ length: 2_000 }, (_, i) => `X-${i}: ${i}`))],
    ['two authorizations', get('Authorization: Basic YTpi', 'Authorization: Basic YTpj')],
    ['a name that prototypes have', get('__proto__: a', 'constructor: b', 'toString: c')],
    ['a long address', head([`GET /api/v1/users/${long} HTTP/1.1`, 'Host: x'])],
    ['an address with dots', head(['GET /api/v1/../../etc/passwd HTTP/1.1', 'Host: x'])],
    ['an address with encoded dots', head(['GET /api/v1/users/%2e%2e/%2e%2e HTTP/1.1', 'Host: x'])],
    ['an empty part of the path', head(['GET /api/v1//users//me HTTP/1.1', 'Host: x'])],
    ['an address without a slash', head(['GET api/v1/users/me HTTP/1.1', 'Host: x'])],
    ['an authority to connect to', head(['CONNECT a.b:443 HTTP/1.1', 'Host: a.b:443'])],
    ['TRACE', head(['TRACE /api/v1/users/me HTTP/1.1', 'Host: x'])],
    ['an asterisk', head(['OPTIONS * HTTP/1.1', 'Host: x'])],
    ['a method of its own', head(['BREW /api/v1/users/me HTTP/1.1', 'Host: x'])],
    ['an upgrade', get('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: eA==')],
    ['the next version', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the first version', 'GET /api/v1/users/me\r\n'],
    ['a greeting of TLS', Buffer.from('160301020001000001fc0303', 'hex')],
    ['an expectation', `${get('Content-Length: 3', 'Expect: something')}abc`],
    ['nothing', ''],
  ])('are refused: %s', async (_, bytes) => {
    expectTurnedAway(await exchange(address, bytes));
  });

  test('are refused if their bytes are changed at random', { timeout: PATIENCE.mangled }, async () => {
    const whole = Buffer.from(
      `POST /api/v1/messages?a=%41 HTTP/1.1\r\nHost: ${address.host}\r\nAuthorization: ${authorization}\r\n` +
        'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 44\r\nConnection: close\r\n\r\n' +
        'type=stream&to=general&topic=t&content=hello',
    );
    const change = fc.record({
      at: fc.nat(whole.length - 1),
      byte: fc.oneof(fc.nat(255), fc.constantFrom(0, 10, 13, 32, 37, 58, 255)),
      kind: fc.constantFrom('replace', 'insert', 'cut'),
    });
    const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      let bytes = whole;
      for (const { at, byte, kind } of changes) {
        const place = Math.min(at, bytes.length);
        const rest = bytes.subarray(kind === 'insert' ? place : place + 1);
        const middle = kind === 'cut' ? [] : [Buffer.from([byte])];
        bytes = Buffer.concat([bytes.subarray(0, place), ...middle, rest]);
      }
      expectTurnedAway(await exchange(address, bytes));
    });
    await fc.assert(property, { numRuns: MANGLED });
    await expectWell();
  });
});

describe('bodies', () => {
  test('of 10 MB and one byte, several at once, are refused', async () => {
    const bodies = Array.from({ length: 4 }, async () => {
      const answer = await fetch(new URL('/api/v1/messages', address), {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.alloc(10 * 1024 * 1024 + 1, 'a'),
      });
      return [answer.status, await answer.json()];
    });
    for (const answer of await Promise.all(bodies)) {
      expect(answer).toEqual([413, expect.objectContaining({ result: 'error', code: expect.any(String) })]);
    }
    await expectWell();
  });

  test('that a hundred clients cut short do not delay other clients', async () => {
    const half = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'a'.repeat(500_000)}`;
    const sockets = await Promise.all(Array.from({ length: 100 }, () => connection(address)));
    for (const socket of sockets) socket.write(half);
    await wait(50);
    for (const socket of sockets) socket.destroy();
    await expectWell();
  });
});

test('clients that send a byte now and then do not delay other clients', async () => {
  const sockets = await Promise.all(Array.from({ length: 200 }, () => connection(address)));
  const request = `GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nX-Slow: ${'a'.repeat(1_000)}`;
  for (let place = 0; place < 20; place++) {
    for (const socket of sockets) socket.write(request.charAt(place));
    await wait(10);
  }
  await expectWell();
  for (const socket of sockets) socket.destroy();
});

interface Queue {
  /** Whose it is, as a header says it. */
  readonly as: string;
  readonly id: string;
  readonly last: number;
}

/** Enough callers for one queue per poll: a second poll of a queue would end the first, and accounts have few queues. */
async function callersFor(polls: number): Promise<string[]> {
  const made = await inTurns(Math.ceil(polls / MAX_QUEUES), (n) =>
    call('POST', '/bots', { full_name: `Waiting ${n}`, short_name: `waiting${n}` }),
  );
  const { body } = await call('GET', '/bots');
  const bots = body.bots as { user_id: number; username: string }[];
  return made.map(({ status, body: { user_id, api_key } }) => {
    expect(status).toBe(200);
    const email = bots.find((bot) => bot.user_id === user_id)?.username as string;
    return basic({ email, apiKey: api_key as string });
  });
}

/** Waits for news, as clients do: a heartbeat is none. */
async function news({ as, id, last }: Queue): Promise<Awaited<ReturnType<typeof call>>> {
  const answer = await call('GET', `/events?queue_id=${id}&last_event_id=${last}`, undefined, as);
  const [first] = (answer.body.events ?? []) as { type: string; id: number }[];
  return first?.type === 'heartbeat' ? news({ as, id, last: first.id }) : answer;
}

test(`${POLLS} clients can wait for events at once, and one message wakes all of them`, {
  timeout: PATIENCE.polls,
}, async () => {
  const callers = await callersFor(POLLS);
  const wanted = { event_types: '["message"]', all_public_streams: 'true' };
  const queues = await inTurns(POLLS, async (n): Promise<Queue> => {
    const as = callers[n % callers.length] as string;
    const { body } = await call('POST', '/register', wanted, as);
    return { as, id: body.queue_id as string, last: body.last_event_id as number };
  });
  const queueOf = (client: number) => queues[client] as Queue;
  const polls = Array.from({ length: POLLS }, (_, client) => news(queueOf(client)));
  await wait(Math.min(SETTLING + POLLS * SETTLING_EACH, MOST_SETTLING));
  await expectWell();

  for (const answer of await Promise.all(polls)) {
    const event = { type: 'message', message: { content: 'all is well' } };
    expect(answer).toMatchObject({ status: 200, body: { events: [event] } });
  }
  await expectWell();
});

/** Does it so often, twenty at a time. */
async function inTurns<T>(times: number, once: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  while (done.length < times) {
    const some = Array.from({ length: Math.min(20, times - done.length) }, (_, i) => once(done.length + i));
    done.push(...(await Promise.all(some)));
  }
  return done;
}
