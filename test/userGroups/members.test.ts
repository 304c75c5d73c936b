import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { handler as isMember } from '../../functions/userGroups/isMember.ts';
import { handler as listMembers } from '../../functions/userGroups/listMembers.ts';
import { handler as updateSubgroups } from '../../functions/userGroups/updateSubgroups.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser, givenUser } from '../support/given.ts';
import { createGroup, membersOf } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const { nobody, owners, administrators, moderators, fullMembers, members, everyone, internet } = systemGroups;

const ids = (...people: readonly Person[]): number[] =>
  people.map(({ userId }) => userId).sort((a, b) => a - b);
const at = (groupId: number | string, userId?: number | string) => ({
  path: { user_group_id: groupId, ...(userId !== undefined && { user_id: userId }) },
});
const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

/** Groups in groups: `outer` contains `inner` and the administrators. */
async function nested() {
  const realm = await newRealm();
  const { member, guest, bot } = realm.people;
  const inner = await createGroup(realm, member, { members: ids(guest, bot) });
  const middle = await createGroup(realm, member, { subgroups: [inner] });
  const outer = await createGroup(realm, member, {
    members: ids(member, guest),
    subgroups: [middle, administrators.id],
  });
  return { realm, inner, middle, outer };
}

describe('GET /user_groups/{user_group_id}/members', () => {
  it('lists all members, or only the direct ones', async () => {
    const { realm, inner, middle, outer } = await nested();
    const { owner, admin, member, guest, bot } = realm.people;
    expect(await membersOf(realm, outer)).toEqual(ids(member, guest));
    expect(await membersOf(realm, outer, false)).toEqual(ids(owner, admin, member, guest, bot));
    expect(await membersOf(realm, middle)).toEqual([]);
    expect(await membersOf(realm, middle, false)).toEqual(ids(guest, bot));
    expect(await membersOf(realm, inner, false)).toEqual(ids(guest, bot));
  });

  it('lists the users of the roles', async () => {
    const realm = await newRealm();
    const { owner, admin, moderator, member, guest, bot } = realm.people;
    const of = (group: { readonly id: number }, direct: boolean) => membersOf(realm, group.id, direct);
    expect(await of(administrators, true)).toEqual(ids(admin));
    expect(await of(administrators, false)).toEqual(ids(owner, admin));
    expect(await of(moderators, false)).toEqual(ids(owner, admin, moderator));
    expect(await of(everyone, false)).toEqual(ids(owner, admin, moderator, member, guest, bot));
    expect(await of(everyone, true)).toEqual(ids(guest));
    expect(await of(internet, false)).toEqual(ids(owner, admin, moderator, member, guest, bot));
    expect(await of(nobody, false)).toEqual([]);
    // Members who have waited long enough are in both groups.
    expect(await of(members, true)).toEqual(ids(member, bot));
    expect(await of(fullMembers, true)).toEqual(ids(member, bot));
    expect(await of(owners, true)).toEqual(ids(owner));
  });

  it('leaves out deactivated users', async () => {
    const { realm, outer } = await nested();
    const { owner, member, guest, admin, bot } = realm.people;
    await givenChangedUser(realm, guest, { isActive: false });
    await givenChangedUser(realm, admin, { isActive: false });
    expect(await membersOf(realm, outer)).toEqual(ids(member));
    expect(await membersOf(realm, outer, false)).toEqual(ids(owner, member, bot));
  });

  it('refuses unknown groups, and guests', async () => {
    const { realm, outer } = await nested();
    for (const id of [999_999, 0]) {
      expect(await realm.call(listMembers, realm.people.member, {}, at(id))).toMatchObject(refused);
    }
    expect(await realm.call(listMembers, realm.people.guest, {}, at(outer))).toMatchObject(refused);
    const wrong = { direct_member_only: '"yes"' };
    expect(await realm.call(listMembers, realm.people.member, wrong, at(outer))).toMatchObject(refused);
  });

  it('takes 3 round trips cold and 2 warm', async () => {
    const { realm, middle, outer } = await nested();
    const { member } = realm.people;
    for (const [groupId, direct_member_only, warm] of [
      [outer, true, 2],
      [middle, false, 2],
      // All users are read, since a group of a role is in it.
      [outer, false, 1],
    ] as const) {
      const container = realm.container();
      await container.call(listMembers, member, { direct_member_only }, at(groupId));
      expect(container.meter.roundTrips).toBe(warm + 1);
      container.meter.reset();
      await container.call(listMembers, member, { direct_member_only }, at(groupId));
      expect(container.meter.roundTrips).toBe(warm);
      expect(container.meter.writeUnits).toBe(0);
    }
  });
});

