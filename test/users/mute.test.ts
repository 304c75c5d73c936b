import { expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as getReceipts } from '../../functions/messages/getReadReceipts.ts';
import { handler as mute } from '../../functions/users/mute.ts';
import { handler as unmute } from '../../functions/users/unmute.ts';
import { MAX_MUTED } from '../../shared/domain/flags/mute.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { cost } from '../support/fetch-cost.ts';
import { givenBot, givenChangedUser, givenChannel, givenUser } from '../support/given.ts';
import { fetched, flagged, flagsFor, idsIn, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const of = (muted_user_id: number | string) => ({ path: { muted_user_id } });

async function muted(realm: TestRealm, as: Person, other: Person): Promise<void> {
  const { status, body } = await realm.call(mute, as, {}, of(other.userId));
  expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '' } });
}

async function unmuted(realm: TestRealm, as: Person, other: Person): Promise<void> {
  const { status, body } = await realm.call(unmute, as, {}, of(other.userId));
  expect({ status, body }).toEqual({ status: 200, body: { result: 'success', msg: '' } });
}

async function registered(realm: TestRealm, as: Person) {
  const types = { fetch_event_types: ['muted_users', 'update_message_flags'] };
  const { body } = await realm.call(register, as, types);
  return { list: body.muted_users, unread: body.unread_msgs.count };
}

const unreadOf = (realm: TestRealm, as: Person): Promise<number[]> =>
  idsIn(realm, as, { narrow: JSON.stringify([{ operator: 'is', operand: 'unread' }]) });

it('all messages of a muted user become read, those of others stay unread, and later ones arrive read (companion facts 3.2)', async () => {
  const realm = await newRealm();
  const { member, admin, owner } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin, owner]);
  const inChannel = await sent(realm, admin, { to });
  const direct = await sent(realm, admin, { people: [member] });
  const ofOwner = await sent(realm, owner, { to });
  const client = await givenClient(realm, member);
  await muted(realm, member, admin);
  const [list, flags, ...more] = await client.poll();
  const now = Math.floor(realm.outside.now() / 1000);
  const muted_users = [{ id: admin.userId, timestamp: now }];
  expect(list).toEqual({ type: 'muted_users', muted_users, id: expect.any(Number) });
  expect(flags).toMatchObject({ op: 'add', flag: 'read', messages: [inChannel, direct], all: false });
  expect(more).toEqual([]);
  expect(await unreadOf(realm, member)).toEqual([ofOwner]);
  expect(await registered(realm, member)).toEqual({ list: muted_users, unread: 1 });
  const later = await sent(realm, admin, { to });
  expect(await client.poll()).toMatchObject([{ type: 'message', flags: ['read'] }]);
  expect(await flagsFor(realm, member, later)).toEqual(['read']);
  expect(await flagsFor(realm, owner, later)).toEqual([]);
  const { body } = await fetched(realm, member, { anchor: 'first_unread', num_before: 0, num_after: 5 });
  expect(body.anchor).toBe(ofOwner);
});

it('after unmuting, earlier messages of the user stay read, and later ones are unread', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin]);
  await muted(realm, member, admin);
  const whileMuted = await sent(realm, admin, { to });
  const client = await givenClient(realm, member);
  await unmuted(realm, member, admin);
  expect(await client.poll()).toMatchObject([{ type: 'muted_users', muted_users: [] }]);
  const after = await sent(realm, admin, { to });
  expect(await flagsFor(realm, member, whileMuted)).toEqual(['read']);
  expect(await unreadOf(realm, member)).toEqual([after]);
  await muted(realm, member, admin);
  expect(await registered(realm, member)).toMatchObject({ list: [{ id: admin.userId }], unread: 0 });
});

it('messages of a muted user cannot be marked as unread, with no change and no event', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin]);
  const id = await sent(realm, admin, { to });
  await muted(realm, member, admin);
  const before = await lastNumber(realm);
  expect((await flagged(realm, member, 'remove', 'read', [id])).status).toBe(200);
  expect(await loggedAfter(realm, before)).toEqual([]);
  expect(await flagsFor(realm, member, id)).toEqual(['read']);
});

