import { describe, expect, it } from 'vitest';
import { handler as deleteQueue } from '../../functions/events/delete.ts';
import { TURN } from '../../shared/domain/event/turn.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenClient, refusedQueue, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { fault, type Request, requestOf } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** A waiting poll takes 24 s. Its looks are 150 ms apart, so it sees to its turn that much late. */
const HELD = 24_000;
const LOOK = 150;

/** A poll that waits, in its own time; `at` does something when so much of it has passed, once. */
async function waiting(realm: TestRealm, when = Number.POSITIVE_INFINITY, act?: () => Promise<unknown>) {
  const client = await givenClient(realm, realm.people.member, { event_types: ['message'] });
  let isDone = false;
  const time = virtualTime(async (passed) => {
    if (isDone || passed < when) return;
    isDone = true;
    await act?.();
  });
  const poll = async (through: TestRealm = realm.container(undefined, time)) => {
    const reply = await client.ask({ dont_block: false }, through);
    return { ...reply, took: time.passed() };
  };
  return { client, time, poll };
}

const heartbeat = { status: 200, body: { events: [{ type: 'heartbeat' }] } };

describe('polls of one queue', () => {
  it('a newer one ends the older one with a heartbeat, and waits for its full time', async () => {
    const realm = await newRealm();
    const newer = virtualTime();
    let reply: unknown;
    const older = await waiting(realm, TURN + 1_000, async () => {
      reply = await older.client.ask({ dont_block: false }, realm.container(undefined, newer));
    });
    const { took, ...ended } = await older.poll();
    expect(ended).toMatchObject(heartbeat);
    expect(took).toBeGreaterThanOrEqual(2 * TURN);
    expect(took).toBeLessThanOrEqual(2 * TURN + 2 * LOOK);
    expect(reply).toMatchObject(heartbeat);
    expect(newer.passed()).toBeGreaterThanOrEqual(HELD);
  });

  it('one that waits alone lasts its full time, for one write and three reads of its queue', async () => {
    const realm = await newRealm();
    const { client, poll, time } = await waiting(realm);
    const container = realm.container(undefined, time);
    await client.ask({}, container);
    container.meter.reset();
    expect((await poll(container)).took).toBeGreaterThanOrEqual(HELD);
    const { meter } = container;
    expect(meter.writeUnits).toBe(1);
    expect(meter.calls.filter(({ action }) => action === 'Update')).toHaveLength(1);
    const atBegin = 1;
    expect(meter.calls.filter(({ action }) => action === 'BatchGet')).toHaveLength(atBegin + 3);
  });

  it('one that is answered before its first check writes nothing', async () => {
    const realm = await newRealm();
    const { poll, time } = await waiting(realm, TURN - 1_000, () =>
      sendTo(realm, realm.people.admin, realm.channels.general, 'news'),
    );
    const container = realm.container(undefined, time);
    const { body } = await poll(container);
    expect(said(body.events)).toEqual(['news']);
    expect(container.meter.writeUnits).toBe(0);
  });

  it('one whose queue is deleted ends at its next check, and the next one gets BAD_EVENT_QUEUE_ID', async () => {
    const realm = await newRealm();
    const { client, poll } = await waiting(realm, TURN + 1_000, () =>
      realm.call(deleteQueue, realm.people.member, { queue_id: client.queueId }),
    );
    const { took, ...ended } = await poll();
    expect(ended).toMatchObject(heartbeat);
    expect(took).toBeLessThanOrEqual(2 * TURN + 2 * LOOK);
    expect(await client.ask()).toMatchObject(refusedQueue(client.queueId));
  });

  it.each<Request>(['update', 'get'])('one keeps waiting while the store throttles the %s', async (kind) => {
    const realm = await newRealm();
    const { poll, time } = await waiting(realm);
    let refused = 0;
    const busy =
      (store: Send): Send =>
      async (command) => {
        const isFirst = refused === 0 && time.passed() >= TURN && requestOf(command) === kind;
        if (!isFirst) return store(command);
        refused += 1;
        throw fault('ThrottlingException');
      };
    const { took, ...ended } = await poll(realm.container(busy, time));
    expect(ended).toMatchObject(heartbeat);
    expect(took).toBeGreaterThanOrEqual(HELD);
    expect(refused).toBe(1);
  });
});
