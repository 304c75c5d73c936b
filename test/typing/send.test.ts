import { describe, expect, it } from 'vitest';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as type } from '../../functions/typing/send.ts';
import { MOMENT } from '../../shared/log/slot.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import {
  givenBot,
  givenChangedUser,
  givenChannel,
  givenCrowd,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const knowing = { client_capabilities: { stream_typing_notifications: true, empty_topic_name: true } };

/** A client that knows typing in channels. */
const givenKnowing = (realm: TestRealm, person: Person): Promise<Client> =>
  givenClient(realm, person, knowing);

const named = ({ userId, email }: Person) => ({ user_id: userId, email });

async function typed(realm: TestRealm, as: Person, parameters: Readonly<Record<string, unknown>>) {
  const { status, body } = await realm.call(type, as, { op: 'start', ...parameters });
  expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '' } });
}

const inChannel = (stream_id: number, topic = 'tea') => ({ type: 'channel', stream_id, topic });

describe('POST /typing in a direct conversation (companion facts 1.13)', () => {
  it('sends an event to exactly the participants, including the sender and clients without capabilities', async () => {
    const realm = await newRealm();
    const { member, admin, guest, owner } = realm.people;
    const [own, first, second, other] = await Promise.all(
      [member, admin, guest, owner].map((person) => givenClient(realm, person, { client_capabilities: {} })),
    );
    const to = [admin.userId, guest.userId, admin.userId];
    await typed(realm, member, { to });
    await typed(realm, member, { to: [...to, member.userId], op: 'stop', type: 'direct' });
    const people = [member, admin, guest].sort((a, b) => a.userId - b.userId).map(named);
    const event = { type: 'typing', message_type: 'direct', sender: named(member), recipients: people };
    const heard = [
      { ...event, op: 'start', id: expect.any(Number) },
      { ...event, op: 'stop', id: expect.any(Number) },
    ];
    for (const client of [own, first, second]) expect(await client?.poll()).toEqual(heard);
    expect(await other?.poll()).toEqual([]);
  });

  it('has one recipient in a note to self', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const client = await givenClient(realm, member);
    await typed(realm, member, { to: [member.userId] });
    expect(await client.poll()).toMatchObject([{ recipients: [named(member)] }]);
  });

  it('accepts a deactivated user in the conversation', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const client = await givenClient(realm, guest);
    await givenChangedUser(realm, admin, { isActive: false });
    await typed(realm, member, { to: [admin.userId, guest.userId] });
    expect(await client.poll()).toHaveLength(1);
  });

  it('refuses an unknown user with 400 and without an event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const before = await lastNumber(realm);
    for (const unknown of [999_999, 0, -1, 1e12]) {
      const { status, body } = await realm.call(type, member, { op: 'start', to: [admin.userId, unknown] });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid user ID.']);
    }
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('refuses a user whom a guest may not see like one who does not exist', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest } = realm.people;
    const stranger = await givenUser(realm);
    const { status, body } = await realm.call(type, guest, { op: 'start', to: [stranger.userId] });
    expect([status, body.msg]).toEqual([400, 'Invalid user ID.']);
  });

  it('sends a guest no event of a sender whom they may not see, and no address of such a recipient', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest } = realm.people;
    const [known, stranger] = [await givenUser(realm), await givenUser(realm)];
    const { channelId } = await givenChannel(realm, {}, [known, guest]);
    const client = await givenKnowing(realm, guest);
    await typed(realm, stranger, { to: [guest.userId] });
    await typed(realm, stranger, inChannel(channelId));
    expect(await client.poll()).toEqual([]);
    await typed(realm, known, { to: [guest.userId, stranger.userId] });
    const [event] = await client.poll();
    expect(event.sender).toEqual(named(known));
    expect(event.recipients).toContainEqual({
      user_id: stranger.userId,
      email: `user${stranger.userId}@hidden.invalid`,
    });
    expect(JSON.stringify(event)).not.toContain(stranger.email);
  });

  it('refuses senders without `send_private_typing_notifications`, and skips recipients without `receives_typing_notifications`', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['typing'] });
    await givenSettings(realm, member, { send_private_typing_notifications: false });
    const refused = await realm.call(type, member, { op: 'start', to: [admin.userId] });
    expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
    await givenSettings(realm, member, { send_stream_typing_notifications: false });
    await typed(realm, member, { to: [admin.userId] });
    expect(await client.poll()).toHaveLength(1);
    await realm.call(updateSettings, admin, { receives_typing_notifications: false });
    await typed(realm, member, { to: [admin.userId] });
    expect(await client.poll()).toEqual([]);
  });

  it('sends no old events to a user who comes back later', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin);
    await typed(realm, member, { to: [admin.userId] });
    realm.pass(MOMENT + 1_000);
    expect(await client.poll()).toEqual([]);
  });
});

