import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as regenerate } from '../../functions/users/regenerateKey.ts';
import { endpoint, writes } from '../../shared/endpoints/endpoint.ts';
import { optional, text } from '../../shared/endpoints/parameter.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { ConflictError } from '../../shared/log/commit.ts';
import { SMALL_REQUEST } from '../../shared/serve/parameters.ts';
import { serve } from '../../shared/serve/serve.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, back, out, withKey } from '../support/accounts.ts';
import { mishaps, refusedWith } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { slotsOf } from '../support/log-entries.ts';
import { basic, sendRaw } from '../support/raw-request.ts';
import { newRealm, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter, storedMessage } from '../support/stored.ts';
import { FORM } from './probe.ts';

/** What the probe was asked to do: which channel it read, and on what it then ran. */
let read: (number | undefined)[] = [];
let ran: (number | undefined)[] = [];
/** What happens to its reads and its runs, one after the other. */
let loads: (() => void)[] = [];
let runs: (() => void)[] = [];

beforeEach(() => {
  [read, ran, loads, runs] = [[], [], [], []];
});

const pointer = (name: string): LookupKey<'channelName'> => ({ kind: 'channelName', name });

/** Follows the name of a channel, takes numbers ahead, and commits an event if it is asked to. */
const probe = serve(
  endpoint({
    id: 'tests.follow',
    route: 'POST /api/v1/follow',
    source: 'DESIGN 7',
    description: 'Tells where a name leads.',
    access: 'user',
    parameters: { name: text('A channel.'), say: optional(text('What to tell everybody.')) },
    reply: z.object({ channel: z.nullable(z.int()) }),
    errors: [],
    needs: { table: writes },
  }),
  {
    keys: ({ name }) => [pointer(name)],
    load: ({ input, resolved }) => {
      const channel = resolved.follow(pointer(input.name))?.channelId;
      read.push(channel);
      loads.shift()?.();
      return Promise.resolve(channel);
    },
    reserve: 3,
    run: async ({ input: { say }, commit }, channel) => {
      ran.push(channel);
      runs.shift()?.();
      if (say !== undefined) {
        const payload = { type: 'test', say };
        await commit(1, () => ({
          writes: [],
          entries: [{ kind: 'event', hearers: { everyone: 'all' }, payload }],
          result: undefined,
        }));
      }
      return { channel: channel ?? null };
    },
  },
);

const follow = (realm: TestRealm, name: string): Promise<Reply> =>
  realm.call(probe, realm.people.member, { name });

/** Checks that no number of the log is left open: those that were taken and not used were given back. */
async function expectNoHole(realm: TestRealm): Promise<void> {
  const last = await lastNumber(realm);
  let covered = (await slotsOf(realm.log))[0]?.seq ?? last;
  for (const { seq, width } of await slotsOf(realm.log)) {
    expect(seq - width).toBeLessThanOrEqual(covered);
    covered = seq;
  }
  expect(covered).toBe(last);
}

/** Lets a name lead elsewhere, behind the back of every container. */
const point = ({ outside, realm }: TestRealm, name: string, channelId: number): Promise<void> =>
  outside.table.put(key('channelName', { realm, name }), { channelId });

