import { describe, expect, it } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { TransactWriteCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { sendTo } from '../support/event-queue.ts';
import { cost } from '../support/fetch-cost.ts';
import { givenMessages } from '../support/messages.ts';
import {
  givenLoggedReactions,
  givenReactions,
  react,
  reactionsTo,
  storedReactions,
  unreact,
} from '../support/reactions.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { storedMessage } from '../support/stored.ts';

/** Write units of a reaction by a user who takes part in the topic already: event, summary, item, and the counter. */
const UNITS = 7;

/** A container that notes the partitions to which its transactions write. */
function spied(realm: TestRealm): { readonly container: TestRealm; readonly partitions: string[] } {
  const partitions: string[] = [];
  const container = realm.container(
    (store: Send): Send =>
      async (command) => {
        if (command instanceof TransactWriteCommand) {
          for (const { Put, Update, Delete, ConditionCheck } of command.input.TransactItems ?? [])
            partitions.push((Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key)?.pk);
        }
        return store(command);
      },
  );
  return { container, partitions };
}

describe('the cost of a reaction', () => {
  it.each([
    ['a short message', 'hello'],
    ['the longest message', 'x'.repeat(10_000)],
  ])('to %s is the same for the first reaction and for the 2,000th', async (_, content) => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, content);
    const before = await storedMessage(realm, id);
    for (const [have, more] of [
      [0, 0],
      [2, 2],
      [100, 98],
      [1_000, 900],
      [1_999, 999],
    ] as const) {
      await givenReactions(realm, id, more);
      expect(await reactionsTo(realm, member, id)).toHaveLength(have);
      const { container, partitions } = spied(realm);
      expect(await react(container, admin, id, { emoji_name: 'tada' })).toMatchObject({ status: 200 });
      expect(container.meter.writeUnits, `${have} reactions`).toBeLessThanOrEqual(
        // The first user who reacts becomes a participant of the topic.
        have === 0 ? UNITS + 4 : UNITS,
      );
      expect(container.meter.roundTrips).toBe(designBudgets.writeTrips);
      // Of the log only the slot of the event is written.
      const log = partition('slot', { realm: realm.realm });
      expect(partitions.filter((name) => name === log)).toHaveLength(1);
      container.meter.reset();
      expect(await unreact(container, admin, id, { emoji_name: 'tada' })).toMatchObject({ status: 200 });
      expect(container.meter.writeUnits, `${have} reactions`).toBeLessThanOrEqual(UNITS);
      expect(container.meter.readUnits).toBeLessThanOrEqual(40);
    }
    expect(await storedMessage(realm, id)).toEqual(before);
  });

  it('stays within one write unit for each item', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    const long = { type: 'realm_emoji', code: '1234567', name: 'n'.repeat(90) } as const;
    await givenReactions(realm, id, 4, long);
    await givenReactions(realm, id, 60);
    for (const item of await storedReactions(realm, id))
      expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThan(1_024);
  });
});

describe('reading reactions', () => {
  it('takes the round trips of any fetch for a hundred messages with a few reactions each', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.everyone.id });
    const { member } = realm.people;
    const ids = await givenMessages(realm, member, realm.channels.general, () => 'tea', 100);
    for (const id of ids.slice(0, 30)) await givenLoggedReactions(realm, id, 3);
    const narrow = JSON.stringify([['channel', 'general']]);
    const { cold, warm, calls, found } = await cost(realm, member, { narrow });
    expect(found).toBe(100);
    expect([cold, warm]).toEqual([designBudgets.readColdTrips, designBudgets.readTrips]);
    // Their reactions travel in the batches of the messages: a batch takes 100 keys.
    expect(calls).toBeLessThanOrEqual(10);
  });

  it('takes one more round trip for a message with 2,000 reactions in a container that does not know it', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.everyone.id });
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    await givenLoggedReactions(realm, id, 2_000);
    const narrow = JSON.stringify([['channel', 'general']]);
    const { cold, warm, readUnits, found } = await cost(realm, member, { narrow });
    expect(found).toBe(1);
    expect([cold, warm]).toEqual([designBudgets.readColdTrips + 1, designBudgets.readTrips]);
    expect(readUnits).toBeLessThan(100);
    const container = realm.container();
    for (const trips of [designBudgets.readColdTrips, designBudgets.readTrips]) {
      container.meter.reset();
      const { body } = await container.call(getMessage, member, {}, { path: { message_id: id } });
      expect(body.message.reactions).toHaveLength(2_000);
      expect(container.meter.roundTrips).toBeLessThanOrEqual(trips + 1);
    }
  });
});
