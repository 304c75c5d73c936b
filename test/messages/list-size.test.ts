import { describe, expect, it } from 'vitest';
import { key } from '../../shared/table/keys.ts';
import { BUDGET, cost, tripsOf } from '../support/fetch-cost.ts';
import { fetched, flagged, givenMessages, idsIn, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

describe('GET /messages: sizes up to which no further round trip is needed', () => {
  it('500 messages are read in one round trip', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const narrow = [['channel', general]];
    await givenMessages(realm, member, general, () => 'topic', 1_001, 'x');
    expect(await cost(realm, admin, { narrow, num_before: 500 })).toMatchObject({ cold: 3, warm: 2 });
    expect(await cost(realm, admin, { narrow, num_before: 501 })).toMatchObject({ cold: 4, warm: 3 });
    expect(await cost(realm, admin, { narrow, num_before: 1_001 })).toMatchObject({ warm: 4, found: 1_001 });
  });

  it('2,000 messages of one channel or conversation are searched for a condition or the first unread message', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general } = realm.channels;
    const rare = await sent(realm, owner, { to: general });
    const ids = await givenMessages(realm, member, general, () => 'topic', 2_000, '');
    const query = {
      narrow: [
        ['channel', general],
        ['sender', owner.userId],
      ],
      num_before: 1,
    };
    expect(await idsIn(realm, admin, query)).toEqual([rare]);
    expect(await tripsOf(realm, admin, query)).toEqual(BUDGET);
    const unread = { narrow: [['channel', general]], anchor: 'first_unread', num_before: 5, num_after: 5 };
    expect(await tripsOf(realm, admin, unread)).toEqual(BUDGET);
    await givenMessages(realm, member, general, () => 'topic', 60, '');
    expect(await idsIn(realm, admin, query)).toEqual([rare]);
    expect(await tripsOf(realm, admin, query)).toEqual([4, 3]);
    expect((await fetched(realm, admin, unread)).body.anchor).toBe(rare);
    expect(await tripsOf(realm, admin, unread)).toEqual([4, 3]);
    await givenMessages(realm, member, general, () => 'topic', 200, '');
    // However far it is, since it is above the floor of what they have read there.
    expect(await tripsOf(realm, admin, unread)).toEqual([4, 3]);
    await flagged(realm, admin, 'add', 'read', [rare, ...ids.slice(0, 500)]);
    expect(await tripsOf(realm, admin, unread)).toEqual(BUDGET);
  });

  it('20,000 messages of many channels and conversations are searched together', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    // With the two that there are.
    await givenSubscriptions(realm, admin, 98);
    const ids = await givenMessages(realm, member, general, () => 'topic', 210, '');
    const narrow = [['topic', 'topic']];
    expect(await cost(realm, admin, { narrow, num_before: 200 })).toMatchObject({ cold: 3, warm: 2 });
    expect(await cost(realm, admin, { narrow, num_before: 201 })).toMatchObject({ cold: 4, warm: 3 });
    expect(await idsIn(realm, admin, { narrow, num_before: 205 })).toEqual(ids.slice(-205));
  });

  it('1,000 channels and conversations are remembered', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { people: [admin] });
    await givenSubscriptions(realm, admin, 997);
    const query = { narrow: [['is', 'dm']] };
    expect(await cost(realm, admin, query)).toMatchObject({ cold: 3, warm: 2 });
    await sent(realm, member, { people: [admin, realm.people.owner] });
    expect(await cost(realm, admin, query)).toMatchObject({ cold: 4, warm: 3, found: 2 });
    expect((await idsIn(realm, admin, query))[0]).toBe(id);
  });

  it('the first fetch takes one more, and so does one after a change of channels or conversations', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const container = realm.container();
    const query = { narrow: [['is', 'dm']] };
    for (const trips of [4, 2, 3, 2]) {
      if (trips > 2)
        await sent(realm, member, { people: trips === 4 ? [admin] : [admin, realm.people.owner] });
      container.meter.reset();
      await fetched(container, admin, query);
      expect(container.meter.roundTrips).toBe(trips);
    }
  });
});

/** Subscriptions to so many channels in which nothing was ever said. */
async function givenSubscriptions(realm: TestRealm, { userId }: Person, count: number): Promise<void> {
  const channelIds = Array.from({ length: count }, (_, i) => 900_000 + i);
  for (let start = 0; start < count; start += 100) {
    const writes = channelIds.slice(start, start + 100).map((channelId) => ({
      put: key('subscription', { realm: realm.realm, userId, channelId }),
      item: { userId, channelId, since: 0, readFloor: 0, color: '#76ce90', isMuted: false, pinToTop: false },
    }));
    await realm.outside.table.transact(writes, realm.outside.uuid());
  }
}
