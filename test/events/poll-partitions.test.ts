import { expect, test } from 'vitest';
import { BatchGetCommand } from '../../shared/table/commands.ts';
import { givenClient, said, sendTo, virtualTime } from '../support/event-queue.ts';
import { type Request, requestOf } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { TABLE } from '../support/store.ts';

/** A container that waits no time, and the read units that each kind of request took of the log's partition. */
function counting(realm: TestRealm, at?: (passed: number) => Promise<unknown>) {
  const time = virtualTime(at);
  const units: Partial<Record<Request | 'look', number>> = {};
  const container = realm.container(
    (store) => async (command) => {
      const { input } = command as {
        readonly input: { ExpressionAttributeValues?: object; ConsistentRead?: boolean };
      };
      const output = (await store(command)) as { ConsumedCapacity?: { CapacityUnits: number } };
      const values = Object.values(input.ExpressionAttributeValues ?? {});
      if (values.some((value) => value === `${realm.realm}/log`)) {
        const kind = input.ConsistentRead ? requestOf(command) : 'look';
        units[kind] = (units[kind] ?? 0) + (output.ConsumedCapacity?.CapacityUnits ?? 0);
      }
      return output;
    },
    { now: time.now, wait: time.wait },
  );
  return { container, units };
}

test('a waiting client reads as much of the log as docs/LIMITS.md assumes', {
  tags: 'units',
}, async () => {
  const realm = await newRealm();
  const { member, guest } = realm.people;
  const client = await givenClient(realm, member, { event_types: ['message'] });
  const idle = counting(realm);
  const [{ type }] = (await client.poll({ dont_block: false }, idle.container)) as [{ type: string }];
  expect(type).toBe('heartbeat');
  // One when it comes; then half a unit for each look, 6.7 a second for 24 seconds.
  expect(idle.units).toEqual({ query: 1, look: 80 });

  const woken = counting(realm, async (passed) => {
    if (passed === 300) await sendTo(realm, guest, realm.channels.general, 'news');
  });
  expect(said(await client.poll({ dont_block: false }, woken.container))).toEqual(['news']);
  // One when it comes, a look in vain and one with success, and one for what is new.
  expect(woken.units).toEqual({ query: 2, look: 1 });
});

test('a poll that delivers messages reads one user item for its reader and one for each sender, and one graph of groups', async () => {
  const realm = await newRealm();
  const { admin, member, moderator } = realm.people;
  const client = await givenClient(realm, member, { event_types: ['message'] });
  const read: string[] = [];
  const container = realm.container((store) => async (command) => {
    if (command instanceof BatchGetCommand) {
      for (const { pk } of command.input.RequestItems?.[TABLE]?.Keys ?? []) read.push(String(pk));
    }
    return store(command);
  });
  const times = (partition: string): number =>
    read.filter((pk) => pk === `${realm.realm}/${partition}`).length;
  const poll = async (): Promise<string[]> => {
    read.length = 0;
    return said(await client.poll({}, container));
  };
  await poll();
  for (const person of [admin, moderator, admin, moderator]) {
    await sendTo(realm, person, realm.channels.general, 'news');
  }
  expect(await poll()).toHaveLength(4);
  // The reader is read once more when the poll is let in.
  expect(times('users')).toBeLessThanOrEqual(1 + 1 + 2);
  expect(times('groupGraph')).toBeLessThanOrEqual(2);
});
