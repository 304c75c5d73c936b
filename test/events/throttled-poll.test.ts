import { describe, expect, test } from 'vitest';
import { handler as getEvents } from '../../functions/events/get.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { givenClient, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { fault, requestOf } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

/** A container whose probes are throttled, as `refuses` decides for each; time passes only during waits. */
function crowded(
  realm: TestRealm,
  refuses: (look: number) => boolean | Promise<boolean>,
  problem = 'ProvisionedThroughputExceededException',
) {
  const time = virtualTime();
  const looks: number[] = [];
  const container = realm.container(
    (store) => async (command) => {
      const { input } = command as { readonly input: { readonly ConsistentRead?: boolean } };
      if (requestOf(command) !== 'query' || input.ConsistentRead === true) return store(command);
      looks.push(time.passed());
      if (await refuses(looks.length)) throw fault(problem);
      return store(command);
    },
    { now: time.now, wait: time.wait },
  );
  return { container, looks, passed: time.passed };
}

describe('a client that waits while the store is throttled (docs/LIMITS.md)', () => {
  test('probes less and less often, gets events once the store recovers, and then probes often again', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const { container, looks } = crowded(realm, async (look) => {
      if (look === 12) await sendTo(realm, guest, realm.channels.general, 'at last');
      return look <= 6;
    });
    expect(said(await client.poll({ dont_block: false }, container))).toEqual(['at last']);
    const pauses = looks.map((at, i) => at - (looks[i - 1] ?? 0));
    expect(pauses.slice(0, 7)).toEqual([150, 300, 600, 1_200, 2_400, 2_400, 2_400]);
    expect(pauses.slice(7)).toEqual([1_200, 600, 300, 150, 150]);
  });

  test('gets a heartbeat in time if the store never recovers, and has lost nothing', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const head = await lastNumber(realm);
    const { container, looks, passed } = crowded(realm, async (look) => {
      if (look === 3) await sendTo(realm, guest, realm.channels.general, 'unseen');
      return true;
    });
    expect(await client.poll({ dont_block: false }, container)).toEqual([
      { type: 'heartbeat', id: eventIdOf(head) + 1 },
    ]);
    expect(passed()).toBeLessThanOrEqual(25_000);
    expect(looks.length).toBeLessThan(20);
    expect(said(await client.poll())).toEqual(['unseen']);
  });

  test.each(['TimeoutError', 'InternalServerError', 'ECONNRESET'])(
    'gets a heartbeat at once if a probe fails by %s, and has lost nothing',
    async (problem) => {
      const realm = await newRealm();
      const { member, guest } = realm.people;
      const client = await givenClient(realm, member, { event_types: ['message'] });
      const head = await lastNumber(realm);
      const refuses = async (look: number) => {
        if (look === 2) await sendTo(realm, guest, realm.channels.general, 'unseen');
        return look === 2;
      };
      const { container, looks } = crowded(realm, refuses, problem);
      expect(await client.poll({ dont_block: false }, container)).toEqual([
        { type: 'heartbeat', id: eventIdOf(head) + 1 },
      ]);
      expect(looks).toHaveLength(2);
      expect(said(await client.poll())).toEqual(['unseen']);
    },
  );

  test('must retry if nothing can be read at all, and keeps its queue', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { event_types: ['message'] });
    const broken = realm.container((store) => async (command) => {
      if (requestOf(command) === 'query') throw fault('ThrottlingException');
      return store(command);
    });
    const query = { queue_id: client.queueId, last_event_id: client.last };
    expect(await broken.call(getEvents, realm.people.member, undefined, { query })).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMIT_HIT', 'retry-after': 2 },
    });
    await sendTo(realm, realm.people.guest, realm.channels.general, 'still here');
    expect(said(await client.poll())).toEqual(['still here']);
  });
});
