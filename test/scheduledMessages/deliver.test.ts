import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as create } from '../../functions/scheduledMessages/create.ts';
import { handler as list } from '../../functions/scheduledMessages/list.ts';
import { handler as update } from '../../functions/scheduledMessages/update.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as worker } from '../../functions/workers/outbox.ts';
import { handler as sweep } from '../../functions/workers/outbox-sweep.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile, mishaps, unheard } from '../support/faults.ts';
import { endingAt } from '../support/outbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';
import { queued, runQueue, runSchedule } from '../support/worker-run.ts';

const HOUR = 3_600;

async function scheduled(realm: TestRealm, as: Person, given: object = {}, seconds = HOUR) {
  const at = Math.floor(realm.outside.now() / 1000) + seconds;
  const { status, body } = await realm.call(create, as, {
    type: 'channel',
    to: realm.channels.general,
    topic: 'lunch',
    content: 'Soup',
    scheduled_delivery_timestamp: at,
    ...given,
  });
  expect([status, body.msg]).toEqual([200, '']);
  return {
    realm: realm.realm,
    userId: as.userId,
    kind: 'due',
    what: 'message',
    id: body.scheduled_message_id as number,
    at,
  };
}

const run = async (realm: TestRealm, ...dues: readonly object[]) => {
  const { batchItemFailures } = await runQueue(
    realm,
    worker,
    dues.map((due) => queued(JSON.stringify(due))),
  );
  return batchItemFailures.length;
};

const listed = async (realm: TestRealm, as: Person) => (await realm.call(list, as)).body.scheduled_messages;

/** The clock stands a second after the time. */
const pass = (realm: TestRealm, seconds = HOUR + 1) => realm.pass(seconds * 1000);

const dueIn = (realm: TestRealm) =>
  realm.outside.table
    .all('due', {})
    .then((all) => all.filter((due) => due.realm === realm.realm).map(({ id }) => id));

