import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { handler as regenerateKey } from '../../functions/users/regenerateKey.ts';
import { TURN } from '../../shared/domain/event/turn.ts';
import { proof } from '../../shared/endpoints/listener.ts';
import { givenClient, said, sendTo } from '../support/event-queue.ts';
import { fault, requestOf } from '../support/faults.ts';
import { givenChangedUser } from '../support/given.ts';
import { ask, givenListener, givenWaitingClient, newRoom, type WaitingClient } from '../support/listener.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { exchange } from '../support/wire.ts';

/** Resolves when so many polls wait. */
const waiting = (room: { readonly size: number }, count = 1): Promise<unknown> =>
  vi.waitFor(() => expect(room.size).toBe(count), { timeout: 30_000, interval: 5 });

/** Resolves when so many polls have claimed their queues at a container, after which they only look. */
const claimed = ({ meter }: Pick<TestRealm, 'meter'>, count: number): Promise<unknown> =>
  vi.waitFor(
    () =>
      expect(meter.calls.filter(({ action }) => action === 'Update').length).toBeGreaterThanOrEqual(count),
    { timeout: 30_000, interval: 5 },
  );

/** A poll as bytes. */
function requestOfPoll(
  { host }: TestRealm,
  { email, apiKey }: Person,
  { queueId, last }: Pick<WaitingClient, 'queueId' | 'last'>,
  more = '',
): string {
  const key = Buffer.from(`${email}:${apiKey}`).toString('base64');
  const target = `/api/v1/events?queue_id=${queueId}&last_event_id=${last}`;
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Basic ${key}\r\n${more}\r\n`;
}

const heartbeat = { status: 200, body: { result: 'success', events: [{ type: 'heartbeat' }] } };

describe('a client that waits at the listener', () => {
  it('gets a message, polls again and gets the next one', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { admin, member } = realm.people;
    const client = await givenWaitingClient(realm, listener, member);
    for (const content of ['one', 'two']) {
      const heard = client.hear();
      await waiting(listener.room);
      await sendTo(realm, admin, realm.channels.general, content);
      expect(said(await heard)).toEqual([content]);
    }
    await waiting(listener.room, 0);
  });

  it('gets the same replies and headers as from the function', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { member } = realm.people;
    const client = await givenWaitingClient(realm, listener, member);
    const query = { queue_id: client.queueId, last_event_id: client.last, dont_block: 'true' };
    expect(await ask(realm, listener, member, query).reply).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
      body: { result: 'success', events: [], queue_id: client.queueId },
    });
    expect(await ask(realm, listener, undefined, query).reply).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="zulip"' },
      body: { code: 'UNAUTHORIZED' },
    });
    expect(await ask(realm, listener, member, { last_event_id: 0 }).reply).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    });
  });

  it('frees its place when it disconnects', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const asked = client.listen();
    await waiting(listener.room);
    asked.hangUp();
    await waiting(listener.room, 0);
    const before = listener.container.meter.calls.length;
    await pause(500);
    expect(listener.container.meter.calls.length - before).toBeLessThanOrEqual(1);
  });

  it('ends its older poll with a newer one, at once', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const older = client.listen();
    await waiting(listener.room);
    const newer = client.listen();
    expect(await older.reply).toMatchObject(heartbeat);
    expect(listener.room.size).toBe(1);
    await sendTo(realm, realm.people.admin, realm.channels.general, 'for the newer one');
    expect(said((await newer.reply).body.events)).toEqual(['for the newer one']);
  });

  it('ends its poll by deleting the queue', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { member } = realm.people;
    const client = await givenWaitingClient(realm, listener, member);
    const asked = client.listen();
    await waiting(listener.room);
    const query = { queue_id: client.queueId };
    expect(await ask(realm, listener, member, query, { method: 'DELETE' }).reply).toMatchObject({
      status: 200,
    });
    expect(await asked.reply).toMatchObject(heartbeat);
    expect(await client.listen().reply).toMatchObject({ status: 400, body: { code: 'BAD_EVENT_QUEUE_ID' } });
  });

  it.each<[string, 'deactivate' | 'key']>([
    ['is deactivated', 'deactivate'],
    ['has its key replaced', 'key'],
  ])('gets no more events once its account %s', async (_, what) => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { admin, member } = realm.people;
    const client = await givenWaitingClient(realm, listener, member);
    const asked = client.listen();
    await waiting(listener.room);
    if (what === 'deactivate') await givenChangedUser(realm, member, { isActive: false });
    else await realm.call(regenerateKey, member, {});
    await sendTo(realm, admin, realm.channels.general, 'a secret');
    const reply = await asked.reply;
    expect(reply).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });

  it('learns at once that its key was replaced, even if nothing else happens', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { member } = realm.people;
    const asked = (await givenWaitingClient(realm, listener, member)).listen();
    await waiting(listener.room);
    await realm.call(regenerateKey, member, {});
    expect(await asked.reply).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
  });

  it('is not delayed by a client that does not read its replies', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { admin, member } = realm.people;
    const [deaf, client] = [
      await givenWaitingClient(realm, listener, admin),
      await givenWaitingClient(realm, listener, member),
    ];
    const socket = connect(listener.port, '127.0.0.1').pause();
    socket.write(requestOfPoll(realm, admin, deaf));
    const heard = client.hear();
    await waiting(listener.room, 2);
    await sendTo(realm, admin, realm.channels.general, 'x'.repeat(9_000));
    expect(said(await heard)).toEqual(['x'.repeat(9_000)]);
    await waiting(listener.room, 0);
    socket.destroy();
  });

  it('gets a heartbeat when its time is up', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm, { room: newRoom({ holdMs: 400 }) });
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    expect(await client.listen().reply).toMatchObject(heartbeat);
  });

  it('is refused with a time to retry if there is no room', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm, { room: newRoom({ capacity: 1 }) });
    const first = await givenWaitingClient(realm, listener, realm.people.member);
    const second = await givenWaitingClient(realm, listener, realm.people.admin);
    const asked = first.listen();
    await waiting(listener.room);
    expect(await second.listen().reply).toMatchObject({
      status: 429,
      headers: { 'retry-after': '2' },
      body: { code: 'RATE_LIMIT_HIT', 'retry-after': 2 },
    });
    // A newer poll of a queue that is in takes the place of the older one.
    const newer = first.listen();
    expect(await asked.reply).toMatchObject(heartbeat);
    newer.hangUp();
  });

  it('gets a heartbeat when the process ends, within its second', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const clients = await Promise.all(
      [realm.people.member, realm.people.admin].map((person) => givenWaitingClient(realm, listener, person)),
    );
    const asked = clients.map((client) => client.listen());
    await waiting(listener.room, 2);
    await listener.stop();
    for (const { reply } of asked) {
      expect(await reply).toMatchObject({ ...heartbeat, headers: { connection: 'close' } });
    }
    await expect(clients[0]?.listen().reply).rejects.toThrow('ECONNREFUSED');
  });

  it('goes on waiting while the store is throttled', async () => {
    const realm = await newRealm();
    let refused = 0;
    const listener = await givenListener(realm, {
      faults: (store) => async (command) => {
        const { input } = command as { readonly input: { readonly ConsistentRead?: boolean } };
        if (requestOf(command) !== 'query' || input.ConsistentRead !== false || refused === 3)
          return store(command);
        refused += 1;
        throw Object.assign(new Error('busy'), { name: 'ThrottlingException' });
      },
    });
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const heard = client.hear();
    await vi.waitFor(() => expect(refused).toBe(3), { timeout: 30_000 });
    await sendTo(realm, realm.people.admin, realm.channels.general, 'late');
    expect(said(await heard)).toEqual(['late']);
  });
});

describe('two environments', () => {
  it('hold one poll of a queue: the newer one ends the older one within two turns', async () => {
    const realm = await newRealm();
    const [one, other] = [await givenListener(realm), await givenListener(realm)];
    const client = await givenWaitingClient(realm, one, realm.people.member);
    const older = client.listen();
    await waiting(one.room);
    realm.pass(TURN);
    const query = { queue_id: client.queueId, last_event_id: client.last };
    const newer = ask(realm, other, realm.people.member, query);
    await waiting(other.room);
    for (let turns = 0; turns < 2; turns++) {
      await pause(500);
      realm.pass(TURN);
    }
    expect(await older.reply).toMatchObject(heartbeat);
    expect(other.room.size).toBe(1);
    newer.hangUp();
  });
});

describe('two organizations in one environment', () => {
  it('are each followed separately', async () => {
    const [realm, second] = [await newRealm(), await newRealm()];
    const listener = await givenListener(realm);
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const stranger = await givenWaitingClient(second, listener, second.people.member);
    const [heard, unheard] = [client.hear(), stranger.listen()];
    await waiting(listener.room, 2);
    await sendTo(realm, realm.people.admin, realm.channels.general, 'ours');
    expect(said(await heard)).toEqual(['ours']);
    await sendTo(second, second.people.admin, second.channels.general, 'theirs');
    expect(said((await unheard.reply).body.events)).toEqual(['theirs']);
  });
});

describe('a wake-up', { tags: 'units' }, () => {
  it('costs one probe for all waiting clients, and one read of the log', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { member, admin, owner } = realm.people;
    const clients = await Promise.all(
      [member, admin, owner, member, admin].map((person) => givenWaitingClient(realm, listener, person)),
    );
    const heard = clients.map((client) => client.hear());
    await waiting(listener.room, clients.length);
    await claimed(listener.container, clients.length);
    await pause(300);
    const { meter } = listener.container;
    meter.reset();
    await pause(1_500);
    // Nobody else looks: at most one look in 150 ms.
    expect(meter.calls.length).toBeLessThanOrEqual(11);
    expect(meter.calls.every(({ action, readUnits }) => action === 'Query' && readUnits === 0.5)).toBe(true);
    meter.reset();
    await sendTo(realm, admin, realm.channels.general, 'to all');
    expect((await Promise.all(heard)).map(said)).toEqual(clients.map(() => ['to all']));
    const ofLog = meter.calls.filter(({ action, readUnits }) => action === 'Query' && readUnits > 0.5);
    expect(meter.calls.filter(({ action }) => action === 'BatchGet')).toHaveLength(1);
    expect(ofLog.length).toBeLessThanOrEqual(1 + clients.length);
  });
});

describe('a message for many clients', { tags: 'units' }, () => {
  it('reads permissions once for each user, and each queue once', { timeout: 60_000 }, async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { member, admin, owner, guest } = realm.people;
    const people = [member, admin, owner, guest];
    const clients: WaitingClient[] = [];
    for (let i = 0; i < 25; i++)
      clients.push(...(await Promise.all(people.map((one) => givenWaitingClient(realm, listener, one)))));
    const heard = clients.map((client) => client.hear());
    await waiting(listener.room, clients.length);
    await claimed(listener.container, clients.length);
    await pause(300);
    const { meter } = listener.container;
    meter.reset();
    await sendTo(realm, admin, realm.channels.general, 'to all');
    expect((await Promise.all(heard)).map(said)).toEqual(clients.map(() => ['to all']));
    const looks = (call: (typeof meter.calls)[number]) => call.action === 'Query' && call.readUnits === 0.5;
    const reads = meter.calls.filter((call) => !looks(call));
    // A hundred queues with three items of each person and four of all, in batches of a hundred; the log; the guest's groups.
    expect(reads.map(({ action }) => action).sort()).toEqual(['BatchGet', 'BatchGet', 'Query', 'Query']);
  });
});

describe('waiting', { tags: 'units' }, () => {
  it('costs nothing for each poll after its claim but the shared probes, and one read of the claims in each turn', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const { member, admin, owner } = realm.people;
    const clients = await Promise.all(
      [member, admin, owner, member].map((person) => givenWaitingClient(realm, listener, person)),
    );
    const asked = clients.map((client) => client.listen());
    await waiting(listener.room, clients.length);
    const { meter } = listener.container;
    realm.pass(TURN);
    await claimed(listener.container, clients.length);
    await pause(300);
    meter.reset();
    for (let turns = 0; turns < 4; turns++) {
      realm.pass(TURN);
      await pause(500);
    }
    expect(listener.room.size).toBe(clients.length);
    expect(new Set(meter.calls.map(({ action }) => action))).toEqual(new Set(['Query']));
    expect(meter.calls.every(({ readUnits }) => readUnits === 0.5)).toBe(true);
    for (const { hangUp } of asked) hangUp();
  });
});

describe('many clients that connect at once', () => {
  it('claim their queues a few at a time, and get events meanwhile', async () => {
    const realm = await newRealm();
    const gate = Promise.withResolvers<void>();
    const seen = { now: 0, most: 0, all: 0 };
    const listener = await givenListener(realm, {
      faults: (store) => async (command) => {
        if (requestOf(command) !== 'update') return store(command);
        seen.now += 1;
        seen.all += 1;
        seen.most = Math.max(seen.most, seen.now);
        await gate.promise;
        seen.now -= 1;
        return store(command);
      },
    });
    const { member, admin, owner } = realm.people;
    const clients = await Promise.all(
      [0, 1, 2, 3, 4].flatMap(() =>
        [member, admin, owner].map((p) => givenWaitingClient(realm, listener, p)),
      ),
    );
    const heard = clients.map((client) => client.hear());
    await waiting(listener.room, clients.length);
    realm.pass(TURN);
    await vi.waitFor(() => expect(seen.now).toBe(8), { timeout: 30_000 });
    await sendTo(realm, admin, realm.channels.general, 'to all');
    expect((await Promise.all(heard)).map(said)).toEqual(clients.map(() => ['to all']));
    gate.resolve();
    // Those that were still in line have no poll any more.
    await vi.waitFor(() => expect(seen.now).toBe(0));
    expect(seen).toMatchObject({ most: 8, all: 8 });
  });

  it('claim again after a transient error, and end with an error if the claim has a fault', async () => {
    const realm = await newRealm();
    const problems = [fault('TimeoutError'), new Error('nobody expected this')];
    const listener = await givenListener(realm, {
      faults: (store) => async (command) => {
        const problem = requestOf(command) === 'update' ? problems.shift() : undefined;
        if (problem) throw problem;
        return store(command);
      },
    });
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const asked = client.listen();
    await waiting(listener.room);
    realm.pass(TURN);
    await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 30_000 });
    await pause(300);
    expect(listener.room.size).toBe(1);
    realm.pass(TURN);
    expect(await asked.reply).toMatchObject({ status: 500, body: { code: 'INTERNAL_SERVER_ERROR' } });
    expect(listener.container.reports).toMatchObject([{ level: 'ERROR', message: 'request failed' }]);
  });
});

describe('a transient failure of the store', () => {
  it.each(['TimeoutError', 'ECONNRESET', 'ThrottlingException'])(
    'answers a poll with a time to retry after a %s in its first reads, and the poll can be repeated',
    async (problem) => {
      const realm = await newRealm();
      const client = await givenClient(realm, realm.people.member);
      for (const kind of ['get', 'query'] as const) {
        for (let after = 0; after < 3; after++) {
          let asked = 0;
          let failures = 0;
          const room = newRoom({ holdMs: 100 });
          const container = realm.container(
            (store) => async (command) => {
              if (requestOf(command) !== kind || asked++ !== after) return store(command);
              failures += 1;
              throw fault(problem);
            },
            { waitingRoom: room },
          );
          const reply = await client.ask({ dont_block: true }, container);
          if (failures === 0) expect(reply.status).toBe(200);
          else {
            expect(reply).toMatchObject({
              status: 429,
              headers: { 'Retry-After': '2' },
              body: { code: 'RATE_LIMIT_HIT', 'retry-after': 2 },
            });
          }
          if (after === 0) expect(failures, kind).toBe(1);
          expect(room.size).toBe(0);
        }
      }
      expect((await client.ask({ dont_block: true })).status).toBe(200);
    },
  );
});

describe('the HTTP server of the listener', () => {
  it('answers other methods and paths in the envelope', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const to = (method: string, path = '/api/v1/events') =>
      ask(realm, listener, undefined, {}, { method, path }).reply;
    expect(await to('POST')).toMatchObject({
      status: 405,
      headers: { allow: 'DELETE, GET, HEAD', 'access-control-allow-origin': '*' },
      body: { code: 'METHOD_NOT_ALLOWED', allowed_methods: ['DELETE', 'GET', 'HEAD'] },
    });
    expect(await to('OPTIONS')).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-methods': 'DELETE, GET, HEAD' },
    });
    expect(await to('GET', '/api/v1/messages')).toMatchObject({ status: 404, body: { result: 'error' } });
    expect(listener.container.meter.calls).toHaveLength(0);
  });

  it('refuses requests without the secret of CloudFront, if the stack set one', async () => {
    const realm = await newRealm();
    const secret = 'a secret of the deployment';
    const environment = { ...realm.container().outside.environment, [proof.variable]: secret };
    const listener = await givenListener(realm, { outside: { environment } });
    const { member } = realm.people;
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await ask(realm, listener, member, { queue_id: 'none', last_event_id: '-1' }, { headers }).reply)
        .status;
    for (const headers of [{}, { [proof.header]: '' }, { [proof.header]: `${secret}.` }])
      expect(await status(headers), JSON.stringify(headers)).toBe(403);
    expect(listener.container.meter.calls).toHaveLength(0);
    // It is let in, and its queue is looked for.
    expect(await status({ [proof.header]: secret })).toBe(400);
    expect(listener.container.meter.calls).not.toHaveLength(0);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    [
      'a header that is too large',
      `GET /api/v1/events HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
    [
      'a query that is not encoded',
      'GET /api/v1/events?queue_id=%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
    ['no credentials', 'GET /api/v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 401],
    [
      'a body that is too large',
      `DELETE /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\nConnection: close\r\n\r\n${'x'.repeat(50_000)}`,
      413,
    ],
  ])('answers %s in the envelope, without a read', async (_, bytes, status) => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const socket = connect(listener.port, '127.0.0.1');
    socket.write(bytes);
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ result: 'error' });
    expect(listener.container.meter.calls).toHaveLength(0);
    expect(listener.container.reports).toEqual([]);
  });

  it('refuses requests with bytes changed at random, without an internal error', {
    timeout: 60_000,
  }, async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm, { room: newRoom({ holdMs: 100 }) });
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const whole = Buffer.from(requestOfPoll(realm, realm.people.member, client, 'Connection: close\r\n'));
    const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
    const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const { at, byte } of changes) bytes[at] = byte;
      const { status = 0 } = await exchange(new URL(`http://127.0.0.1:${listener.port}`), bytes);
      expect(status).toBeLessThan(500);
    });
    await fc.assert(property, { numRuns: 60 });
    expect(listener.container.reports).toEqual([]);
  });

  it('ends a connection with more requests at once than any client sends', async () => {
    const realm = await newRealm();
    const listener = await givenListener(realm);
    const client = await givenWaitingClient(realm, listener, realm.people.member);
    const one = requestOfPoll(realm, realm.people.member, client);
    const socket = connect(listener.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.resume();
    socket.write(one.repeat(20));
    await closed;
    await waiting(listener.room, 0);
  });
});
