import { describe, expect, it } from 'vitest';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { KEPT } from '../../shared/log/slot.ts';
import { messageKey } from '../../shared/model/message/message.ts';
import { BatchGetCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import { givenChannel, put } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { fetched, givenMessages, sent, sentMany } from '../support/messages.ts';
import { react, reactionsTo, unreact } from '../support/reactions.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

type Query = Readonly<Record<string, unknown>>;

/** A container that notes for which messages it asks for the summary of reactions. */
function asking(realm: TestRealm, messages: readonly number[]) {
  const partitions = new Map(
    messages.map((messageId) => [partition('reactions', { realm: realm.realm, messageId }), messageId]),
  );
  const asked: number[] = [];
  const container = realm.container((store) => async (command) => {
    if (command instanceof BatchGetCommand) {
      for (const { Keys = [] } of Object.values(command.input.RequestItems ?? {}))
        for (const { pk } of Keys) asked.push(...[partitions.get(pk) ?? []].flat());
    }
    return store(command);
  });
  return { container, asked };
}

/** How many reactions each message has that a fetch finds. */
async function counts(realm: TestRealm, as: Person, query: Query = {}): Promise<ReadonlyMap<number, number>> {
  const { status, body } = await fetched(realm, as, query);
  expect(status).toBe(200);
  return new Map(
    body.messages.map(({ id, reactions }: { id: number; reactions: unknown[] }) => [id, reactions.length]),
  );
}

/** Twelve messages, and reactions to the second and the last one. */
async function talk() {
  const realm = await newRealm();
  const { member, admin, owner } = realm.people;
  const { channelId: elsewhere } = await givenChannel(realm, {}, [admin, owner, member]);
  const ids = await sentMany(realm, member, { to: realm.channels.general }, 12);
  const [second, last] = [ids[1] as number, ids.at(-1) as number];
  for (const [as, id] of [
    [admin, second],
    [owner, second],
    [admin, last],
  ] as const) {
    expect((await react(realm, as, id)).status).toBe(200);
  }
  return { realm, ids, second, last, elsewhere };
}

describe('GET /messages: reactions of messages that the log was read from', () => {
  it('asks for the summaries only of messages to which somebody reacted', async () => {
    const { realm, ids, second, last } = await talk();
    const { admin } = realm.people;
    const { container, asked } = asking(realm, ids);
    const expected = new Map(ids.map((id) => [id, id === second ? 2 : id === last ? 1 : 0]));
    for (const query of [
      {},
      { anchor: 'first_unread', num_before: 20, num_after: 20 },
      { anchor: String(ids[5]), num_before: 20, num_after: 20 },
      { narrow: [['channel', 'general']] },
    ]) {
      asked.length = 0;
      expect(await counts(container, admin, query)).toEqual(expected);
      expect(asked.toSorted(), JSON.stringify(query)).toEqual([second, last]);
    }
  });

  it('shows no reaction that was removed, and one that was added again', async () => {
    const { realm, second, last } = await talk();
    const { admin, owner } = realm.people;
    await unreact(realm, admin, last);
    await unreact(realm, admin, second);
    await unreact(realm, owner, second);
    await react(realm, owner, second);
    const found = await counts(realm, admin);
    expect([found.get(second), found.get(last)]).toEqual([1, 0]);
  });

  it('asks for all where the log was not read to its end', async () => {
    const { realm, second, last, ids } = await talk();
    const { admin, member } = realm.people;
    await givenMessages(realm, member, realm.channels.general, () => 'later', 300);
    for (const query of [
      { anchor: 'oldest', num_before: 0, num_after: 12 },
      { anchor: String(second), num_before: 1, num_after: 10 },
    ]) {
      const { container, asked } = asking(realm, ids);
      const found = await counts(container, admin, query);
      expect([found.get(second), found.get(last)]).toEqual([2, 1]);
      expect(asked.toSorted()).toEqual(ids);
    }
  });

  it('asks for all that are so old that events about them may be deleted', async () => {
    const { realm, second, last, ids } = await talk();
    const { admin } = realm.people;
    realm.pass(KEPT - 60_000);
    const young = await sent(realm, admin, { to: realm.channels.general });
    realm.pass(120_000);
    // DynamoDB deletes an event on its own, in no order.
    const { items } = await realm.outside.table.page('slot', { realm: realm.realm }, { limit: 1_000 });
    for (const slot of items) {
      if (slot.kind === 'event') await put(realm, [{ delete: messageKey(realm.realm, slot.seq) }]);
    }
    const { container, asked } = asking(realm, [...ids, young]);
    const found = await counts(container, admin);
    expect([found.get(second), found.get(last), found.get(young)]).toEqual([2, 1, 0]);
    expect(asked.toSorted()).toEqual(ids);
  });

  it('knows reactions to a message that moved to another topic or channel', async () => {
    const { realm, second, elsewhere } = await talk();
    const { admin, owner } = realm.people;
    for (const change of [{ topic: 'another' }, { stream_id: elsewhere }]) {
      expect((await move(realm, owner, second, change)).status).toBe(200);
      expect((await counts(realm, admin)).get(second)).toBe(2);
    }
  });

  it('tells the same reactions as each message alone, after several people reacted to many', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const ids: number[] = [];
    for (let round = 0; round < 60; round++) {
      ids.push(await sent(realm, member, { to: realm.channels.general }));
      const id = ids[(round * 7) % ids.length] as number;
      const as = [member, admin, owner][round % 3] as Person;
      await (round % 4 === 3 ? unreact(realm, as, id) : react(realm, as, id));
      if (round % 5 === 0) {
        await realm.call(updateFlags, as, { op: 'add', flag: 'starred', messages: [id] });
      }
    }
    const alone = new Map<number, number>();
    for (const id of ids) alone.set(id, (await reactionsTo(realm, admin, id)).length);
    for (const query of [
      {},
      { num_before: 20 },
      { narrow: [['channel', 'general']] },
      { narrow: [['is', 'starred']] },
    ]) {
      for (const [id, count] of await counts(realm, admin, query)) {
        expect([id, count, query]).toEqual([id, alone.get(id), query]);
      }
    }
  });
});