describe('what a container remembers', () => {
  it('saves a round trip if it is right', async () => {
    const realm = await newRealm();
    const { general } = realm.channels;
    const container = realm.container();
    const request = { name: 'general', say: 'hello' };
    await container.call(probe, realm.people.member, request);
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    expect((await container.call(probe, realm.people.member, request)).body.channel).toBe(general);
    expect(container.meter.roundTrips).toBe(2);
    expect([read, ran]).toEqual([
      [general, general],
      [general, general],
    ]);
  });

  it('lets the names of a large request be looked up at once, while a cold container first checks the key', async () => {
    const realm = await newRealm();
    const cold = realm.container();
    const large = { name: 'general', say: 'x'.repeat(SMALL_REQUEST) };
    expect((await cold.call(probe, realm.people.member, large)).status).toBe(200);
    expect(cold.meter.roundTrips).toBe(4);
    cold.meter.reset();
    expect((await cold.call(probe, realm.people.member, large)).status).toBe(200);
    expect(cold.meter.roundTrips).toBe(2);
  });

  it('has no effect if it is wrong, since its reads are repeated', async () => {
    const realm = await newRealm();
    const { general, random } = realm.channels;
    const container = realm.container();
    await follow(container, 'general');
    await point(realm, 'general', random);
    expect((await follow(container, 'general')).body.channel).toBe(random);
    expect(read).toEqual([general, general, random]);
    expect(ran).toEqual([general, random]);
    await expectNoHole(realm);
    await follow(container, 'general');
    expect(read.at(-2)).toBe(random);
  });

  it('may be the absence of a name, until the name exists', async () => {
    const realm = await newRealm();
    const container = realm.container();
    expect((await follow(container, 'soon')).body.channel).toBeNull();
    const { channelId } = await givenChannel(realm, { name: 'soon' });
    expect((await follow(container, 'soon')).body.channel).toBe(channelId);
    expect(read).toEqual([undefined, undefined, channelId]);
  });

  it('does no harm if it causes an error', async () => {
    const realm = await newRealm();
    const { general, random } = realm.channels;
    const container = realm.container();
    const trouble = (): void => {
      throw new Error('what was remembered is gone');
    };
    await follow(container, 'general');
    await point(realm, 'general', random);
    loads = [trouble];
    expect((await follow(container, 'general')).body.channel).toBe(random);
    loads = [trouble];
    expect((await follow(container, 'general')).status).toBe(500);
    expect(read).toEqual([general, general, random, random]);
  });

  it('is not used for a caller whose key it does not remember', async () => {
    const realm = await newRealm();
    const container = realm.container();
    await follow(container, 'general');
    container.meter.reset();
    const wrong = { ...realm.people.member, apiKey: realm.people.admin.apiKey };
    expect(answer(await container.call(probe, wrong, { name: 'general' }))).toEqual([401, 'UNAUTHORIZED']);
    expect(read).toHaveLength(1);
    expect(container.meter.calls.map(({ action }) => action)).toEqual(['BatchGet']);
  });

  it('has nothing from requests without a valid key', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const container = realm.container();
    await container.call(getOwn, member);
    const stranger = { email: 'nobody@example.com', apiKey: 'x'.repeat(32), userId: 0 };
    expect((await container.call(probe, stranger, { name: 'general' })).status).toBe(401);
    container.meter.reset();
    await container.call(probe, member, { name: 'general' });
    // The name is looked up before anything else, as in a container that never met it.
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    await container.call(probe, member, { name: 'general' });
    expect(container.meter.roundTrips).toBe(2);
  });

  it('does not accept a key that was replaced elsewhere', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const container = realm.container();
    await follow(container, 'general');
    const renewed = withKey(member, await realm.call(regenerate, member));
    expect(answer(await follow(container, 'general'))).toEqual([401, 'UNAUTHORIZED']);
    // Its reads had begun, but nothing ran; the numbers that were taken are given back.
    expect([read.length, ran.length]).toEqual([2, 1]);
    await expectNoHole(realm);
    expect((await container.call(probe, renewed, { name: 'general' })).status).toBe(200);
  });

  it('does not accept a user who was deactivated elsewhere, and accepts them again after reactivation', async () => {
    const realm = await newRealm();
    const { owner, member, bot } = realm.people;
    const container = realm.container();
    for (const person of [member, bot]) await container.call(getOwn, person);
    await out(realm, owner, member);
    for (const person of [member, bot]) {
      expect(answer(await container.call(getOwn, person))).toEqual([401, 'UNAUTHORIZED']);
    }
    await back(realm, owner, member);
    expect((await container.call(getOwn, member)).status).toBe(200);
  });

  it('does not keep a bot with its former owner', async () => {
    const realm = await newRealm();
    const { owner, admin, member, bot } = realm.people;
    const container = realm.container();
    await container.call(getOwn, bot);
    await out(realm, owner, member);
    await back(realm, admin, bot);
    expect((await container.call(getOwn, bot)).body.bot_owner_id).toBe(admin.userId);
  });

  it('does not keep a host with an organization that has left it', async () => {
    const [first, second] = await Promise.all([newRealm(), newRealm()]);
    const container = first.container();
    expect((await container.call(getOwn, first.people.member)).status).toBe(200);
    await first.outside.table.put(key('host', { host: first.host }), { realm: second.realm });
    expect(answer(await container.call(getOwn, first.people.member))).toEqual([401, 'UNAUTHORIZED']);
    const { body } = await container.call(getOwn, second.people.guest);
    expect(body.user_id).toBe(second.people.guest.userId);
  });

  it('does not send to a channel by a name that another one has now', async () => {
    const realm = await newRealm();
    const { general, random } = realm.channels;
    const container = realm.container();
    const message = { type: 'channel', to: 'general', topic: 'hi', content: 'hi' };
    await container.call(send, realm.people.member, message);
    await point(realm, 'general', random);
    const { body } = await container.call(send, realm.people.member, message);
    expect((await storedMessage(realm, body.id)).channelId).toBe(random);
    await point(realm, 'general', general);
  });
});

