import { describe, expect, it } from 'vitest';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import type { FeedHint } from '../../shared/domain/fetch/feed-hint.ts';
import { key } from '../../shared/table/keys.ts';
import { givenChannel, givenSubscription } from '../support/given.ts';
import { fetched, flagged, givenMessages, sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const at = ({ realm }: TestRealm, { email }: Person) => key('places', { realm, email });

const placesOf = (realm: TestRealm, as: Person): Promise<FeedHint | undefined> =>
  realm.outside.table.get(at(realm, as));

/** The results of many fetches. If there is a `hint`, it replaces the stored one before each. */
async function findings(realm: TestRealm, as: Person, narrows: readonly unknown[], hint?: Partial<FeedHint>) {
  const found: unknown[] = [];
  for (const narrow of narrows) {
    for (const window of [
      { num_before: 7, num_after: 0 },
      { anchor: 'first_unread', num_before: 3, num_after: 3 },
    ]) {
      if (hint) await realm.outside.table.put(at(realm, as), hint);
      const { status, body } = await fetched(realm.container(), as, { narrow, ...window });
      expect(status).toBe(200);
      const { messages, ...envelope } = body;
      found.push({
        narrow,
        window,
        ...envelope,
        messages: messages.map(({ id, flags }: { id: number; flags: string[] }) => [id, ...flags]),
      });
    }
  }
  return found;
}

describe('GET /messages: the feed hint (DESIGN 7: a hint is never taken for the truth)', () => {
  it('a wrong hint does not change the result', async () => {
    const realm = await newRealm();
    const { member, admin, owner, guest } = realm.people;
    const { general, random } = realm.channels;
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    const left = await givenChannel(realm, {}, [member, admin]);
    await sentMany(realm, member, { to: general }, 5);
    const lowest = await sent(realm, member, { to: left.channelId });
    await sent(realm, member, { to: secret.channelId });
    await sentMany(realm, member, { people: [admin] }, 5);
    await sent(realm, member, { people: [owner, guest] });
    const read = await sentMany(realm, owner, { to: random, topic: 'other' }, 4);
    const last = await sent(realm, owner, { people: [admin, guest] }, '@**Adam Admin**');
    await realm.call(unsubscribe, admin, { subscriptions: [left.name] });
    await flagged(realm, admin, 'add', 'read', read);
    const narrows = [
      [],
      [['is', 'dm']],
      [['topic', 'topic']],
      [['sender', owner.userId]],
      [['is', 'unread']],
      [['is', 'mentioned']],
    ];
    const right = await findings(realm, admin, narrows);
    const everything = [general, random, secret.channelId, left.channelId];
    const others = [
      [member.userId, owner.userId, guest.userId].sort((a, b) => a - b),
      [member.userId, guest.userId],
    ];
    for (const hint of [
      { channels: [], dialogues: [], isSparse: true },
      { channels: everything, dialogues: others, isSparse: true, firstUnread: lowest },
      { channels: [general], dialogues: [[admin.userId, member.userId]], isSparse: true, firstUnread: last },
      { channels: everything, dialogues: others, isSparse: false, firstUnread: last + 100 },
    ])
      expect(await findings(realm, admin, narrows, hint)).toEqual(right);
  });

  it('an unread message below the read floor is found with any hint', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sentMany(realm, member, { to: general }, 4);
    const old = ids[1] as number;
    await sentMany(realm, member, { to: random }, 3);
    const all = await fetched(realm, admin);
    const read = all.body.messages.map(({ id }: { id: number }) => id);
    await flagged(realm, admin, 'add', 'read', read);
    await flagged(realm, admin, 'remove', 'read', [old]);
    await realm.outside.table.update(
      key('subscription', { realm: realm.realm, userId: admin.userId, channelId: general }),
      { set: { readFloor: ids[3] } },
    );
    for (const channels of [[random], [general], [general, random], []]) {
      for (const isSparse of [true, false]) {
        for (const query of [
          { narrow: [['is', 'unread']] },
          { anchor: 'first_unread', num_before: 0, num_after: 0 },
        ]) {
          await realm.outside.table.put(at(realm, admin), { channels, dialogues: [], isSparse });
          const { body } = await fetched(realm.container(), admin, query);
          expect(body.messages.map(({ id }: { id: number }) => id)).toEqual([old]);
        }
      }
    }
  });

  it('the hint is written only when it changes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const first = await sent(realm, member, { to: general });
    const unread = { anchor: 'first_unread', num_before: 1, num_after: 1 };
    expect(await placesOf(realm, admin)).toBeUndefined();
    await fetched(realm, admin, { narrow: [['channel', 'general']] });
    expect(await placesOf(realm, admin)).toBeUndefined();
    await fetched(realm, admin, unread);
    const known = { channels: [general, random], dialogues: [], isSparse: false };
    expect(await placesOf(realm, admin)).toMatchObject({ ...known, firstUnread: first });
    await sent(realm, member, { people: [admin] });
    const { channelId } = await givenChannel(realm);
    await givenSubscription(realm, admin, channelId);
    await flagged(realm, admin, 'add', 'read', [first]);
    const container = realm.container();
    await fetched(container, admin, { narrow: [['is', 'dm']] });
    const people = [member.userId, admin.userId].sort((a, b) => a - b);
    const now = { channels: [general, random, channelId], dialogues: [people], isSparse: false };
    expect(await placesOf(realm, admin)).toMatchObject({ ...now, firstUnread: first });
    container.meter.reset();
    await fetched(container, admin);
    expect(container.meter.writeUnits).toBe(0);
    await flagged(realm, admin, 'add', 'read', [first + 1, first + 2, first + 3]);
    await fetched(container, admin, unread);
    expect(await placesOf(realm, admin)).not.toHaveProperty('firstUnread');
  });

  it('a hint that cannot be saved does not fail the fetch', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { people: [admin] });
    const broken = realm.container((send) => async (command) => {
      if (command.constructor.name === 'PutCommand') throw new Error('no more writes');
      return send(command);
    });
    const { status, body } = await fetched(broken, admin, { narrow: [['is', 'dm']] });
    expect([status, body.messages[0].id]).toEqual([200, id]);
    expect(broken.reports).toEqual([
      { level: 'WARN', message: 'feed hint not saved', error: expect.stringContaining('no more writes') },
    ]);
  });

  it('a hint that another container saved does not slow a fetch down', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const [one, other] = [realm.container(), realm.container()];
    const query = { narrow: [['is', 'dm']] };
    for (const container of [one, other]) await fetched(container, admin, query);
    await sent(realm, member, { people: [admin] });
    await fetched(one, admin, query);
    for (const expected of [3, 2]) {
      other.meter.reset();
      expect((await fetched(other, admin, query)).body.messages).toHaveLength(1);
      expect(other.meter.roundTrips).toBe(expected);
    }
    // What it learned besides does not make what the second one remembers a wrong guess.
    await fetched(one, admin, { anchor: 'first_unread', num_before: 1, num_after: 1 });
    other.meter.reset();
    await fetched(other, admin, query);
    expect(other.meter.roundTrips).toBe(2);
  });

  it('for a user who receives few of the messages, their channels and conversations are read instead of the log', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [member]);
    await sent(realm, member, { people: [owner] });
    await givenMessages(realm, member, channelId, () => 'topic', 300);
    await fetched(realm, owner);
    expect(await placesOf(realm, owner)).toMatchObject({ isSparse: true });
    await fetched(realm, member);
    expect(await placesOf(realm, member)).toMatchObject({ isSparse: false });
    await fetched(realm, admin, { narrow: [['sender', member.userId]] });
    expect(await placesOf(realm, admin)).toMatchObject({ isSparse: false });
  });
});
