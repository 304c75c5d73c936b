import { describe, expect, it } from 'vitest';
import { givenChannel } from '../support/given.ts';
import { fetched, flagged, givenMessages, sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const BEHIND_ALL = 10_000_000_000_000_000;

async function around(realm: TestRealm, as: Person, narrow: unknown) {
  const query = { anchor: 'first_unread', num_before: 2, num_after: 2, narrow };
  const { body } = await fetched(realm, as, query);
  return {
    anchor: body.anchor,
    found: body.found_anchor,
    ids: body.messages.map(({ id }: { id: number }) => id),
  };
}

describe('GET /messages: the first unread message', () => {
  it('is found in a topic, a channel, a conversation, and everywhere', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const [a0, a1, a2, a3] = (await sentMany(realm, member, { to: general, topic: 'a' }, 4)) as [
      number,
      number,
      number,
      number,
    ];
    const [b0, b1, b2] = (await sentMany(realm, member, { to: general, topic: 'b' }, 3)) as [
      number,
      number,
      number,
    ];
    const [d0, d1, d2] = (await sentMany(realm, member, { people: [admin] }, 3)) as [number, number, number];
    await flagged(realm, admin, 'add', 'read', [a0, a1, b0, b1, d0]);
    const topic = (name: string) => [
      ['channel', general],
      ['topic', name],
    ];
    expect(await around(realm, admin, topic('a'))).toEqual({
      anchor: a2,
      found: true,
      ids: [a0, a1, a2, a3],
    });
    expect(await around(realm, admin, topic('b'))).toEqual({ anchor: b2, found: true, ids: [b0, b1, b2] });
    expect(await around(realm, admin, [['channel', general]])).toEqual({
      anchor: a2,
      found: true,
      ids: [a0, a1, a2, a3, b0],
    });
    expect(await around(realm, admin, [['dm', [member.userId]]])).toEqual({
      anchor: d1,
      found: true,
      ids: [d0, d1, d2],
    });
    expect(await around(realm, admin, [])).toEqual({ anchor: a2, found: true, ids: [a0, a1, a2, a3, b0] });
    expect(await around(realm, admin, [['topic', 'b']])).toMatchObject({ anchor: b2 });
    expect(await around(realm, admin, [['is', 'dm']])).toMatchObject({ anchor: d1 });
  });

  it('can be requested by `use_first_unread_anchor`, which overrides the anchor', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const sentTo = { to: realm.channels.general, topic: 'a' };
    const [first = 0, second = 0] = await sentMany(realm, member, sentTo, 2);
    await flagged(realm, admin, 'add', 'read', [first]);
    const ask = (query: object) => fetched(realm, admin, { num_before: 0, num_after: 0, ...query });
    for (const query of [{ anchor: undefined }, { anchor: 'oldest' }, { anchor: '0' }]) {
      const { body } = await ask({ ...query, use_first_unread_anchor: true });
      expect([body.anchor, body.found_anchor]).toEqual([second, true]);
    }
    expect((await ask({ anchor: 'newest', use_first_unread_anchor: false })).body.anchor).toBe(BEHIND_ALL);
    const missing = await ask({ anchor: undefined, use_first_unread_anchor: false });
    expect([missing.status, missing.body.code]).toEqual([400, 'BAD_REQUEST']);
    const both = await ask({ anchor: undefined, use_first_unread_anchor: true, message_ids: [first] });
    expect([both.status, both.body.parameters]).toEqual([400, expect.stringContaining('anchor')]);
  });

  it('may be a message that was marked as unread again, older than all messages that are read', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await sentMany(realm, member, { to: general }, 6);
    await flagged(realm, admin, 'add', 'read', ids);
    await flagged(realm, admin, 'remove', 'read', [ids[1] as number]);
    expect(await around(realm, admin, [['channel', general]])).toEqual({
      anchor: ids[1],
      found: true,
      ids: ids.slice(0, 4),
    });
  });

  it('the newest messages are returned if nothing is unread', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await sentMany(realm, member, { to: general }, 3);
    await flagged(realm, admin, 'add', 'read', ids);
    for (const narrow of [
      [['channel', general]],
      [
        ['channel', general],
        ['topic', 'topic'],
      ],
      [],
    ])
      expect(await around(realm, admin, narrow)).toEqual({
        anchor: BEHIND_ALL,
        found: false,
        ids: ids.slice(1),
      });
    expect(
      await around(realm, admin, [
        ['channel', general],
        ['topic', 'never'],
      ]),
    ).toEqual({
      anchor: BEHIND_ALL,
      found: false,
      ids: [],
    });
  });

  it('is never in a channel to which the reader is not subscribed', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const { random } = realm.channels;
    const id = await sent(realm, member, { to: random });
    expect(await around(realm, realm.people.admin, [['channel', random]])).toMatchObject({ anchor: id });
    const { body } = await fetched(realm, guest, { anchor: 'first_unread', num_after: 2 });
    expect(body).toMatchObject({ anchor: BEHIND_ALL, messages: [] });
  });

  it('is found after many messages that were read one by one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, () => 'a', 220);
    await flagged(realm, admin, 'add', 'read', ids.slice(0, 210));
    expect(
      await around(realm, admin, [
        ['channel', general],
        ['topic', 'a'],
      ]),
    ).toEqual({
      anchor: ids[210],
      found: true,
      ids: ids.slice(208, 213),
    });
  });
});

