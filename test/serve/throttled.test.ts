import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as list } from '../../functions/messages/list.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as retention } from '../../functions/workers/retention.ts';
import { defaultTimeout } from '../../infra/endpoint-function.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import type { ReadEntry } from '../../shared/log/slot.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { sendTo } from '../support/event-queue.ts';
import { conflict, fault, type Request, requestOf } from '../support/faults.ts';
import { handlers } from '../support/handlers.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { failed, newWay } from '../support/store-proxy.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';
import { runSchedule } from '../support/worker-run.ts';

/*
 * What happens at the limits of the store (docs/LIMITS.md): its client tries again, then a commit does, and then the
 * caller gets a 429. Nothing is done twice, and every request gets a reply.
 */

/** How DynamoDB says that it has no room now. */
const refusals: Readonly<Record<string, () => Error>> = {
  ProvisionedThroughputExceededException: () => fault('ProvisionedThroughputExceededException'),
  ThrottlingException: () => fault('ThrottlingException'),
  RequestLimitExceeded: () => fault('RequestLimitExceeded'),
  TransactionConflict: conflict,
};

/** Longest (ms) that the client of DynamoDB takes for its three tries of a request that is throttled. */
const CLIENT = 1_500;

/** How a call that met no room ends. */
const comeAgain = {
  status: 429,
  headers: { 'Retry-After': '2' },
  body: { result: 'error', msg: expect.any(String), code: 'RATE_LIMIT_HIT', 'retry-after': 2 },
};

/**
 * A container whose requests of some kinds are refused (`until` so many were), each after as long as the client takes
 * to give up. Its time passes only in this way, and during waits.
 */
function crowded(realm: TestRealm, kinds: readonly Request[], refusal: () => Error) {
  let time = Date.now();
  const state = { until: Number.POSITIVE_INFINITY, refused: 0, passed: () => time - started };
  const started = time;
  const container = realm.container(
    (store) => async (command) => {
      const kind = requestOf(command);
      if (state.refused >= state.until || !kinds.includes(kind)) return store(command);
      const end = time + CLIENT;
      state.refused += 1;
      await tick();
      time = Math.max(time, end);
      throw kind === 'transact' || refusal !== conflict ? refusal() : fault('TransactionConflictException');
    },
    {
      now: () => time,
      wait: async (ms) => {
        time += ms;
        await tick();
      },
    },
  );
  return { container, state };
}

const messagesIn = (entries: readonly ReadEntry[]) => entries.filter(({ kind }) => kind === 'message');

const message = { type: 'channel', to: 'general', topic: 'busy', content: 'anybody here?' };

/** Each kind of call, and the requests that it makes of the store. */
const calls: Readonly<
  Record<
    string,
    { handler: Served; parameters: Readonly<Record<string, unknown>>; kinds: readonly Request[] }
  >
> = {
  'a send': {
    handler: send,
    parameters: { ...message, queue_id: 'q', local_id: '1' },
    kinds: ['get', 'query', 'update', 'transact'],
  },
  'a subscription': {
    handler: subscribe,
    parameters: { subscriptions: [{ name: 'brand new' }] },
    kinds: ['get', 'query', 'update', 'transact'],
  },
  'a change of flags': {
    handler: updateFlags,
    parameters: { messages: [], op: 'add', flag: 'starred' },
    kinds: ['get', 'query', 'update', 'transact'],
  },
  'a fetch': {
    handler: list,
    parameters: { anchor: 'newest', num_before: 5, num_after: 0 },
    kinds: ['get', 'query'],
  },
  'a registration': { handler: register, parameters: {}, kinds: ['get', 'query', 'put'] },
};