it('neither user of a mute is in read receipts of the other (companion facts 1.9)', async () => {
  const realm = await newRealm({ enable_read_receipts: true });
  const { member, admin, owner } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin, owner]);
  const [own, theirs] = [await sent(realm, member, { to }), await sent(realm, admin, { to })];
  for (const person of [member, admin, owner]) await flagged(realm, person, 'add', 'read', [own, theirs]);
  const readers = async (as: Person, message_id: number) =>
    (await realm.call(getReceipts, as, {}, { path: { message_id } })).body.user_ids;
  expect(await readers(member, own)).toEqual(expect.arrayContaining([admin.userId, owner.userId]));
  await muted(realm, member, admin);
  expect(await readers(member, own)).toEqual([owner.userId]);
  expect(await readers(admin, theirs)).toEqual([owner.userId]);
  expect(await readers(owner, theirs)).toContain(member.userId);
  await unmuted(realm, member, admin);
  expect(await readers(member, own)).toHaveLength(2);
});

it('bots and deactivated users can be muted, but not oneself, unknown or muted users (companion facts 3.2)', async () => {
  const realm = await newRealm();
  const { member, admin, owner } = realm.people;
  const bot = await givenBot(realm, admin);
  await givenChangedUser(realm, owner, { isActive: false });
  await muted(realm, member, bot);
  await muted(realm, member, owner);
  const before = await lastNumber(realm);
  for (const [handler, id] of [
    [mute, member.userId],
    [mute, bot.userId],
    [mute, 999_999],
    [mute, 0],
    [mute, '9'.repeat(15)],
    [unmute, admin.userId],
    [unmute, 999_999],
  ] as const) {
    const { status, body } = await realm.call(handler, member, {}, of(id));
    expect([status, body.code, id]).toEqual([400, 'BAD_REQUEST', id]);
  }
  expect(await loggedAfter(realm, before)).toEqual([]);
  expect((await registered(realm, member)).list.map(({ id }: { id: number }) => id)).toEqual([
    bot.userId,
    owner.userId,
  ]);
});

it('a guest who does not see everybody cannot find out by muting which users exist', async () => {
  const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
  const { guest } = realm.people;
  const stranger = await givenUser(realm);
  const unknown = await realm.call(mute, guest, {}, of(999_999));
  expect(await realm.call(mute, guest, {}, of(stranger.userId))).toMatchObject({
    status: 400,
    body: unknown.body,
  });
});

it('two concurrent mutes are both kept, and the last event has both', async () => {
  const realm = await newRealm();
  const { member, admin, owner } = realm.people;
  const client = await givenClient(realm, member);
  const slow = realm.container(meanwhile(() => muted(realm, member, owner)));
  expect((await slow.call(mute, member, {}, of(admin.userId))).status).toBe(200);
  const { list } = await registered(realm, member);
  expect(list.map(({ id }: { id: number }) => id).toSorted()).toEqual(
    [admin.userId, owner.userId].toSorted(),
  );
  expect((await client.poll()).at(-1).muted_users).toEqual(list);
});

it(`a user can mute at most ${MAX_MUTED} muted users`, async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const mutes = Array.from({ length: MAX_MUTED }, (_, i) => ({ userId: 900_000 + i, at: 1 }));
  await givenChangedUser(realm, member, { mutes });
  const { status, body } = await realm.call(mute, member, {}, of(admin.userId));
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  const path = { muted_user_id: 900_000 };
  expect((await realm.call(unmute, member, {}, { path })).status).toBe(200);
  await muted(realm, member, admin);
});

it('reading costs no more with muted users than without, and muting keeps to the budget of a write (DESIGN 7)', async () => {
  const realm = await newRealm();
  const { member, admin } = realm.people;
  const { channelId: to } = await givenChannel(realm, {}, [member, admin]);
  for (let i = 0; i < 5; i++) await sent(realm, admin, { to });
  const query = { num_before: 5, narrow: JSON.stringify([{ operator: 'channel', operand: to }]) };
  const before = await cost(realm, member, query);
  const warm = realm.container();
  await warm.call(register, member, {});
  warm.meter.reset();
  await muted(warm, member, admin);
  expect(warm.meter.roundTrips).toBeLessThanOrEqual(designBudgets.writeTrips);
  expect(await cost(realm, member, query)).toEqual(before);
});