describe('the worker of scheduled messages (companion facts 2.3)', () => {
  it('sends a message at its time, once, however often its queue message comes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const due = await scheduled(realm, member);
    pass(realm);
    const client = await givenClient(realm, member, { event_types: ['scheduled_messages', 'message'] });
    const other = await givenClient(realm, admin, { event_types: ['message'] });
    expect(await run(realm, due, due, due)).toBe(0);
    expect(await run(realm, due)).toBe(0);
    expect(await listed(realm, member)).toEqual([]);
    expect(await dueIn(realm)).toEqual([]);
    const heard = await other.poll();
    expect(heard).toMatchObject([
      { type: 'message', message: { sender_id: member.userId, content: 'Soup', subject: 'lunch' } },
    ]);
    expect(heard[0].message.timestamp).toBeGreaterThanOrEqual(due.at);
    expect((await client.poll()).map(({ type, op }) => `${type} ${op ?? ''}`)).toEqual([
      'scheduled_messages remove',
      'message ',
    ]);
  });

  it('sends once if the reply of the transaction is lost, or two runs send at once', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const one = await scheduled(realm, member, { content: 'one' });
    const two = await scheduled(realm, member, { content: 'two' });
    pass(realm);
    const other = await givenClient(realm, admin, { event_types: ['message'] });
    expect(await run(realm.container(mishaps({ transact: [unheard] })), one)).toBe(0);
    expect(await run(realm.container(meanwhile(() => run(realm, two))), two)).toBe(0);
    const heard = await other.poll();
    expect(heard.map(({ message }) => message.content)).toEqual(['one', 'two']);
  });

  it('leaves messages alone that are not due yet, were rescheduled or deleted', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const work = await workOf(realm, 'outbox');
    const due = await scheduled(realm, member);
    expect(await run(realm, due)).toBe(0);
    expect(await listed(realm, member)).toHaveLength(1);
    const path = { scheduled_message_id: due.id };
    await realm.call(update, member, { scheduled_delivery_timestamp: due.at + HOUR }, { path });
    pass(realm);
    expect(await run(realm, due, { ...due, id: 999_999 })).toBe(0);
    expect(await listed(realm, member)).toMatchObject([{ failed: false }]);
    expect(await work.receive()).toEqual([]);
  });

  it.each([
    [
      'the channel was archived',
      async (realm: TestRealm) => {
        const path = { stream_id: realm.channels.general };
        await realm.call(archive, realm.people.owner, {}, { path });
      },
    ],
    ['the service was down for more than ten minutes', async (realm: TestRealm) => pass(realm, 600)],
  ])('marks a message that cannot be sent as failed, and its user gets a notice: %s', async (_, change) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const due = await scheduled(realm, member);
    await change(realm);
    pass(realm);
    const client = await givenClient(realm, member);
    expect(await run(realm, due, due)).toBe(0);
    expect(await run(realm, due)).toBe(0);
    expect(await listed(realm, member)).toMatchObject([{ scheduled_message_id: due.id, failed: true }]);
    expect(await dueIn(realm)).toEqual([]);
    const heard = await client.poll();
    expect(heard.map(({ type, op }) => `${type} ${op ?? ''}`)).toEqual([
      'scheduled_messages update',
      'message ',
    ]);
    expect(heard[1].message).toMatchObject({
      type: 'private',
      content: expect.stringContaining('#scheduled'),
    });
  });

  it('sends the notice about a failure once, even if the worker died before it', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const due = await scheduled(realm, member);
    pass(realm, HOUR + 700);
    const client = await givenClient(realm, member, { event_types: ['message'] });
    // The first transaction notes the failure, the second one would send the notice.
    expect(await run(endingAt(realm, 2), due)).toBe(1);
    expect(await listed(realm, member)).toMatchObject([{ failed: true }]);
    expect(await client.poll()).toEqual([]);
    expect(await run(realm, due, due)).toBe(0);
    expect(await client.poll()).toMatchObject([{ message: { type: 'private' } }]);
    expect(await dueIn(realm)).toEqual([]);
    await run(realm, due);
    expect(await client.poll()).toEqual([]);
  });

  it('sends a failed message after it is rescheduled', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const due = await scheduled(realm, member);
    pass(realm, HOUR + 700);
    await run(realm, due);
    const path = { scheduled_message_id: due.id };
    expect((await realm.call(update, member, { content: 'Stew' }, { path })).status).toBe(400);
    const at = Math.floor(realm.outside.now() / 1000) + HOUR;
    const change = { scheduled_delivery_timestamp: at };
    expect((await realm.call(update, member, change, { path })).status).toBe(200);
    expect(await listed(realm, member)).toMatchObject([{ failed: false }]);
    pass(realm);
    await run(realm, { ...due, at });
    expect(await listed(realm, member)).toEqual([]);
  });

  it('marks a message of a deactivated user as failed without a notice', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const due = await scheduled(realm, member);
    await realm.call(deactivate, owner, {}, { path: { user: member.userId } });
    pass(realm);
    expect(await run(realm, due)).toBe(0);
    expect(await dueIn(realm)).toEqual([]);
    const stored = await realm.outside.table.get('scheduled', {
      realm: realm.realm,
      userId: member.userId,
      scheduledId: due.id,
    });
    expect(stored?.failed).toBe(true);
  });

  it('is started in time: at once for messages due soon, else by the sweep', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const work = await workOf(realm, 'outbox');
    const soon = await scheduled(realm, member, {}, 6);
    const later = await scheduled(realm, member);
    await runSchedule(realm, sweep);
    // Both messages wait for their time: the one in the queue, the other for the sweep.
    const received: unknown[] = [];
    const bodies = async () => {
      received.push(...(await work.receive()).map(({ Body }) => JSON.parse(Body ?? '')));
      return received;
    };
    await expect.poll(bodies, { timeout: 40_000, interval: 200 }).toContainEqual(soon);
    expect(realm.outside.now()).toBeGreaterThanOrEqual(soon.at * 1000);
    expect(received).not.toContainEqual(later);
    pass(realm);
    await runSchedule(realm, sweep);
    await expect.poll(bodies, { timeout: 40_000, interval: 200 }).toContainEqual(later);
  });
});
