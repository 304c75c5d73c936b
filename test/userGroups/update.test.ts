import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { handler as update } from '../../functions/userGroups/update.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { createGroup, groupOf, toldOfGroups, tryToCreate } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, owners, members, moderators, administrators, everyone, internet } = systemGroups;

const edit = (realm: TestRealm, as: Person, groupId: number, given: Readonly<Record<string, unknown>>) =>
  realm.call(update, as, given, { path: { user_group_id: groupId } });

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

describe('PATCH /user_groups/{user_group_id}', () => {
  it('changes everything at once and sends an event for each change (wire facts 14.6)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member, { name: 'cooks' });
    const before = await lastNumber(realm);
    const listed = { direct_members: [guest.userId, member.userId], direct_subgroups: [] };
    const given = {
      name: 'chefs',
      description: 'Who cook well.',
      can_join_group: { new: members.id, old: nobody.id },
      can_leave_group: { new: { direct_members: [], direct_subgroups: [moderators.id] } },
      can_manage_group: { new: listed },
    };
    expect((await edit(realm, member, groupId, given)).body).toEqual({ result: 'success', msg: '' });
    const settings = {
      can_join_group: members.id,
      can_leave_group: moderators.id,
      can_manage_group: {
        direct_members: [member.userId, guest.userId].sort((a, b) => a - b),
        direct_subgroups: [],
      },
    };
    expect(await groupOf(realm, groupId)).toMatchObject({
      name: 'chefs',
      description: 'Who cook well.',
      ...settings,
    });
    const data = [
      { name: 'chefs' },
      { description: 'Who cook well.' },
      ...Object.entries(settings).map(([name, value]) => ({ [name]: value })),
    ];
    expect(await toldOfGroups(realm, before)).toEqual(
      data.map((each) => ({ op: 'update', group_id: groupId, data: each })),
    );
  });

  it('changes nothing and sends no event when a part is refused', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member, { name: 'cooks' });
    const before = await lastNumber(realm);
    const given = { name: 'chefs', can_join_group: { new: everyone.id } };
    expect(await edit(realm, member, groupId, given)).toMatchObject(refused);
    expect((await groupOf(realm, groupId)).name).toBe('cooks');
    expect(await toldOfGroups(realm, before)).toEqual([]);
    await createGroup(realm, member, { name: 'chefs' });
  });

  it('refuses the edit if "old" is not current, in any order (wire facts 4.5: EXPECTATION_MISMATCH)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const both = { direct_members: [member.userId, guest.userId], direct_subgroups: [] };
    const groupId = await createGroup(realm, member, { can_join_group: both });
    const wrong = { new: nobody.id, old: members.id };
    expect(await edit(realm, member, groupId, { can_join_group: wrong })).toMatchObject({
      status: 400,
      body: { code: 'EXPECTATION_MISMATCH', field_name: 'old' },
    });
    const turned = { ...both, direct_members: [...both.direct_members].reverse() };
    const right = { new: nobody.id, old: turned };
    expect((await edit(realm, member, groupId, { can_join_group: right })).status).toBe(200);
    // An empty object is the nobody group.
    const empty = { new: members.id, old: { direct_members: [], direct_subgroups: [] } };
    expect((await edit(realm, member, groupId, { can_join_group: empty })).status).toBe(200);
  });

  it('sends no event if nothing changes (wire facts 4.5: "success, no event")', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member, { name: 'cooks' });
    const before = await lastNumber(realm);
    const given = { name: 'cooks', description: '', deactivated: true, can_join_group: { new: nobody.id } };
    expect((await edit(realm, member, groupId, given)).status).toBe(200);
    expect(await toldOfGroups(realm, before)).toEqual([]);
    expect((await groupOf(realm, groupId)).deactivated).toBe(false);
    expect(await edit(realm, member, groupId, {})).toMatchObject(refused);
  });

  it('renames to a free name only, and frees the old one', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member, { name: 'cooks' });
    await createGroup(realm, member, { name: 'taken' });
    for (const name of ['taken', '', ' ', 'role:x', '@x', 'x'.repeat(101)]) {
      expect(await edit(realm, member, groupId, { name })).toMatchObject(refused);
    }
    expect((await edit(realm, member, groupId, { name: 'Taken' })).status).toBe(200);
    await createGroup(realm, member, { name: 'cooks' });
    expect((await tryToCreate(realm, member, { name: 'Taken' })).status).toBe(400);
  });

  it('gives a name to one of two groups that are renamed to it at once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groups = [await createGroup(realm, member), await createGroup(realm, member)];
    const replies = await Promise.all([
      ...groups.map((groupId) => edit(realm.container(), member, groupId, { name: 'cooks' })),
      tryToCreate(realm.container(), member, { name: 'cooks' }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it.each([
    ['can_add_members_group', [everyone.id, internet.id]],
    ['can_join_group', [everyone.id, internet.id]],
    ['can_leave_group', [internet.id]],
    ['can_manage_group', [everyone.id, internet.id]],
    ['can_mention_group', [owners.id, internet.id]],
    ['can_remove_members_group', [everyone.id, internet.id]],
  ] as [string, number[]][])(
    'refuses for %s the same groups as at creation (specification 4.5)',
    async (name, forbidden) => {
      const realm = await newRealm();
      const { owner } = realm.people;
      const groupId = await createGroup(realm, owner);
      for (const { id } of Object.values(systemGroups)) {
        const { status } = await edit(realm, owner, groupId, { [name]: { new: id } });
        expect({ id, status }).toEqual({ id, status: forbidden.includes(id) ? 400 : 200 });
      }
    },
  );

  it('lets a group name itself in its settings', async () => {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const groupId = await createGroup(realm, owner, { members: [member.userId, guest.userId] });
    expect((await edit(realm, owner, groupId, { can_manage_group: { new: groupId } })).status).toBe(200);
    expect((await edit(realm, member, groupId, { description: 'by a member' })).status).toBe(200);
    expect(await edit(realm, guest, groupId, { description: 'by a guest' })).toMatchObject(refused);
  });

  it('is allowed to users who manage the group or all groups, and never for role groups (4.5/can_manage_group)', async () => {
    const realm = await newRealm({ can_manage_all_groups: administrators.id });
    const { owner, admin, moderator, member, bot } = realm.people;
    const groupId = await createGroup(realm, member, {
      can_add_members_group: members.id,
      can_remove_members_group: members.id,
    });
    for (const who of [member, admin, owner]) {
      expect((await edit(realm, who, groupId, { description: who.email })).status).toBe(200);
    }
    for (const who of [moderator, bot]) {
      expect(await edit(realm, who, groupId, { description: who.email })).toMatchObject(refused);
    }
    for (const id of [members.id, nobody.id, 999_999, 0]) {
      expect(await edit(realm, owner, id, { description: 'mine' })).toMatchObject(refused);
    }
  });

  it('reactivates a group with "deactivated" false', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    expect((await realm.call(deactivate, member, {}, { path: { user_group_id: groupId } })).status).toBe(200);
    expect((await edit(realm, member, groupId, { description: 'while it rests' })).status).toBe(200);
    expect(await tryToCreate(realm, member, { can_join_group: groupId })).toMatchObject(refused);
    const before = await lastNumber(realm);
    expect((await edit(realm, member, groupId, { deactivated: false })).status).toBe(200);
    expect(await toldOfGroups(realm, before)).toEqual([
      { op: 'update', group_id: groupId, data: { deactivated: false } },
      { op: 'add', group_id: groupId },
    ]);
    expect(await groupOf(realm, groupId)).toMatchObject({
      deactivated: false,
      description: 'while it rests',
    });
    await createGroup(realm, member, { can_join_group: groupId, subgroups: [groupId] });
  });

  it('never mixes two concurrent edits', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member, { description: '0' });
    const before = await lastNumber(realm);
    const old = nobody.id;
    const replies = await Promise.all(
      ['1', '2', '3', '4'].map((description, i) => {
        const value = [members.id, moderators.id, administrators.id, owners.id][i];
        return edit(realm.container(), member, groupId, { description, can_join_group: { new: value, old } });
      }),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    for (const { status, body } of replies)
      if (status === 400) expect(body.code).toBe('EXPECTATION_MISMATCH');
    const won = replies.findIndex(({ status }) => status === 200);
    expect(await groupOf(realm, groupId)).toMatchObject({
      description: String(won + 1),
      can_join_group: [members.id, moderators.id, administrators.id, owners.id][won],
    });
    expect(await toldOfGroups(realm, before)).toHaveLength(2);
  });

  it('ends in the state of the last event after concurrent edits of one thing', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((description) =>
        edit(realm.container(), member, groupId, { description }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const events = (await toldOfGroups(realm, before)) as { data: object }[];
    expect(events).toHaveLength(5);
    expect(await groupOf(realm, groupId)).toMatchObject(events.at(-1)?.data ?? {});
  });

  it('takes 3 round trips cold and 2 warm', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const named = await createGroup(realm, member);
    const container = realm.container();
    const given = { name: 'x', description: 'y', can_join_group: { new: named } };
    expect((await edit(container, member, groupId, given)).status).toBe(200);
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    expect((await edit(container, member, groupId, { name: 'z' })).status).toBe(200);
    expect(container.meter.roundTrips).toBe(2);
  });

  it.each([
    ['deactivated', '"false"'],
    ['deactivated', '0'],
    ['can_join_group', '3'],
    ['can_join_group', '{"old":3}'],
    ['can_join_group', '{"new":"3"}'],
    ['can_join_group', '{"new":3,"newer":4}'],
    ['can_join_group', '{"new":{"direct_members":[]}}'],
    ['can_join_group', '{"new":null}'],
    ['description', 'x'.repeat(10_001)],
  ])('refuses %s = %s', async (name, value) => {
    const realm = await newRealm();
    const groupId = await createGroup(realm, realm.people.member);
    expect(await edit(realm, realm.people.member, groupId, { [name]: value })).toMatchObject(refused);
  });
});
