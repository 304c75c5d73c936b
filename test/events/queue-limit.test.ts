import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { MAX_QUEUES } from '../../shared/domain/event/queue.ts';
import { givenClient, refusedQueue } from '../support/event-queue.ts';
import { mishaps } from '../support/faults.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const asked = { event_types: ['message'], fetch_event_types: ['message'] };

const queuesOf = ({ outside, realm }: TestRealm, { userId }: Person) =>
  outside.table.all('queue', { realm, userId });

/** A realm whose queues all want the same slot. */
async function crowded(realm: TestRealm): Promise<TestRealm> {
  let made = 0;
  return realm.container(undefined, {
    uuid: () => `00000000-0000-4000-8000-${String(++made).padStart(10, '0')}07`,
  });
}

describe('the event queues of an account', () => {
  it('have a limit, however many are registered', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let n = 0; n < MAX_QUEUES + 16; n++) await realm.call(register, member, asked);
    expect((await queuesOf(realm, member)).length).toBeLessThanOrEqual(MAX_QUEUES);
  });

  it('make room by removing the one that was polled longest ago, and no other', async () => {
    const realm = await crowded(await newRealm());
    const { member } = realm.people;
    const clients = [];
    for (let n = 0; n < MAX_QUEUES; n++)
      clients.push(await givenClient(realm, member, { idle_queue_timeout: 86_400 }));
    expect(await queuesOf(realm, member)).toHaveLength(MAX_QUEUES);
    const idle = clients[20];
    realm.pass(120_000);
    for (const client of clients) if (client !== idle) expect(await client.poll()).toEqual([]);
    const newcomer = await givenClient(realm, member);
    expect(await newcomer.poll()).toEqual([]);
    expect(await idle?.ask()).toMatchObject(refusedQueue(idle?.queueId ?? ''));
    for (const client of clients) if (client !== idle) expect(await client.poll()).toEqual([]);
  });

  it('replace expired ones before live ones', async () => {
    const realm = await crowded(await newRealm());
    const { member } = realm.people;
    const short = await givenClient(realm, member, { idle_queue_timeout: 60 });
    const long = await givenClient(realm, member, { idle_queue_timeout: 86_400 });
    realm.pass(600_000);
    const next = await givenClient(realm, member);
    expect(await long.poll()).toEqual([]);
    expect(await next.poll()).toEqual([]);
    expect(await short.ask()).toMatchObject(refusedQueue(short.queueId));
    expect(await queuesOf(realm, member)).toHaveLength(2);
  });

  it('get slots of their own if they are registered at the same moment', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const crowd = await crowded(realm);
    const clients = await Promise.all(Array.from({ length: 3 }, () => givenClient(crowd, member)));
    for (const client of clients) expect(await client.poll()).toEqual([]);
  });

  it('include only one for a registration that was retried after a lost reply', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const twice = realm.container(
      mishaps({
        put: [
          async (send) => {
            await send();
            return send();
          },
        ],
      }),
    );
    const client = await givenClient(twice, member);
    expect(await client.poll()).toEqual([]);
    expect(await queuesOf(realm, member)).toHaveLength(1);
  });

  it('cost nothing more to register, unless the slot is taken', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await realm.call(register, member, asked);
    realm.meter.reset();
    await realm.call(register, member, asked);
    const usual = realm.meter.roundTrips;
    expect(usual).toBeLessThanOrEqual(3);
    const crowd = await crowded(realm);
    await crowd.call(register, member, asked);
    crowd.meter.reset();
    await crowd.call(register, member, asked);
    expect(crowd.meter.roundTrips).toBeLessThanOrEqual(usual + 2);
  });
});
