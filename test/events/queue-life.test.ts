import { describe, expect, it } from 'vitest';
import { handler as deleteQueue } from '../../functions/events/delete.ts';
import { handler as getEvents } from '../../functions/events/get.ts';
import { givenClient, refusedQueue, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { fault, mishaps, refusedWith } from '../support/faults.ts';
import { newRealm } from '../support/realm.ts';

describe('a queue', () => {
  it('belongs to its owner alone', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, member);
    const query = { queue_id: client.queueId, last_event_id: client.last, dont_block: true };
    expect(await realm.call(getEvents, admin, undefined, { query })).toMatchObject(
      refusedQueue(client.queueId),
    );
    const deleting = await realm.call(deleteQueue, admin, { queue_id: client.queueId });
    expect(deleting).toMatchObject(refusedQueue(client.queueId));
    expect(await client.poll()).toEqual([]);
  });

  it('is gone when it is deleted', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const remove = () => realm.call(deleteQueue, realm.people.member, { queue_id: client.queueId });
    expect((await remove()).body).toEqual({ result: 'success', msg: '' });
    expect(await client.ask()).toMatchObject(refusedQueue(client.queueId));
    expect(await remove()).toMatchObject(refusedQueue(client.queueId));
  });

  it.each(['', 'nothing', 'x'.repeat(3_000), 'a/b%'])(
    'with an unknown id is refused (%#)',
    async (queueId) => {
      const realm = await newRealm();
      const query = { queue_id: queueId, last_event_id: -1 };
      const reply = await realm.call(getEvents, realm.people.member, undefined, { query });
      expect(reply).toMatchObject(refusedQueue(queueId));
      const deleting = await realm.call(deleteQueue, realm.people.member, { queue_id: queueId });
      expect(deleting).toMatchObject(refusedQueue(queueId));
    },
  );

  it('lives as long as it is polled, counted from the last poll', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { idle_queue_timeout: 100 });
    for (let i = 0; i < 5; i++) {
      realm.pass(90_000);
      expect(await client.poll()).toEqual([]);
    }
    realm.pass(99_000);
    expect(await client.poll()).toEqual([]);
    realm.pass(120_000);
    expect(await client.ask()).toMatchObject(refusedQueue(client.queueId));
  });

  it('lives as long counted from the end of its registration, however long that took', async () => {
    const realm = await newRealm();
    const slow = mishaps({
      put: [
        async (send) => {
          const reply = await send();
          realm.pass(20_000);
          return reply;
        },
      ],
    });
    const { queueId, last } = await givenClient(realm.container(slow), realm.people.member, {
      idle_queue_timeout: 100,
    });
    const query = { queue_id: queueId, last_event_id: last, dont_block: true };
    const ask = () => realm.call(getEvents, realm.people.member, undefined, { query });
    realm.pass(99_000);
    expect((await ask()).status).toBe(200);
    realm.pass(111_000);
    expect(await ask()).toMatchObject(refusedQueue(queueId));
  });

  it('outlives its polls, even if its idle time is shorter than a poll', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { idle_queue_timeout: 5 });
    const time = virtualTime();
    await client.poll({ dont_block: false }, realm.container(undefined, time));
    expect(time.passed()).toBeGreaterThan(20_000);
    realm.pass(time.passed() + 2_000);
    expect(await client.poll()).toEqual([]);
  });

  const refused = refusedWith(() => fault('ProvisionedThroughputExceededException'));

  /** A queue whose next poll has to be noted, with so many messages for it. */
  async function givenDueNote(count: number) {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, {
      event_types: ['message'],
      idle_queue_timeout: 100,
    });
    realm.pass(90_000);
    for (let i = 0; i < count; i++) await sendTo(realm, realm.people.guest, realm.channels.general, 'hello');
    return { realm, client };
  }

  it.each([0, 1])(
    'lives as long counted from a poll with %d messages, even if the store refused its write at first',
    async (count) => {
      const { realm, client } = await givenDueNote(count);
      expect(await client.poll({}, realm.container(mishaps({ update: [refused] })))).toHaveLength(count);
      realm.pass(90_000);
      expect(await client.poll()).toEqual([]);
    },
  );

  it.each([0, 1])(
    'fails a poll with %d messages if the store goes on to refuse its write, and loses nothing',
    async (count) => {
      const { realm, client } = await givenDueNote(count);
      const busy = realm.container(mishaps({ update: [refused, refused] }));
      const query = { queue_id: client.queueId, last_event_id: client.last, dont_block: true };
      expect(await busy.call(getEvents, realm.people.member, undefined, { query })).toMatchObject({
        status: 429,
        body: { code: 'RATE_LIMIT_HIT' },
      });
      expect(await client.poll()).toHaveLength(count);
    },
  );

  it('is written to at most once a minute', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const container = realm.container();
    for (let i = 0; i < 12; i++) {
      realm.pass(10_000);
      await client.poll({}, container);
    }
    expect(container.meter.writeUnits).toBe(2);
  });

  it('refuses a `last_event_id` that was never sent', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    for (const last of [client.last + 1_000, 1e12, Number.MAX_SAFE_INTEGER]) {
      const reply = await client.ask({ last_event_id: last });
      expect(reply).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    }
    expect(await client.poll({ last_event_id: -7 })).toEqual([]);
  });
});

describe('a client that stays for a long time', () => {
  const day = 24 * 3600 * 1000;
  const longest = { idle_queue_timeout: 7 * 24 * 3600 };

  it('goes on getting events after those it has acknowledged are deleted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, member, longest);
    await sendTo(realm, admin, realm.channels.general, 'long ago');
    for (let i = 0; i < 10; i++) {
      expect(said(await client.poll())).toEqual(i === 0 ? ['long ago'] : []);
      realm.pass(2 * day);
    }
    await sendTo(realm, admin, realm.channels.general, 'now');
    expect(said(await client.poll())).toEqual(['now']);
  });

  it('must register again if it never acknowledges events', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, member, longest);
    await sendTo(realm, admin, realm.channels.general, 'old');
    const repeat = () => client.ask({ last_event_id: client.state.last_event_id });
    for (let i = 0; i < 3; i++) {
      realm.pass(2 * day);
      expect(said((await repeat()).body.events)).toEqual(['old']);
    }
    realm.pass(2 * day + 1);
    expect(await repeat()).toMatchObject(refusedQueue(client.queueId));
  });
});
