import { describe, expect, it } from 'vitest';
import { handler as getEvents } from '../../functions/events/get.ts';
import { eventIdOf, numberOf } from '../../shared/domain/event/queue.ts';
import { allocate } from '../../shared/log/log.ts';
import { type Client, givenClient, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { mishaps } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

/** One poll that lasts its full time. */
const held = (realm: TestRealm, client: Client, given = {}) =>
  client.poll({ dont_block: false, ...given }, realm.container(undefined, virtualTime()));

/** The last id that a heartbeat can have before the next number of the log. */
const lastBeat = (seq: number): number => eventIdOf(seq + 1) - 1;

describe('the id of an event', () => {
  it('is greater than every id before it, heartbeats included (wire facts 14.2, companion facts 6.1)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const ids = [client.last];
    for (const step of ['wait', 'wait', 'say', 'wait', 'wait', 'say', 'say', 'wait']) {
      if (step === 'say') await sendTo(realm, admin, realm.channels.general, 'hello');
      const [event, ...others] = await held(realm, client);
      expect(others).toEqual([]);
      expect(event.type).toBe(step === 'say' ? 'message' : 'heartbeat');
      expect(event.id).toBeGreaterThan(ids.at(-1) as number);
      ids.push(event.id);
    }
  });

  it('contains the number in the log, which is the id of the message', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const id = await sendTo(realm, realm.people.admin, realm.channels.general, 'hello');
    const [event] = await client.poll();
    expect(event.message.id).toBe(id);
    expect(numberOf(event.id)).toBe(id);
  });

  it('of a heartbeat acknowledges the events before it, and none after it', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    await sendTo(realm, admin, realm.channels.general, 'one');
    expect(said(await client.poll())).toEqual(['one']);
    await held(realm, client);
    const before = client.last;
    await sendTo(realm, admin, realm.channels.general, 'two');
    for (const last of [before, before + 1, lastBeat(numberOf(before))]) {
      expect(said(await client.poll({ last_event_id: last }))).toEqual(['two']);
    }
  });
});

describe('a log so quiet that a client has had 999 heartbeats', () => {
  it('uses one more number, once for all waiting clients', async () => {
    const realm = await newRealm();
    const { guest, member } = realm.people;
    const clients = [await givenClient(realm, member), await givenClient(realm, guest)] as const;
    const end = await lastNumber(realm);
    const [one, other] = clients;
    one.last = lastBeat(end);
    expect(await held(realm, one)).toEqual([{ type: 'heartbeat', id: eventIdOf(end + 1) + 1 }]);
    other.last = lastBeat(end);
    expect(await held(realm, other)).toEqual([{ type: 'heartbeat', id: eventIdOf(end + 1) + 1 }]);
    expect(await held(realm, one)).toEqual([{ type: 'heartbeat', id: eventIdOf(end + 1) + 2 }]);
    expect(await lastNumber(realm)).toBe(end + 1);
  });

  it('gives clients the events that were written meanwhile instead', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    client.last = lastBeat(await lastNumber(realm));
    const overtaken = mishaps({
      update: [
        async (send) => {
          await sendTo(realm, admin, realm.channels.general, 'just in time');
          return send();
        },
      ],
    });
    const through = realm.container(overtaken, virtualTime());
    expect(said(await client.poll({ dont_block: false }, through))).toEqual(['just in time']);
  });

  it('makes clients retry while its new end is not visible, and loses nothing', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const client = await givenClient(realm, member);
    client.last = lastBeat(await lastNumber(realm));
    // A writer that has its number and is still at work.
    await allocate(realm.log, 1);
    const through = realm.container(undefined, virtualTime());
    const reply = await client.ask({ dont_block: false }, through);
    expect(reply).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_HIT' } });
    realm.pass(60_000);
    await sendTo(realm, admin, realm.channels.general, 'here');
    expect(said(await held(realm, client))).toEqual(['here']);
  });
});

describe('GET /events', () => {
  it.each(['queue_id', 'last_event_id'])('without %s is BAD_REQUEST (companion facts 6.1)', async (name) => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const given = { queue_id: client.queueId, last_event_id: client.last, dont_block: true };
    const query = Object.fromEntries(Object.entries(given).filter(([field]) => field !== name));
    const reply = await realm.call(getEvents, realm.people.member, undefined, { query });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', msg: expect.stringContaining(name) },
    });
    expect(reply.body).not.toHaveProperty('var_name');
  });
});
