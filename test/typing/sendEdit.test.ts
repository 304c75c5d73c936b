import { describe, expect, it } from 'vitest';
import { handler as typeEdit } from '../../functions/typing/sendEdit.ts';
import { MOMENT } from '../../shared/log/slot.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Client, givenClient } from '../support/event-queue.ts';
import {
  givenChangedChannel,
  givenChangedUser,
  givenChannel,
  givenCrowd,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

/** A client that knows typing in channels. */
const givenKnowing = (realm: TestRealm, person: Person): Promise<Client> =>
  givenClient(realm, person, {
    event_types: ['typing_edit_message'],
    client_capabilities: { stream_typing_notifications: true, empty_topic_name: true },
  });

const call = (realm: TestRealm, as: Person, message_id: number, op: unknown = 'start') =>
  realm.call(typeEdit, as, { op }, { path: { message_id } });

async function typed(realm: TestRealm, as: Person, message_id: number, op = 'start'): Promise<void> {
  const { status, body } = await call(realm, as, message_id, op);
  expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '' } });
}

describe('POST /messages/{message_id}/typing (companion facts 1.13)', () => {
  it('sends an event to the participants of a direct conversation who want it, the sender too', async () => {
    const realm = await newRealm();
    const { member, admin, guest, owner } = realm.people;
    const gone = await givenUser(realm);
    const id = await sent(realm, member, { people: [admin, guest, gone] });
    await givenChangedUser(realm, gone, { isActive: false });
    await givenSettings(realm, guest, { receives_typing_notifications: false });
    const told = await Promise.all([member, admin].map((person) => givenClient(realm, person)));
    const others = await Promise.all([guest, owner].map((person) => givenKnowing(realm, person)));
    await typed(realm, member, id);
    await typed(realm, member, id, 'stop');
    const user_ids = [member.userId, admin.userId].sort((a, b) => a - b);
    const event = { type: 'typing_edit_message', sender_id: member.userId, message_id: id };
    const recipient = { type: 'direct', user_ids };
    for (const client of told)
      expect(await client.poll()).toEqual([
        { ...event, op: 'start', recipient, id: expect.any(Number) },
        { ...event, op: 'stop', recipient, id: expect.any(Number) },
      ]);
    for (const client of others) expect(await client.poll()).toEqual([]);
  });

  it('sends an event to subscribers of a channel who may read the message and whose client has the capability', async () => {
    const realm = await newRealm();
    const { member, admin, guest, owner } = realm.people;
    const hidden = { isPrivate: true, historyPublicToSubscribers: false };
    const { channelId } = await givenChannel(realm, hidden, [member, admin]);
    const id = await sent(realm, member, { to: channelId, topic: '' });
    const late = await givenUser(realm);
    const [own, reader, stranger] = await Promise.all(
      [member, admin, owner].map((each) => givenKnowing(realm, each)),
    );
    const unaware = await givenClient(realm, admin, { event_types: ['typing_edit_message'] });
    const naming = await givenClient(realm, admin, {
      event_types: ['typing_edit_message'],
      client_capabilities: { stream_typing_notifications: true },
    });
    await givenSubscription(realm, late, channelId);
    const tooLate = await givenKnowing(realm, late);
    await givenSubscription(realm, guest, channelId);
    await givenSettings(realm, guest, { receives_typing_notifications: false });
    await typed(realm, member, id);
    const event = { type: 'typing_edit_message', op: 'start', sender_id: member.userId, message_id: id };
    const heard = (topic: string) => [
      { ...event, recipient: { type: 'channel', channel_id: channelId, topic }, id: expect.any(Number) },
    ];
    for (const client of [own, reader]) expect(await client?.poll()).toEqual(heard(''));
    expect(await naming.poll()).toEqual(heard('general chat'));
    for (const client of [stranger, unaware, tooLate]) expect(await client?.poll()).toEqual([]);
  });

  it('sends no event in a channel with more than 100 subscribers', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await sent(realm, member, { to: channelId });
    await givenCrowd(realm, channelId, 100);
    const before = await lastNumber(realm);
    await typed(realm, member, id);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('sends no old events to a user who comes back later', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { people: [admin] });
    const client = await givenKnowing(realm, admin);
    await typed(realm, member, id);
    realm.pass(MOMENT + 1_000);
    expect(await client.poll()).toEqual([]);
  });

  it('sends a guest no event of a sender whom they may not see', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest } = realm.people;
    const stranger = await givenUser(realm);
    const { channelId } = await givenChannel(realm, {}, [guest]);
    const id = await sent(realm, stranger, { to: channelId });
    const client = await givenKnowing(realm, guest);
    await typed(realm, stranger, id);
    expect(await client.poll()).toEqual([]);
  });

  it('refuses users who may not edit the message, like the edit, and writes nothing', async () => {
    const realm = await newRealm({ message_content_edit_limit_seconds: 60 });
    const { member, admin, owner } = realm.people;
    const id = await sent(realm, member, { people: [admin] });
    const archived = await givenChannel(realm, {}, [member]);
    const inArchived = await sent(realm, member, { to: archived.channelId });
    await givenChangedChannel(realm, archived.channelId, { isArchived: true });
    const before = await lastNumber(realm);
    for (const [as, message, op, msg] of [
      [admin, id, 'start', /Only its sender/],
      [owner, id, 'start', /Invalid message/],
      [member, 999_999, 'start', /Invalid message/],
      [member, inArchived, 'start', /archived/],
      [member, id, 'pause', /op/],
    ] as const) {
      const { status, body } = await call(realm, as, message, op);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringMatching(msg)]);
    }
    // The edit itself would still be allowed for some seconds.
    realm.pass(61_000);
    expect((await call(realm, member, id)).body.msg).toMatch(/time/);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it.each([
    ['send_private_typing_notifications', (realm: TestRealm) => ({ people: [realm.people.admin] })],
    ['send_stream_typing_notifications', (realm: TestRealm) => ({ to: realm.channels.general })],
  ])('refuses a sender who turned `%s` off', async (setting, place) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sent(realm, member, place(realm));
    await givenSettings(realm, member, { [setting]: false });
    const { status, body } = await call(realm, member, id);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
