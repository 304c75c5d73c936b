import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser, givenChannel } from '../support/given.ts';
import {
  createGroup,
  expectSameMembers,
  groupOf,
  manyPeople,
  membersOf,
  toldOfGroups,
} from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, members, moderators } = systemGroups;

const change = (realm: TestRealm, as: Person, groupId: number, given: Readonly<Record<string, unknown>>) =>
  realm.call(updateMembers, as, given, { path: { user_group_id: groupId } });

const ids = (...people: readonly Person[]): number[] => people.map(({ userId }) => userId);

describe('POST /user_groups/{user_group_id}/members', () => {
  it('adds and removes users and groups in one request, and sends the events in order', async () => {
    const realm = await newRealm();
    const { member, guest, admin, bot } = realm.people;
    const inner = await createGroup(realm, member);
    const groupId = await createGroup(realm, member, {
      members: ids(guest, member),
      subgroups: [moderators.id],
    });
    const before = await lastNumber(realm);
    const given = {
      add: ids(admin, bot, admin),
      delete: ids(guest),
      add_subgroups: [inner],
      delete_subgroups: [moderators.id],
    };
    expect((await change(realm, member, groupId, given)).body).toEqual({ result: 'success', msg: '' });
    expect(await groupOf(realm, groupId)).toMatchObject({
      members: ids(admin, member, bot).sort((a, b) => a - b),
      direct_subgroup_ids: [inner],
    });
    expect(await toldOfGroups(realm, before)).toEqual([
      { op: 'add_members', group_id: groupId, user_ids: ids(admin, bot).sort((a, b) => a - b) },
      { op: 'remove_members', group_id: groupId, user_ids: ids(guest) },
      { op: 'add_subgroups', group_id: groupId, direct_subgroup_ids: [inner] },
      { op: 'remove_subgroups', group_id: groupId, direct_subgroup_ids: [moderators.id] },
    ]);
  });

  it('leaves a user unchanged who is added and removed by one request, like the reference', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member);
    const inner = await createGroup(realm, member);
    const both = { add: ids(guest), delete: ids(guest), add_subgroups: [inner], delete_subgroups: [inner] };
    expect((await change(realm, member, groupId, both)).status).toBe(200);
    expect(await groupOf(realm, groupId)).toMatchObject({ members: [], direct_subgroup_ids: [] });
  });

  it('changes nothing when a part is refused', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const groupId = await createGroup(realm, member, { members: ids(guest) });
    const before = await lastNumber(realm);
    const wrong: readonly Readonly<Record<string, unknown>>[] = [
      { add: [...ids(admin), 999_999] },
      { add: ids(admin), delete: ids(member) },
      { add: ids(admin, guest) },
      { add: ids(admin), add_subgroups: [999_999] },
      { add: ids(admin), delete_subgroups: [moderators.id] },
      { add: ids(admin), add_subgroups: [groupId] },
    ];
    for (const given of wrong) {
      const { status, body } = await change(realm, member, groupId, given);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    }
    expect(await membersOf(realm, groupId)).toEqual(ids(guest));
    expect(await toldOfGroups(realm, before)).toEqual([]);
  });

  it('refuses deactivated users, to add and to remove', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const groupId = await createGroup(realm, member, { members: ids(guest) });
    await givenChangedUser(realm, guest, { isActive: false });
    await givenChangedUser(realm, admin, { isActive: false });
    for (const given of [{ add: ids(admin) }, { delete: ids(guest) }]) {
      const { status, body } = await change(realm, member, groupId, given);
      expect(status).toBe(400);
      expect(body.msg).toMatch(/Invalid user ID/);
    }
  });

  it('refuses an empty request, unknown groups and role groups', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const groupId = await createGroup(realm, owner);
    for (const given of [{}, { add: [], delete_subgroups: [] }]) {
      expect((await change(realm, owner, groupId, given)).body.code).toBe('BAD_REQUEST');
    }
    for (const id of [members.id, nobody.id, 999_999, 0]) {
      const { status, body } = await change(realm, owner, id, { add: ids(member) });
      expect({ id, status, code: body.code }).toEqual({ id, status: 400, code: 'BAD_REQUEST' });
    }
  });

  it('changes up to forty-five at once, and names that limit in the refusal', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const people = await manyPeople(realm, 46);
    const groupId = await createGroup(realm, member);
    const all = ids(...people);
    const many = await change(realm, member, groupId, { add: all });
    expect(many).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(many.body.msg).toContain('45');
    const split = await change(realm, member, groupId, { add: all.slice(0, 40), delete: all.slice(40) });
    expect(split.body.msg).toContain('45');
    const inner = await createGroup(realm, member);
    const given = { add: all.slice(0, 44), add_subgroups: [inner] };
    expect((await change(realm, member, groupId, given)).status).toBe(200);
    expect(await expectSameMembers(realm, groupId, people)).toHaveLength(44);
  });

  it('takes effect on the next request, in a warm container too', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const inner = await createGroup(realm, admin);
    const outer = await createGroup(realm, admin, { subgroups: [inner] });
    const { channelId } = await givenChannel(realm, { groups: { can_send_message_group: outer } }, [member]);
    const container = realm.container();
    const post = () =>
      container.call(send, member, { type: 'channel', to: channelId, topic: 't', content: 'hello' });
    expect((await post()).status).toBe(400);
    await change(realm, admin, inner, { add: ids(member) });
    expect((await post()).status).toBe(200);
    await change(realm, admin, inner, { delete: ids(member) });
    expect((await post()).status).toBe(400);
    await change(realm, admin, outer, { add: ids(member), delete_subgroups: [inner] });
    expect((await post()).status).toBe(200);
    container.meter.reset();
    expect((await post()).status).toBe(200);
    expect(container.meter.roundTrips).toBe(2);
  });

  it('takes 3 round trips cold and 2 warm', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member);
    const inner = await createGroup(realm, member);
    const container = realm.container();
    expect(
      (await change(container, member, groupId, { add: ids(guest), add_subgroups: [inner] })).status,
    ).toBe(200);
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    expect((await change(container, member, groupId, { delete: ids(guest) })).status).toBe(200);
    expect(container.meter.roundTrips).toBe(2);
  });

  it('changes the members of a deactivated group too, like the reference', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member);
    expect((await realm.call(deactivate, member, {}, { path: { user_group_id: groupId } })).status).toBe(200);
    expect((await change(realm, member, groupId, { add: ids(guest) })).status).toBe(200);
    expect(await membersOf(realm, groupId)).toEqual(ids(guest));
  });

  it.each([
    ['add', '[true]'],
    ['add', '"12"'],
    ['delete', '{}'],
    ['add_subgroups', '[1.5]'],
    ['delete_subgroups', 'x'],
  ])('refuses %s = %s', async (name, value) => {
    const realm = await newRealm();
    const groupId = await createGroup(realm, realm.people.member);
    const { status, body } = await change(realm, realm.people.member, groupId, { [name]: value });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
  });
});