describe('GET /messages: round trips to the first unread message of all (DESIGN 7)', () => {
  const query = { anchor: 'first_unread', num_before: 20, num_after: 20 };

  /** The anchor, and the round trips in a container that knows nothing and in one that knows the caller. */
  async function find(realm: TestRealm, as: Person) {
    // What was written by now was written a while ago, and the indexes show it.
    realm.pass(60_000);
    const container = realm.container();
    const trips: number[] = [];
    const anchors = new Set<number>();
    for (let i = 0; i < 2; i++) {
      container.meter.reset();
      anchors.add((await fetched(container, as, query)).body.anchor);
      trips.push(container.meter.roundTrips);
    }
    expect(anchors.size).toBe(1);
    return { anchor: [...anchors][0], trips };
  }

  it.each([
    ['in an organization where most comes to them', 0],
    ['in one where little does', 150],
  ])('%s', async (_, others) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    const direct = await sent(realm, member, { people: [admin] });
    const ids: number[] = [];
    for (let i = 0; i < 8; i++) {
      ids.push(...(await givenMessages(realm, member, i % 3 ? general : random, () => `t${i}`, 100, '')));
      if (others > 0) await givenMessages(realm, member, secret.channelId, () => 'topic', others, '');
    }
    await fetched(realm, admin);
    const budget = [3, 2];
    expect((await find(realm, admin)).anchor).toBe(direct);
    expect(await find(realm, admin)).toEqual({ anchor: direct, trips: budget });
    await flagged(realm, admin, 'add', 'read', [direct, ...ids.slice(0, 30)]);
    expect(await find(realm, admin)).toEqual({ anchor: ids[30], trips: budget });
    // It is far from where it was, and has to be found first.
    await flagged(realm, admin, 'add', 'read', ids.slice(30, 600));
    expect((await find(realm, admin)).anchor).toBe(ids[600]);
    expect(await find(realm, admin)).toEqual({ anchor: ids[600], trips: budget });
    await flagged(realm, admin, 'add', 'read', ids.slice(600));
    expect(await find(realm, admin)).toEqual({ anchor: BEHIND_ALL, trips: budget });
    const late = await sent(realm, member, { to: random });
    expect(await find(realm, admin)).toEqual({ anchor: late, trips: budget });
    await flagged(realm, admin, 'remove', 'read', [ids[300] as number]);
    expect((await find(realm, admin)).anchor).toBe(ids[300]);
    expect(await find(realm, admin)).toEqual({ anchor: ids[300], trips: budget });
  });
});
