import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/userGroups/list.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { givenGroup, givenUser } from '../support/given.ts';
import { newRealm, type Reply } from '../support/realm.ts';

const byName = ({ body }: Reply, name: string) =>
  body.user_groups.find((group: { name: string }) => group.name === name);

describe('GET /user_groups', () => {
  it('returns the role groups, with members according to the roles of users (2.2/system-groups)', async () => {
    const { call, people } = await newRealm();
    const reply = await call(list, people.member);
    const { owner, admin, moderator, member, bot, guest } = people;
    const expected = {
      'role:nobody': [[], []],
      'role:owners': [[owner], []],
      'role:administrators': [[admin], [systemGroups.owners]],
      'role:moderators': [[moderator], [systemGroups.administrators]],
      'role:fullmembers': [[member, bot], [systemGroups.moderators]],
      'role:members': [[member, bot], [systemGroups.fullMembers]],
      'role:everyone': [[guest], [systemGroups.members]],
      'role:internet': [[], [systemGroups.everyone]],
    } as const;
    expect(reply.body.user_groups.map(({ name }: { name: string }) => name)).toEqual(Object.keys(expected));
    for (const [name, [members, subgroups]] of Object.entries(expected)) {
      expect(byName(reply, name), name).toMatchObject({
        is_system_group: true,
        creator_id: null,
        date_created: null,
        members: members.map(({ userId }) => userId),
        direct_subgroup_ids: subgroups.map(({ id }) => id),
        can_manage_group: systemGroups.nobody.id,
        can_mention_group: systemGroups.nobody.id,
        deactivated: false,
      });
    }
  });

  it('separates full members from members in the waiting period', async () => {
    const realm = await newRealm({ waiting_period_threshold: 3 });
    const fullMembers = async () =>
      byName(await realm.call(list, realm.people.owner), 'role:fullmembers').members;
    expect(await fullMembers()).toEqual([]);
    realm.pass(3 * 86_400_000);
    expect(await fullMembers()).toEqual([realm.people.member.userId, realm.people.bot.userId]);
  });

  it('returns named groups with their direct members and subgroups', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const inner = await givenGroup(realm, { name: 'inner', members: [admin] });
    const outer = await givenGroup(realm, {
      name: 'outer',
      members: [member, realm.people.guest],
      subgroups: [inner.groupId, systemGroups.moderators.id],
      settings: { can_mention_group: { direct_members: [member.userId], direct_subgroups: [inner.groupId] } },
    });
    const reply = await realm.call(list, member);
    expect(byName(reply, 'outer')).toEqual({
      id: outer.groupId,
      name: 'outer',
      description: '',
      creator_id: realm.people.owner.userId,
      date_created: expect.any(Number),
      members: [member.userId, realm.people.guest.userId],
      direct_subgroup_ids: [inner.groupId, systemGroups.moderators.id],
      is_system_group: false,
      can_add_members_group: { direct_members: [realm.people.owner.userId], direct_subgroups: [] },
      can_join_group: systemGroups.nobody.id,
      can_leave_group: systemGroups.everyone.id,
      can_manage_group: { direct_members: [realm.people.owner.userId], direct_subgroups: [] },
      can_mention_group: { direct_members: [member.userId], direct_subgroups: [inner.groupId] },
      can_remove_members_group: systemGroups.nobody.id,
      deactivated: false,
    });
    expect(byName(reply, 'inner').members).toEqual([admin.userId]);
  });

  it('leaves out deactivated users, and deactivated groups unless requested', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    const second = await givenUser(realm, { role: roles.owner });
    await givenGroup(realm, { name: 'some', members: [people.guest, people.admin] });
    await givenGroup(realm, { name: 'former', members: [people.admin], deactivated: true });
    for (const { userId } of [people.guest, second]) {
      await call(deactivate, people.owner, {}, { path: { user: userId } });
    }
    const reply = await call(list, people.bot);
    expect(byName(reply, 'some').members).toEqual([people.admin.userId]);
    expect(byName(reply, 'role:owners').members).toEqual([people.owner.userId]);
    expect(byName(reply, 'role:everyone').members).toEqual([]);
    expect(byName(reply, 'former')).toBeUndefined();
    const all = await call(list, people.bot, {}, { query: { include_deactivated_groups: true } });
    expect(byName(all, 'former')).toMatchObject({ deactivated: true, members: [people.admin.userId] });
  });

  it('refuses guests', async () => {
    const { call, people } = await newRealm();
    const { status, body } = await call(list, people.guest);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
