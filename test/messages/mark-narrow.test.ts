import { describe, expect, it } from 'vitest';
import { handler as markNarrow } from '../../functions/messages/updateFlagsForNarrow.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { clampedRange } from '../../shared/domain/fetch/window.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { flagsFor, givenMessages, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

type Given = Readonly<Record<string, unknown>>;

const all = { anchor: 'newest', num_before: 100, num_after: 0, narrow: [] };

const ask = (realm: TestRealm, as: Person, given: Given = {}) =>
  realm.call(markNarrow, as, { ...all, op: 'add', flag: 'read', ...given });

async function marked(realm: TestRealm, as: Person, given: Given = {}) {
  const { status, body } = await ask(realm, as, given);
  expect([status, body.msg]).toEqual([200, '']);
  const { result, msg, ...reply } = body;
  return reply;
}

const unread = (realm: TestRealm, as: Person): Promise<number[]> =>
  idsIn(realm, as, { narrow: [['is', 'unread']], num_before: 1_000 });

const nothing = {
  processed_count: 0,
  updated_count: 0,
  first_processed_id: null,
  last_processed_id: null,
  found_oldest: true,
  found_newest: true,
  ignored_because_not_subscribed_channels: [],
};

describe('POST /messages/flags/narrow (companion facts 1.11)', () => {
  it('marks the messages of a narrow, returns the counts, and sends their ids to the clients of the caller', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sentMany(realm, member, { to: general, topic: 'Tea' }, 3);
    const other = await sent(realm, member, { to: random });
    await marked(realm, admin, { narrow: [['id', ids[1]]] });
    const client = await givenClient(realm, admin);
    const stranger = await givenClient(realm, member);
    const narrow = [
      ['channel', 'general'],
      ['topic', 'tea'],
    ];
    expect(await marked(realm, admin, { narrow })).toEqual({
      ...nothing,
      processed_count: 3,
      updated_count: 2,
      first_processed_id: ids[0],
      last_processed_id: ids[2],
    });
    expect(await client.poll()).toMatchObject([
      {
        type: 'update_message_flags',
        op: 'add',
        operation: 'add',
        flag: 'read',
        messages: [ids[0], ids[2]],
        all: false,
      },
    ]);
    expect(await stranger.poll()).toEqual([]);
    expect(await unread(realm, admin)).toEqual([other]);
  });

  it('sends an event even if `messages` is empty', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const client = await givenClient(realm, admin);
    expect(await marked(realm, admin, { narrow: [['is', 'unread']] })).toEqual(nothing);
    expect(await marked(realm, admin, { op: 'remove', flag: 'starred', narrow: null })).toEqual(nothing);
    expect(await client.poll()).toMatchObject([
      { op: 'add', flag: 'read', messages: [], all: false },
      { op: 'remove', flag: 'starred', messages: [], all: false },
    ]);
  });

  it('can be repeated window by window through a long list, as mobile clients do', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await sentMany(realm, member, { to: realm.channels.general }, 7);
    const sizes: number[] = [];
    for (let anchor: number | string = 'oldest', more = true; more; ) {
      const reply = await marked(realm, admin, {
        narrow: [['is', 'unread']],
        anchor: String(anchor),
        include_anchor: anchor === 'oldest',
        num_before: 0,
        num_after: 3,
      });
      sizes.push(reply.processed_count);
      more = !reply.found_newest;
      anchor = reply.last_processed_id ?? anchor;
    }
    expect(sizes).toEqual([3, 3, 1]);
    expect(await unread(realm, admin)).toEqual([]);
    expect(await flagsFor(realm, admin, ids[6] as number)).toEqual(['read']);
  });

  it('can begin at the first unread message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await sentMany(realm, member, { to: realm.channels.general }, 4);
    await marked(realm, admin, { narrow: [['id', ids[0]]] });
    const around = { anchor: 'first_unread', num_before: 0, num_after: 1 };
    expect(await marked(realm, admin, around)).toMatchObject({
      processed_count: 2,
      first_processed_id: ids[1],
      last_processed_id: ids[2],
      found_newest: false,
    });
    expect(await unread(realm, admin)).toEqual([ids[3]]);
  });

  it('`remove read` skips channels without a subscription, and lists them', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [member, admin]);
    const id = await sent(realm, member, { to: channelId });
    await marked(realm, admin);
    const narrow = [['channel', channelId]];
    expect(await marked(realm, admin, { narrow, op: 'remove' })).toMatchObject({ updated_count: 1 });
    expect(await unread(realm, admin)).toEqual([id]);
    await marked(realm, admin, { narrow });
    await realm.call(unsubscribe, admin, { subscriptions: [name] });
    expect(await marked(realm, admin, { narrow, op: 'remove' })).toMatchObject({
      processed_count: 1,
      updated_count: 0,
      ignored_because_not_subscribed_channels: [channelId],
    });
  });

  it('also stars messages that the caller never received, which are then read and historical', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await sent(realm, member, { to: channelId });
    const given = { flag: 'starred', narrow: [['channel', channelId]] };
    expect(await marked(realm, admin, given)).toMatchObject({ processed_count: 1, updated_count: 1 });
    expect(await flagsFor(realm, admin, id)).toEqual(['read', 'starred', 'historical']);
    expect(await marked(realm, admin, given)).toMatchObject({ processed_count: 1, updated_count: 0 });
    expect(await marked(realm, admin, { ...given, op: 'remove' })).toMatchObject({ updated_count: 1 });
  });

  it('finds no messages without access, and refuses hidden channels and users like unknown ones', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { member, owner, guest } = realm.people;
    const stranger = await givenUser(realm);
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    await sent(realm, member, { to: secret.channelId });
    const direct = await sent(realm, member, { people: [owner] });
    for (const narrow of [
      [['channel', secret.channelId]],
      [['channel', 'nowhere']],
      [['channel', 999_999]],
      [['sender', stranger.userId]],
      [['sender', 999_999]],
    ]) {
      const { status, body } = await ask(realm, guest, { narrow });
      expect([status, body.code]).toEqual([400, 'BAD_NARROW']);
    }
    expect(await marked(realm, guest, { narrow: [['id', direct]] })).toEqual(nothing);
  });

  it('clamps a range of more than 5,000 instead of refusing it', async () => {
    const range = (num_before: number, num_after: number) => {
      const { num_before: before, num_after: after } = clampedRange({ num_before, num_after });
      return [before, after];
    };
    expect(range(5_000, 0)).toEqual([5_000, 0]);
    expect(range(9_000, 0)).toEqual([5_000, 0]);
    expect(range(0, 9_000)).toEqual([0, 5_000]);
    expect(range(9_000, 9_000)).toEqual([2_500, 2_500]);
    expect(range(9_000, 1_000)).toEqual([4_000, 1_000]);
    expect(range(1_000, 9_000)).toEqual([1_000, 4_000]);
    const realm = await newRealm();
    expect(await marked(realm, realm.people.member, { num_before: 9_000, num_after: 9_000 })).toEqual(
      nothing,
    );
  });

  it.each([
    ['`anchor` is missing', { anchor: undefined }, 'REQUEST_VARIABLE_MISSING'],
    ['`num_before` is missing', { num_before: undefined }, 'REQUEST_VARIABLE_MISSING'],
    ['`num_after` is missing', { num_after: undefined }, 'REQUEST_VARIABLE_MISSING'],
    ['`narrow` is missing', { narrow: undefined }, 'REQUEST_VARIABLE_MISSING'],
    ['`num_after` is negative', { num_after: -1 }, 'BAD_REQUEST'],
    ['the anchor is a word', { anchor: 'middle' }, 'BAD_REQUEST'],
    ['the anchor is left out of the middle', { include_anchor: false, num_after: 1 }, 'BAD_REQUEST'],
    ['the flag is unknown', { flag: 'shiny' }, 'BAD_REQUEST'],
    ['clients cannot change the flag', { flag: 'mentioned' }, 'BAD_REQUEST'],
    ['the operation is unknown', { op: 'flip' }, 'BAD_REQUEST'],
    ['the narrow is no list', { narrow: { is: 'unread' } }, 'BAD_REQUEST'],
    ['an operator is unknown', { narrow: [['colour', 'red']] }, 'BAD_NARROW'],
  ])('refuses the request and changes nothing if %s', async (_, given, code) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general });
    const before = await lastNumber(realm);
    const { status, body } = await ask(realm, admin, given);
    expect([status, body.code]).toEqual([400, code]);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect(await unread(realm, admin)).toEqual([id]);
  });
});

