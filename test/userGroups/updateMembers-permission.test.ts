import { describe, expect, it } from 'vitest';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { createGroup } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const { nobody, members, administrators, moderators } = systemGroups;

const change = (realm: TestRealm, as: Person, groupId: number, given: Readonly<Record<string, unknown>>) =>
  realm.call(updateMembers, as, given, { path: { user_group_id: groupId } });

const ids = (...people: readonly Person[]): number[] => people.map(({ userId }) => userId);

describe('the permission to change the members of a group', () => {
  const listed = (...people: readonly Person[]) => ({ direct_members: ids(...people), direct_subgroups: [] });

  it('is complete for managers of all groups and of this one', async () => {
    const realm = await newRealm({ can_manage_all_groups: administrators.id });
    const { member, admin, guest, moderator } = realm.people;
    const groupId = await createGroup(realm, member);
    for (const who of [member, admin]) {
      expect((await change(realm, who, groupId, { add: ids(guest) })).status).toBe(200);
      expect((await change(realm, who, groupId, { delete: ids(guest) })).status).toBe(200);
      expect((await change(realm, who, groupId, { add_subgroups: [moderators.id] })).status).toBe(200);
      expect((await change(realm, who, groupId, { delete_subgroups: [moderators.id] })).status).toBe(200);
    }
    for (const given of [{ add: ids(guest) }, { add: ids(moderator) }, { add_subgroups: [moderators.id] }]) {
      expect((await change(realm, moderator, groupId, given)).body.code).toBe('BAD_REQUEST');
    }
    // Leaving is everyone's by default, so what is missing here is the membership.
    expect((await change(realm, moderator, groupId, { delete: ids(moderator) })).body.msg).toMatch(
      /not a member/,
    );
  });

  it.each<[string, Readonly<Record<string, boolean>>]>([
    [
      'can_add_members_group',
      { addOther: true, join: true, removeOther: false, leave: false, addGroup: true },
    ],
    [
      'can_remove_members_group',
      { addOther: false, join: false, removeOther: true, leave: true, addGroup: false },
    ],
    ['can_join_group', { addOther: false, join: true, removeOther: false, leave: false, addGroup: false }],
    ['can_leave_group', { addOther: false, join: false, removeOther: false, leave: true, addGroup: false }],
    [
      'can_mention_group',
      { addOther: false, join: false, removeOther: false, leave: false, addGroup: false },
    ],
    [
      'can_manage_group',
      { addOther: true, join: true, removeOther: true, leave: true, addGroup: true, removeGroup: true },
    ],
  ])(
    'is given by %s exactly as named (4.5/can_add_members_group, 4.5/can_remove_members_group, 4.5/can_join_group, 4.5/can_leave_group, 4.5/can_manage_group)',
    async (permission, may) => {
      const realm = await newRealm();
      const { owner, member, guest, admin } = realm.people;
      const group = (given: object) =>
        createGroup(realm, owner, { can_leave_group: nobody.id, [permission]: listed(member), ...given });
      const empty = await group({});
      const full = await group({ members: ids(member, admin), subgroups: [moderators.id] });
      const outcomes = {
        addOther: await change(realm, member, empty, { add: ids(guest) }),
        removeOther: await change(realm, member, full, { delete: ids(admin) }),
        addGroup: await change(realm, member, empty, { add_subgroups: [moderators.id] }),
        removeGroup: await change(realm, member, full, { delete_subgroups: [moderators.id] }),
        join: await change(realm, member, empty, { add: ids(member) }),
        leave: await change(realm, member, full, { delete: ids(member) }),
      };
      for (const [what, { status }] of Object.entries(outcomes)) {
        expect({ what, status }).toEqual({ what, status: may[what] ? 200 : 400 });
      }
    },
  );

  it('to join does not include adding others in the same request', async () => {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const groupId = await createGroup(realm, owner, { can_join_group: members.id });
    expect((await change(realm, member, groupId, { add: ids(member, guest) })).status).toBe(400);
    expect((await change(realm, member, groupId, { add: ids(member) })).status).toBe(200);
  });

  it('is never given to guests, even if they are listed (wire facts 4.5, 7)', async () => {
    const realm = await newRealm();
    const { owner, guest, member } = realm.people;
    const groupId = await createGroup(realm, owner, {
      can_manage_group: listed(owner, guest),
      can_join_group: listed(guest),
    });
    for (const given of [{ add: ids(guest) }, { add: ids(member) }]) {
      expect((await change(realm, guest, groupId, given)).body.code).toBe('BAD_REQUEST');
    }
  });

  it('may come through a named group', async () => {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const inner = await createGroup(realm, owner, { members: ids(member) });
    const outer = await createGroup(realm, owner, { subgroups: [inner] });
    const groupId = await createGroup(realm, owner, { can_add_members_group: outer });
    expect((await change(realm, member, groupId, { add: ids(guest) })).status).toBe(200);
  });
});
