import { expect, it } from 'vitest';
import { handler as getReceipts } from '../../functions/messages/getReadReceipts.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import {
  givenBot,
  givenChangedUser,
  givenChannel,
  givenCrowd,
  givenRealmSettings,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { flagged, sent } from '../support/messages.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

const on = { enable_read_receipts: true };

const ask = (realm: TestRealm, as: Person, message_id: number | string): Promise<Reply> =>
  realm.call(getReceipts, as, {}, { path: { message_id } });

async function readersOf(realm: TestRealm, as: Person, id: number): Promise<number[]> {
  const { status, body } = await ask(realm, as, id);
  expect([status, body.msg]).toEqual([200, '']);
  return body.user_ids.toSorted((a: number, b: number) => a - b);
}

const idsOf = (...people: readonly Person[]): number[] =>
  people.map(({ userId }) => userId).sort((a, b) => a - b);

it('lists those who have read a message, bots too, and never the sender (companion facts 1.9)', async () => {
  const realm = await newRealm(on);
  const { member, admin, guest, owner } = realm.people;
  const bot = await givenBot(realm, admin);
  const { channelId } = await givenChannel(realm, {}, [member, admin, guest, bot]);
  const id = await sent(realm, member, { to: channelId }, 'x', { read_by_sender: true });
  expect(await readersOf(realm, member, id)).toEqual([]);
  for (const person of [admin, bot, owner]) await flagged(realm, person, 'add', 'read', [id]);
  expect(await readersOf(realm, guest, id)).toEqual(idsOf(admin, bot));
  await flagged(realm, admin, 'remove', 'read', [id]);
  expect(await readersOf(realm, owner, id)).toEqual(idsOf(bot));
});

it('lists those who have read a direct message too', async () => {
  const realm = await newRealm(on);
  const { member, admin, guest } = realm.people;
  const id = await sent(realm, member, { people: [admin, guest] });
  await flagged(realm, guest, 'add', 'read', [id]);
  expect(await readersOf(realm, member, id)).toEqual(idsOf(guest));
});

it('never lists users who do not send receipts, are deactivated, or subscribed later (companion facts 1.9)', async () => {
  const realm = await newRealm(on);
  const { member, admin, guest, owner, moderator } = realm.people;
  const { channelId } = await givenChannel(realm, {}, [member, admin, guest, owner]);
  const id = await sent(realm, member, { to: channelId });
  await givenSubscription(realm, moderator, channelId);
  for (const person of [admin, guest, owner, moderator]) await flagged(realm, person, 'add', 'read', [id]);
  expect(await readersOf(realm, member, id)).toEqual(idsOf(admin, guest, owner));
  await givenSettings(realm, admin, { send_read_receipts: false });
  await givenChangedUser(realm, guest, { isActive: false });
  expect(await readersOf(realm, member, id)).toEqual(idsOf(owner));
});

it('a guest gets no receipts of users whom they may not see', async () => {
  const realm = await newRealm({ ...on, can_access_all_users_group: systemGroups.members.id });
  const { member, guest } = realm.people;
  const stranger = await givenUser(realm);
  const open = await givenChannel(realm, { isWebPublic: true }, [member, stranger]);
  const id = await sent(realm, member, { to: open.channelId });
  await flagged(realm, stranger, 'add', 'read', [id]);
  expect(await readersOf(realm, member, id)).toEqual(idsOf(stranger));
  expect(await readersOf(realm, guest, id)).toEqual([]);
});

it('access to the message is checked before `enable_read_receipts` (companion facts 1.9)', async () => {
  const realm = await newRealm();
  const { member, admin, owner } = realm.people;
  const id = await sent(realm, member, { people: [admin] });
  const refusals = async (): Promise<unknown[]> => [
    (await ask(realm, owner, id)).body.msg,
    (await ask(realm, member, 999_999)).body.msg,
    (await ask(realm, member, '9'.repeat(15))).body.msg,
  ];
  const off = await ask(realm, member, id);
  expect([off.status, off.body.code, off.body.msg]).toEqual([
    400,
    'BAD_REQUEST',
    'This organization does not show who has read a message.',
  ]);
  const hidden = Array(3).fill('Invalid message(s).');
  expect(await refusals()).toEqual(hidden);
  await givenRealmSettings(realm, on);
  expect(await refusals()).toEqual(hidden);
  expect((await ask(realm, member, 'x')).status).toBe(404);
});

it('a channel with more than 1,000 subscribers has no receipts, and reading it costs no more', async () => {
  const realm = await newRealm(on);
  const { member, admin } = realm.people;
  const { channelId } = await givenChannel(realm, {}, [member, admin]);
  const id = await sent(realm, member, { to: channelId });
  await givenCrowd(realm, channelId, 1_500);
  const { status, body } = await ask(realm, member, id);
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  expect(body.msg).toContain('more than 1000 subscribers');
  const container = realm.container();
  await ask(container, member, id);
  expect(container.meter.roundTrips).toBeLessThanOrEqual(3);
  expect(container.meter.readUnits).toBeLessThan(60);
});