describe('what marking a narrow costs', () => {
  it.each([
    ['a channel', (realm: TestRealm) => [['channel', realm.channels.general]]],
    [
      'what is unread in a channel',
      (realm: TestRealm) => [
        ['channel', realm.channels.general],
        ['is', 'unread'],
      ],
    ],
  ])('%s takes the round trips of a write, cold and warm', async (_, narrow) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const container = realm.container();
    for (const trips of [designBudgets.writeTrips, 2]) {
      await sentMany(realm, member, { to: realm.channels.general }, 20);
      // What was written by now was written a while ago.
      realm.pass(60_000);
      container.meter.reset();
      expect(await marked(container, admin, { narrow: narrow(realm) })).toMatchObject({ updated_count: 20 });
      expect(container.meter.roundTrips).toBeLessThanOrEqual(trips);
    }
  });

  it('1,000 messages of one topic cost one event and one item, and all are read afterwards', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenMessages(realm, member, realm.channels.general, () => 'tea', 1_000);
    const before = await lastNumber(realm);
    const narrow = [['channel', 'general']];
    expect(await marked(realm, admin, { narrow, num_before: 5_000 })).toMatchObject({ updated_count: 1_000 });
    expect(await loggedAfter(realm, before)).toHaveLength(1);
    expect(await unread(realm, admin)).toEqual([]);
  });
});
