import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser } from '../support/given.ts';
import { createGroup, groupOf, tryToCreate } from '../support/group-state.ts';
import { newRealm } from '../support/realm.ts';

const { nobody, owners, everyone, internet } = systemGroups;

describe('the settings of a new group (wire facts 4.5, 7; specification 4.5)', () => {
  const names = [
    'can_add_members_group',
    'can_join_group',
    'can_leave_group',
    'can_manage_group',
    'can_mention_group',
    'can_remove_members_group',
  ];
  /** Which system groups a setting refuses besides `role:internet`. */
  const refused: Readonly<Record<string, readonly number[]>> = {
    can_add_members_group: [everyone.id],
    can_join_group: [everyone.id],
    can_leave_group: [],
    can_manage_group: [everyone.id],
    can_mention_group: [owners.id],
    can_remove_members_group: [everyone.id],
  };

  it.each(names)(
    '%s accepts the allowed groups, and no others (2.7/permissions, 4.5/manage-refused, 4.5/mention-refused)',
    async (name) => {
      const realm = await newRealm();
      for (const group of Object.values(systemGroups)) {
        const isRefused = group.id === internet.id || refused[name]?.includes(group.id);
        const { status, body } = await tryToCreate(realm, realm.people.member, { [name]: group.id });
        expect({ group: group.name, status }).toEqual({ group: group.name, status: isRefused ? 400 : 200 });
        if (!isRefused) continue;
        expect(body.code).toBe('BAD_REQUEST');
        expect(body.msg).toContain(name);
        expect(body.msg).toContain(group.name);
      }
    },
  );

  it('accepts anonymous values in their normal form (wire facts 4.5: "normalisation")', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const inner = await createGroup(realm, member);
    const groupId = await createGroup(realm, member, {
      can_join_group: {
        direct_members: [guest.userId, member.userId, guest.userId],
        direct_subgroups: [inner],
      },
      can_leave_group: { direct_members: [], direct_subgroups: [inner] },
      can_remove_members_group: { direct_members: [], direct_subgroups: [] },
    });
    expect(await groupOf(realm, groupId)).toMatchObject({
      can_join_group: {
        direct_members: [member.userId, guest.userId].sort((a, b) => a - b),
        direct_subgroups: [inner],
      },
      can_leave_group: inner,
      can_remove_members_group: nobody.id,
    });
  });

  it('refuses unknown and deactivated groups and users, naming the first (wire facts 4.5)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await givenChangedUser(realm, guest, { isActive: false });
    const gone = await createGroup(realm, member);
    expect((await realm.call(deactivate, member, {}, { path: { user_group_id: gone } })).status).toBe(200);
    const values: readonly [unknown, number][] = [
      [999_999, 999_999],
      [0, 0],
      [gone, gone],
      [{ direct_members: [member.userId], direct_subgroups: [gone] }, gone],
      [{ direct_members: [], direct_subgroups: [3, -4] }, -4],
      [{ direct_members: [guest.userId], direct_subgroups: [] }, guest.userId],
      [{ direct_members: [member.userId, 12], direct_subgroups: [] }, 12],
    ];
    for (const [value, id] of values) {
      const { status, body } = await tryToCreate(realm, member, { can_join_group: value });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
      expect(body.msg).toContain(String(id));
    }
  });

  it('may name at most forty groups, so that a change fits into one transaction', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groups: number[] = [];
    for (let i = 0; i < 41; i++) groups.push(await createGroup(realm, member));
    const setting = (direct_subgroups: number[]) => ({ direct_members: [member.userId], direct_subgroups });
    const [first, ...others] = groups as [number, ...number[]];
    const given = {
      can_join_group: setting(others.slice(0, 20)),
      can_leave_group: setting(others.slice(20)),
    };
    expect((await tryToCreate(realm, member, { ...given, can_mention_group: first })).body.code).toBe(
      'BAD_REQUEST',
    );
    // All of them are subgroups too, and each is guarded by one write.
    await createGroup(realm, member, { ...given, subgroups: others, members: [member.userId] });
  });
});