describe('POST /typing in a channel (companion facts 1.13)', () => {
  it('sends an event only to subscribers whose client has the capability', async () => {
    const realm = await newRealm();
    const { member, admin, guest, owner } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [admin, guest]);
    const [subscriber, leaver, other] = await Promise.all(
      [admin, guest, owner].map((person) => givenKnowing(realm, person)),
    );
    const old = await givenClient(realm, admin, { client_capabilities: {} });
    await typed(realm, member, { ...inChannel(channelId, ' Tea '), type: 'stream' });
    const event = { type: 'typing', op: 'start', message_type: 'stream', sender: named(member) };
    const heard = { ...event, stream_id: channelId, topic: 'Tea', id: expect.any(Number) };
    expect(await subscriber?.poll()).toEqual([heard]);
    await realm.call(unsubscribe, guest, { subscriptions: [name] });
    expect((await leaver?.poll())?.map(({ type }) => type)).not.toContain('typing');
    expect(await other?.poll()).not.toContainEqual(heard);
    expect((await old.poll()).map(({ type }) => type)).not.toContain('typing');
  });

  it('accepts both names of the empty topic, and names it for clients without the capability', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const client = await givenKnowing(realm, admin);
    const naming = await givenClient(realm, admin, {
      client_capabilities: { stream_typing_notifications: true },
    });
    for (const topic of ['', '(no topic)', 'general chat'])
      await typed(realm, member, inChannel(channelId, topic));
    expect((await client.poll()).map(({ topic }) => topic)).toEqual(['', '', '']);
    expect((await naming.poll()).map(({ topic }) => topic)).toEqual(Array(3).fill('general chat'));
  });

  it('sends no event to more than 100 subscribers, and costs no more', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const client = await givenKnowing(realm, admin);
    await givenCrowd(realm, channelId, 99);
    await typed(realm, member, inChannel(channelId));
    expect(await client.poll()).toHaveLength(1);
    await givenCrowd(realm, channelId, 1);
    await givenSubscription(realm, member, channelId);
    const spent: number[] = [];
    for (const more of [0, 900]) {
      await givenCrowd(realm, channelId, 100 + more);
      const container = realm.container();
      await typed(container, member, inChannel(channelId));
      spent.push(container.meter.readUnits);
    }
    expect(spent[1]).toBe(spent[0]);
    expect(await client.poll()).toEqual([]);
  });

  it('needs the permission to post there, and access to the channel', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const nobody = { can_send_message_group: systemGroups.nobody.id };
    const quiet = await givenChannel(realm, { groups: nobody }, [member]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin]);
    const archived = await givenChannel(realm, { isArchived: true }, [member]);
    const bot = await givenBot(realm, admin);
    const before = await lastNumber(realm);
    for (const [as, channelId, msg] of [
      [member, quiet.channelId, /permission to post/],
      [member, closed.channelId, /Invalid channel ID/],
      [owner, closed.channelId, /Invalid channel ID/],
      [member, archived.channelId, /archived/],
      [member, 999_999, /Invalid channel ID/],
      [member, -1, /Invalid channel ID/],
    ] as const) {
      const { status, body } = await realm.call(type, as, { op: 'start', ...inChannel(channelId) });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringMatching(msg)]);
    }
    expect(await loggedAfter(realm, before)).toEqual([]);
    await typed(realm, bot, inChannel(realm.channels.general));
  });

  it('refuses senders without `send_stream_typing_notifications`', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenSettings(realm, member, { send_stream_typing_notifications: false });
    const { status } = await realm.call(type, member, { op: 'start', ...inChannel(realm.channels.general) });
    expect(status).toBe(400);
  });
});

it.each([
  ['`to` is missing', { op: 'start' }, 'BAD_REQUEST'],
  ['`to` is empty', { op: 'start', to: [] }, 'BAD_REQUEST'],
  ['`to` is a bare integer', { op: 'start', to: 9 }, 'BAD_REQUEST'],
  ['`to` has an address', { op: 'start', to: ['a@example.com'] }, 'BAD_REQUEST'],
  ['`to` names too many', { op: 'start', to: Array.from({ length: 81 }, (_, i) => i + 1) }, 'BAD_REQUEST'],
  ['`op` is missing', { to: [9] }, 'REQUEST_VARIABLE_MISSING'],
  ['`op` is unknown', { op: 'pause', to: [9] }, 'BAD_REQUEST'],
  ['`type` is `private`', { op: 'start', type: 'private', to: [9] }, 'BAD_REQUEST'],
  ['`stream_id` is missing', { op: 'start', type: 'stream', topic: 'x' }, 'BAD_REQUEST'],
  ['`topic` is missing', { op: 'start', type: 'channel', stream_id: 9 }, 'BAD_REQUEST'],
  [
    'the topic has a control character',
    { op: 'start', type: 'channel', stream_id: 9, topic: 'a\u0000' },
    'BAD_REQUEST',
  ],
])('POST /typing is refused without an event if %s (companion facts 1.13)', async (_, parameters, code) => {
  const realm = await newRealm();
  const before = await lastNumber(realm);
  const { status, body } = await realm.call(type, realm.people.member, parameters);
  expect([status, body.code]).toEqual([400, code]);
  expect(await loggedAfter(realm, before)).toEqual([]);
});

describe('the cost of typing', () => {
  it.each([
    ['directly', (realm: TestRealm) => ({ to: [realm.people.admin.userId] })],
    ['in a channel', (realm: TestRealm) => inChannel(realm.channels.general)],
  ])('%s is one write for its number and one for its event, and nothing else', async (_, place) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const container = realm.container();
    await typed(container, member, place(realm));
    expect(container.meter.roundTrips).toBeLessThanOrEqual(designBudgets.writeTrips);
    container.meter.reset();
    await typed(container, member, place(realm));
    expect(container.meter.roundTrips).toBe(2);
    expect(container.meter.writeUnits).toBe(2);
  });

  it('includes no reads for clients that do not get the event', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const container = realm.container();
    const client = await givenKnowing(container, owner);
    await client.poll();
    container.meter.reset();
    await client.poll();
    const quiet = container.meter.readUnits;
    await typed(realm, member, inChannel(channelId));
    await typed(realm, member, { to: [admin.userId] });
    container.meter.reset();
    expect(await client.poll()).toEqual([]);
    expect(container.meter.readUnits - quiet).toBeLessThanOrEqual(1);
  });
});