describe('a decision whose snapshot changed', () => {
  const stale = (): void => {
    throw new ConflictError([]);
  };

  it('is made again, on the new state', async () => {
    const realm = await newRealm();
    const { general, random } = realm.channels;
    let moved: Promise<void> | undefined;
    runs = [
      () => {
        moved = point(realm, 'general', random);
        stale();
      },
      stale,
    ];
    const before = await lastNumber(realm);
    const reply = await realm.call(probe, realm.people.member, { name: 'general', say: 'done' });
    await moved;
    expect(reply.body.channel).toBe(random);
    expect(ran[0]).toBe(general);
    expect(ran.at(-1)).toBe(random);
    expect(ran).toHaveLength(3);
    expect((await loggedAfter(realm, before)).map((entry) => 'payload' in entry && entry.payload)).toEqual([
      { type: 'test', say: 'done' },
    ]);
  });

  it('makes the client retry if that happens every time, and leaves no hole in the log', async () => {
    const realm = await newRealm();
    runs = Array.from({ length: 100 }, () => stale);
    const impatient = { ...realm, outside: { ...realm.outside, wait: async () => {} } };
    const reply = await sendRaw(impatient, probe, {
      headers: { authorization: basic(realm.people.member), 'content-type': FORM },
      body: 'name=general&say=x',
    });
    expect(reply).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_HIT', 'retry-after': 2 } });
    expect(ran.length).toBeGreaterThan(3);
    expect(ran.length).toBeLessThan(20);
    await expectNoHole(realm);
  });
});

describe('an internal error', () => {
  it('reveals nothing to the client, and everything except secrets to the operator', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    runs = [
      () => {
        throw new Error('the details of it');
      },
    ];
    const { status, body } = await realm.call(probe, member, { name: 'general', say: 'what I say' });
    expect(status).toBe(500);
    expect(body).toEqual({ result: 'error', msg: expect.any(String), code: 'INTERNAL_SERVER_ERROR' });
    expect(body.msg).not.toContain('details');
    expect(realm.reports).toEqual([
      {
        level: 'ERROR',
        message: 'request failed',
        endpoint: 'tests.follow',
        requestId: expect.any(String),
        error: expect.stringContaining('the details of it'),
      },
    ]);
    const report = JSON.stringify(realm.reports);
    for (const secret of [member.apiKey, member.email, 'what I say']) expect(report).not.toContain(secret);
    await expectNoHole(realm);
  });

  it('is the result of an error of the store, for any request', async () => {
    const realm = await newRealm();
    const broken = refusedWith(() => new Error('the store is on fire'));
    for (const plan of [
      { get: [broken] },
      { get: [undefined, broken] },
      { query: [broken] },
      { update: [broken] },
    ]) {
      const container = realm.container(mishaps(plan));
      const reply = await container.call(probe, realm.people.member, { name: 'general', say: 'x' });
      expect([...answer(reply), reply.body.msg.includes('fire')], JSON.stringify(Object.keys(plan))).toEqual([
        500,
        'INTERNAL_SERVER_ERROR',
        false,
      ]);
      expect(container.reports).toHaveLength(1);
      expect((await follow(container, 'general')).status).toBe(200);
    }
  });
});