describe('the members of nested groups', () => {
  it('cost reads for themselves, and none for other users of the organization', async () => {
    const { realm, middle } = await nested();
    const { member } = realm.people;
    const unitsOf = async (): Promise<number> => {
      const container = realm.container();
      await container.call(listMembers, member, {}, at(middle));
      return container.meter.readUnits;
    };
    const before = await unitsOf();
    for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 25 }, () => givenUser(realm)));
    expect(await unitsOf()).toBe(before);
  });

  it('are the present ones, even in a container that remembers others', async () => {
    const { realm, inner, middle } = await nested();
    const { member, guest, bot } = realm.people;
    const container = realm.container();
    const listed = async () => (await container.call(listMembers, member, {}, at(middle))).body.members;
    expect(await listed()).toEqual(ids(guest, bot));
    const change = (given: Readonly<Record<string, unknown>>) =>
      realm.call(updateSubgroups, member, given, at(middle));
    expect((await change({ delete: [inner] })).status).toBe(200);
    expect(await listed()).toEqual([]);
    expect((await change({ add: [inner] })).status).toBe(200);
    expect(await listed()).toEqual(ids(guest, bot));
  });
});

describe('GET /user_groups/{user_group_id}/members/{user_id}', () => {
  const is = async (realm: TestRealm, groupId: number, who: Person, direct = false): Promise<boolean> =>
    (await realm.call(isMember, realm.people.member, { direct_member_only: direct }, at(groupId, who.userId)))
      .body.is_user_group_member;

  it('agrees with the list for every user and every group', async () => {
    const { realm, inner, middle, outer } = await nested();
    const groups = [inner, middle, outer, ...Object.values(systemGroups).map(({ id }) => id)];
    for (const groupId of groups) {
      for (const direct of [true, false]) {
        const listed = await membersOf(realm, groupId, direct);
        for (const person of Object.values(realm.people)) {
          expect(
            await is(realm, groupId, person, direct),
            `${person.email} in ${groupId}, direct: ${direct}`,
          ).toBe(listed.includes(person.userId));
        }
      }
    }
  });

  it('considers the waiting period (wire facts 7: full members)', async () => {
    const realm = await newRealm({ waiting_period_threshold: 10 });
    const { member } = realm.people;
    expect(await is(realm, fullMembers.id, member)).toBe(false);
    expect(await is(realm, members.id, member, true)).toBe(true);
    realm.pass(11 * 86_400_000);
    expect(await is(realm, fullMembers.id, member, true)).toBe(true);
    expect(await is(realm, members.id, member, true)).toBe(true);
  });

  it('refuses unknown groups, unknown and deactivated users, and guests', async () => {
    const { realm, outer } = await nested();
    const { member, guest } = realm.people;
    for (const id of [999_999, 0]) {
      expect(await realm.call(isMember, member, {}, at(id, member.userId))).toMatchObject(refused);
      expect(await realm.call(isMember, member, {}, at(outer, id))).toMatchObject(refused);
    }
    expect(await realm.call(isMember, guest, {}, at(outer, guest.userId))).toMatchObject(refused);
    await givenChangedUser(realm, guest, { isActive: false });
    expect(await realm.call(isMember, member, {}, at(outer, guest.userId))).toMatchObject(refused);
  });

  it('accepts a deactivated group', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member, { members: ids(member) });
    expect((await realm.call(deactivate, member, {}, at(groupId))).status).toBe(200);
    expect(await is(realm, groupId, member)).toBe(true);
  });
});
