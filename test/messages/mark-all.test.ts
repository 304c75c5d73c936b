import { describe, expect, it } from 'vitest';
import { handler as markAll } from '../../functions/messages/markAllAsRead.ts';
import { handler as markChannel } from '../../functions/messages/markChannelAsRead.ts';
import { handler as markTopic } from '../../functions/messages/markTopicAsRead.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel, givenSubscription } from '../support/given.ts';
import { givenMessages, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const unread = (realm: TestRealm, as: Person): Promise<number[]> =>
  idsIn(realm, as, { narrow: [['is', 'unread']], num_before: 5_000 });

const done = { status: 200, body: { result: 'success', msg: '' } };

describe('POST /mark_all_as_read (companion facts 1.12)', () => {
  it('marks everything, and sends one event without IDs', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    await sentMany(realm, member, { to: realm.channels.general }, 3);
    await sent(realm, member, { people: [admin] });
    await sent(realm, member, { people: [admin, owner] });
    const client = await givenClient(realm, admin);
    const stranger = await givenClient(realm, owner);
    expect(await realm.call(markAll, admin)).toMatchObject({ status: 200, body: { complete: true } });
    expect(await unread(realm, admin)).toEqual([]);
    expect(await unread(realm, owner)).toHaveLength(4);
    const event = {
      type: 'update_message_flags',
      op: 'add',
      operation: 'add',
      flag: 'read',
      messages: [],
      all: true,
    };
    expect(await client.poll()).toEqual([{ ...event, id: expect.any(Number) }]);
    expect(await stranger.poll()).toEqual([]);
  });

  it('is complete if nothing is unread, and sends the event all the same', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const client = await givenClient(realm, admin);
    expect((await realm.call(markAll, admin)).body).toMatchObject({ complete: true });
    expect(await client.poll()).toMatchObject([{ messages: [], all: true }]);
  });

  it('marks only the newest 5,000, reports that it is incomplete, and continues when repeated', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await givenMessages(realm, member, realm.channels.general, () => 'tea', 5_003);
    realm.pass(90_000);
    const client = await givenClient(realm, admin);
    expect((await realm.call(markAll, admin)).body).toMatchObject({ complete: false });
    expect(await unread(realm, admin)).toEqual(ids.slice(0, 3));
    const told = await client.poll();
    expect(told.map(({ all }) => all)).not.toContain(true);
    expect(told.flatMap(({ messages }) => messages)).toEqual(ids.slice(3));
    expect((await realm.call(markAll, admin)).body).toMatchObject({ complete: true });
    expect(await unread(realm, admin)).toEqual([]);
    expect(await client.poll()).toMatchObject([{ messages: [], all: true }]);
  }, 120_000);
});

describe('POST /mark_stream_as_read (companion facts 1.12)', () => {
  it('marks only the channel, and sends the IDs, or no event if nothing was unread', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = [
      await sent(realm, member, { to: general, topic: 'a' }),
      await sent(realm, member, { to: general, topic: 'b' }),
    ];
    const other = await sent(realm, member, { to: random });
    const client = await givenClient(realm, admin);
    expect(await realm.call(markChannel, admin, { stream_id: general })).toMatchObject(done);
    expect(await unread(realm, admin)).toEqual([other]);
    expect(await client.poll()).toMatchObject([{ op: 'add', flag: 'read', messages: ids, all: false }]);
    expect(await realm.call(markChannel, admin, { stream_id: general })).toMatchObject(done);
    expect(await client.poll()).toEqual([]);
  });

  it('refuses an unknown or inaccessible channel with 400', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const secret = await givenChannel(realm, { isPrivate: true }, [admin]);
    const before = await lastNumber(realm);
    for (const stream_id of [secret.channelId, 999_999, 0, -1, 1e14]) {
      const { status, body } = await realm.call(markChannel, member, { stream_id });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid channel ID.']);
    }
    expect((await realm.call(markChannel, member)).body.code).toBe('REQUEST_VARIABLE_MISSING');
    expect((await realm.call(markChannel, member, { stream_id: 'general' })).status).toBe(400);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });
});

describe('POST /mark_topic_as_read (companion facts 1.12)', () => {
  it('marks only the topic, whose name may be in any case', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sentMany(realm, member, { to: general, topic: 'Tea' }, 2);
    const others = [
      await sent(realm, member, { to: general, topic: 'Cake' }),
      await sent(realm, member, { to: random, topic: 'Tea' }),
    ];
    const client = await givenClient(realm, admin);
    const asked = { stream_id: general, topic_name: 'TEA' };
    expect(await realm.call(markTopic, admin, asked)).toMatchObject(done);
    expect(await unread(realm, admin)).toEqual(others);
    expect(await client.poll()).toMatchObject([{ messages: ids, all: false }]);
    expect(await realm.call(markTopic, admin, asked)).toMatchObject(done);
    expect(await client.poll()).toEqual([]);
  });

  it('takes the empty topic by its name or its display name, even without messages', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const other = await sent(realm, member, { to: general, topic: 'x' });
    for (const topic_name of ['general chat', '', '']) {
      if (topic_name === '') await sent(realm, member, { to: general, topic: '' });
      expect(await realm.call(markTopic, admin, { stream_id: general, topic_name })).toMatchObject(done);
      expect(await unread(realm, admin)).toEqual([other]);
    }
  });

  it('refuses a topic without messages of the caller and an inaccessible channel with 400', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const later = await givenChannel(realm, { historyPublicToSubscribers: false, isPrivate: true }, [admin]);
    await sent(realm, admin, { to: later.channelId, topic: 'before' });
    await givenSubscription(realm, member, later.channelId);
    const secret = await givenChannel(realm, { isPrivate: true }, [admin]);
    const before = await lastNumber(realm);
    for (const [stream_id, topic_name, msg] of [
      [realm.channels.general, 'nothing', 'There is no such topic.'],
      [later.channelId, 'before', 'There is no such topic.'],
      [secret.channelId, 'x', 'Invalid channel ID.'],
      [999_999, 'x', 'Invalid channel ID.'],
      [-1, 'x', 'Invalid channel ID.'],
      [realm.channels.general, 'x'.repeat(10_000), 'A topic has at most 60 characters.'],
    ] as const) {
      const { status, body } = await realm.call(markTopic, member, { stream_id, topic_name });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', msg]);
    }
    const missing = await realm.call(markTopic, member, { stream_id: realm.channels.general });
    expect(missing.body.code).toBe('REQUEST_VARIABLE_MISSING');
    expect(await loggedAfter(realm, before)).toEqual([]);
  });
});

it.each([
  ['everything', () => markAll, () => ({})],
  ['a channel', () => markChannel, ({ channels }: TestRealm) => ({ stream_id: channels.general })],
  [
    'a topic',
    () => markTopic,
    ({ channels }: TestRealm) => ({ stream_id: channels.general, topic_name: 'hi' }),
  ],
])('marking %s takes the round trips of a write', async (_, handler, given) => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const container = realm.container();
  for (const trips of [designBudgets.writeTrips + (handler() === markAll ? 1 : 0), 2]) {
    await sentMany(realm, member, { to: realm.channels.general, topic: 'hi' }, 5);
    container.meter.reset();
    expect((await container.call(handler(), admin, given(realm))).status).toBe(200);
    expect(container.meter.roundTrips).toBeLessThanOrEqual(trips);
    expect(await unread(realm, admin)).toEqual([]);
  }
});
