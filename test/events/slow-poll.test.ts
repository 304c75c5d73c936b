import { describe, expect, test } from 'vitest';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { givenClient, virtualTime } from '../support/event-queue.ts';
import { requestOf } from '../support/faults.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

/** Polls until the heartbeat where each look for news takes so long (ms), and tells the pauses before them. */
async function pausesWhere(takes: (look: number) => number): Promise<number[]> {
  const realm = await newRealm();
  const client = await givenClient(realm, realm.people.member, { event_types: ['message'] });
  const head = await lastNumber(realm);
  const time = virtualTime();
  const pauses: number[] = [];
  let last = 0;
  const container = realm.container(
    (store) => async (command) => {
      const { input } = command as { readonly input: { readonly ConsistentRead?: boolean } };
      if (requestOf(command) !== 'query' || input.ConsistentRead === true) return store(command);
      pauses.push(time.passed() - last);
      const answer = await store(command);
      await time.wait(takes(pauses.length));
      last = time.passed();
      return answer;
    },
    { now: time.now, wait: time.wait },
  );
  expect(await client.poll({ dont_block: false }, container)).toEqual([
    { type: 'heartbeat', id: eventIdOf(head) + 1 },
  ]);
  return pauses;
}

describe('a client that waits while the store is slow', () => {
  test('probes at the usual interval if a probe takes as long as on AWS, or a little longer', async () => {
    const pauses = await pausesWhere(() => 30);
    expect(new Set(pauses.slice(0, -1))).toEqual(new Set([150]));
    expect(pauses).toHaveLength(Math.ceil(24_000 / 180));
  });

  test('pauses five times as long as a probe takes, so that all waiting clients together leave it room', async () => {
    const pauses = await pausesWhere(() => 400);
    expect(pauses.slice(0, 6)).toEqual([150, 300, 600, 1_200, 2_000, 2_000]);
    expect(pauses.length).toBeLessThan(15);
  });

  test('pauses 2.4 seconds at most, however long a probe takes', async () => {
    const pauses = await pausesWhere((look) => (look < 6 ? 1_500 : 10));
    expect(pauses.slice(0, 6)).toEqual([150, 300, 600, 1_200, 2_400, 2_400]);
    expect(pauses.slice(6, 12)).toEqual([1_200, 600, 300, 150, 150, 150]);
  });

  test('gets events hardly later if a single probe was slow', async () => {
    const pauses = await pausesWhere((look) => (look === 3 ? 1_000 : 10));
    expect(pauses.slice(0, 6)).toEqual([150, 150, 150, 300, 150, 150]);
  });
});