describe('throttling that lasts', () => {
  test.each(Object.entries(calls))(
    'ends %s in time, with a 429 and without an effect',
    async (_, { handler, parameters, kinds }) => {
      const realm = await newRealm();
      const { member, guest } = realm.people;
      const starred = await sendTo(realm, guest, realm.channels.general, 'a star');
      const asked = 'messages' in parameters ? { ...parameters, messages: [starred] } : parameters;
      const before = await lastNumber(realm);
      const { timeout = defaultTimeout } = handler.endpoint;
      let refused = 0;
      for (const refusal of Object.values(refusals)) {
        for (const kind of kinds) {
          const { container, state } = crowded(realm, [kind], refusal);
          const reply = await container.call(handler, member, asked);
          if (state.refused === 0) continue;
          refused += 1;
          expect(reply, `${kind}: ${refusal().message}`).toMatchObject(comeAgain);
          expect(state.passed()).toBeLessThan(1_000 * timeout);
          expect(container.reports.map(({ level }) => level)).toContain('WARN');
          expect(container.counts).toContainEqual(
            expect.objectContaining({ metric: 'Errors', kind: 'RATE_LIMIT_HIT' }),
          );
          // The alarm on the table and its indexes looks at this.
          expect(container.counts, `${kind}: ${refusal().message}`).toContainEqual(
            expect.objectContaining({ metric: 'StoreThrottled', endpoint: handler.endpoint.id }),
          );
        }
      }
      expect(refused).toBeGreaterThanOrEqual(2 * Object.keys(refusals).length);
      expect(await loggedAfter(realm, before)).toEqual([]);

      // It comes again, and is done once.
      expect((await realm.call(handler, member, asked)).status).toBe(200);
      const logged = await loggedAfter(realm, before);
      expect((await realm.call(handler, member, asked)).status).toBe(200);
      if (handler !== updateFlags) expect(await loggedAfter(realm, before)).toEqual(logged);
    },
  );

  test('is a 429 even if the numbers cannot be released', async () => {
    const realm = await newRealm();
    const { container, state } = crowded(realm, ['transact', 'put'], conflict);
    expect(await container.call(send, realm.people.member, message)).toMatchObject(comeAgain);
    expect(state.passed()).toBeLessThan(1_000 * defaultTimeout);
  });

  test('is not a 429 if a reply was lost, since the message may have been sent', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    let sent = 0;
    let time = Date.now();
    const container = realm.container(
      (store) => async (command) => {
        const kind = requestOf(command);
        if (kind === 'put') throw fault('ThrottlingException');
        if (kind !== 'transact') return store(command);
        time += CLIENT;
        sent += 1;
        if (sent > 1) throw fault('ThrottlingException');
        await store(command);
        throw fault('TimeoutError');
      },
      {
        now: () => time,
        wait: async (ms) => {
          time += ms;
        },
      },
    );
    expect(await container.call(send, realm.people.member, message)).toMatchObject({
      status: 500,
      body: { code: 'INTERNAL_SERVER_ERROR' },
    });
    expect(messagesIn(await loggedAfter(realm, before))).toHaveLength(1);
  });

  test('lets every endpoint answer', async () => {
    const realm = await newRealm();
    const kinds: readonly Request[] = ['get', 'query', 'put', 'update', 'transact'];
    for (const endpoint of endpoints.filter(({ needs }) => needs.table.length > 0)) {
      const { container, state } = crowded(realm, kinds, conflict);
      const path = Object.fromEntries(
        [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, '1']),
      );
      const reply = await container.call(
        handlers.get(endpoint.id) as Served,
        realm.people.owner,
        {},
        { path },
      );
      if (state.refused > 0) expect(reply, endpoint.id).toMatchObject(comeAgain);
      else expect(reply.status, endpoint.id).toBe(400);
    }
  });

  test('leaves queue messages of a worker for another run', async () => {
    const realm = await newRealm();
    const { container } = crowded(realm, ['query'], refusals.ThrottlingException as () => Error);
    await expect(runSchedule(container, retention)).rejects.toMatchObject({ name: 'ThrottlingException' });
    await expect(runSchedule(realm, retention)).resolves.toBeUndefined();
  });
});

describe('throttling that passes', () => {
  const names = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

  test.concurrent.each(Object.entries(calls))('has no effect on %s', async (_, { handler, parameters }) => {
    const realm = await newRealm();
    const seen = new Map<string, number>();
    let refused = 0;
    // The first two of each operation: so often the client tries again by itself.
    const way = await newWay((operation) => {
      const times = seen.get(operation) ?? 0;
      seen.set(operation, times + 1);
      return times < 1 ? failed(400, names[refused++ % names.length] ?? '') : undefined;
    });
    try {
      const starred = await sendTo(realm, realm.people.guest, realm.channels.general, 'a star');
      const asked = 'messages' in parameters ? { ...parameters, messages: [starred] } : parameters;
      const before = await lastNumber(realm);
      const container = realm.container(() => tableClient({ AWS_ENDPOINT_URL_DYNAMODB: way.endpoint }));
      expect((await container.call(handler, realm.people.member, asked)).status).toBe(200);
      expect(refused).toBe(seen.size);
      const logged = await loggedAfter(realm, before);
      expect((await realm.call(handler, realm.people.member, asked)).status).toBe(200);
      if (handler !== updateFlags) expect(await loggedAfter(realm, before)).toEqual(logged);
    } finally {
      way.close();
    }
  });

  test('makes a commit wait longer than the client of the store', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { container, state } = crowded(realm, ['transact'], conflict);
    state.until = 2;
    const { status, body } = await container.call(send, realm.people.member, message);
    expect([status, state.refused]).toEqual([200, 2]);
    expect(messagesIn(await loggedAfter(realm, before)).map(({ seq }) => seq)).toEqual([body.id]);
  });
});
