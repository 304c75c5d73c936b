import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/userGroups/create.ts';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser } from '../support/given.ts';
import { createGroup, groupOf, membersOf, toldOfGroups, tryToCreate } from '../support/group-state.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, administrators, moderators, everyone } = systemGroups;

describe('POST /user_groups/create', () => {
  it('creates a group with the defaults of its creator ("reported as an object", wire facts 7) (4.5/group_id, 2.7/fields)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const before = await lastNumber(realm);
    const groupId = await createGroup(realm, member, {
      name: 'Cooks',
      description: 'Who cook.',
      members: [guest.userId, member.userId],
    });
    const creatorOnly = { direct_members: [member.userId], direct_subgroups: [] };
    const group = {
      id: groupId,
      name: 'Cooks',
      description: 'Who cook.',
      creator_id: member.userId,
      date_created: Math.floor(realm.outside.now() / 1000),
      members: [member.userId, guest.userId].sort((a, b) => a - b),
      direct_subgroup_ids: [],
      is_system_group: false,
      can_add_members_group: creatorOnly,
      can_join_group: nobody.id,
      can_leave_group: everyone.id,
      can_manage_group: creatorOnly,
      can_mention_group: everyone.id,
      can_remove_members_group: nobody.id,
      deactivated: false,
    };
    const { date_created, ...stored } = await groupOf(realm, groupId);
    expect({ ...stored, date_created: group.date_created }).toEqual(group);
    expect(Math.abs(date_created - group.date_created)).toBeLessThanOrEqual(2);
    expect(await toldOfGroups(realm, before)).toEqual([{ op: 'add', group: { ...group, date_created } }]);
  });

  it('sends subgroups in a second event (wire facts 7: "a second add_subgroups follows") (4.5/subgroups, 2.7/fields)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const inner = await createGroup(realm, member);
    const before = await lastNumber(realm);
    const outer = await createGroup(realm, member, { subgroups: [moderators.id, inner, inner] });
    expect(await toldOfGroups(realm, before)).toMatchObject([
      { op: 'add', group: { id: outer, direct_subgroup_ids: [] } },
      { op: 'add_subgroups', group_id: outer, direct_subgroup_ids: [moderators.id, inner] },
    ]);
    expect((await groupOf(realm, outer)).direct_subgroup_ids).toEqual([moderators.id, inner]);
  });

  it('lets the creator add subgroups "irrespective of other permissions" (4.5/subgroups-any)', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const closed = await createGroup(realm, owner, { can_mention_group: nobody.id });
    const groupId = await createGroup(realm, member, {
      subgroups: [closed],
      can_add_members_group: nobody.id,
      can_manage_group: nobody.id,
    });
    expect((await groupOf(realm, groupId)).direct_subgroup_ids).toEqual([closed]);
  });

  it('accepts bots as callers and as members (specification 4.5: "bot users may call this operation") (4.5/bots)', async () => {
    const realm = await newRealm();
    const { bot } = realm.people;
    const groupId = await createGroup(realm, bot, { members: [bot.userId] });
    expect(await membersOf(realm, groupId)).toEqual([bot.userId]);
  });

  it('refuses guests and users who are not in can_create_groups (wire facts 7)', async () => {
    const realm = await newRealm({
      can_create_groups: { direct_members: [], direct_subgroups: [administrators.id, everyone.id] },
    });
    expect((await tryToCreate(realm, realm.people.guest)).body).toMatchObject({ code: 'BAD_REQUEST' });
    const strict = await newRealm({ can_create_groups: administrators.id });
    expect(await tryToCreate(strict, strict.people.member)).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    });
    await createGroup(strict, strict.people.admin);
  });

  it.each([
    ['blank', '  '],
    ['empty', ''],
    ['too long', '😀'.repeat(101)],
    ['an at sign', '@cooks'],
    ['a role', 'role:cooks'],
    ['a user', 'user:cooks'],
    ['a stream', 'stream:cooks'],
    ['a channel', 'channel:cooks'],
  ])('refuses a name that is or begins with %s (wire facts 7)', async (_, name) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { status, body } = await tryToCreate(realm, realm.people.member, { name });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    expect(await toldOfGroups(realm, before)).toEqual([]);
  });

  it.each(['Role:cooks', 'x'.repeat(100), '😀'.repeat(100), ' padded ', "a/b%2F'"])(
    'accepts the name %j ("the prefix test is case-sensitive", wire facts 7)',
    async (name) => {
      const realm = await newRealm();
      expect((await groupOf(realm, await createGroup(realm, realm.people.member, { name }))).name).toBe(name);
    },
  );

  it('keeps names unique, "case-sensitive, and deactivated groups keep their names" (wire facts 7)', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const groupId = await createGroup(realm, member, { name: 'cooks' });
    expect((await tryToCreate(realm, owner, { name: 'cooks' })).body.code).toBe('BAD_REQUEST');
    await createGroup(realm, owner, { name: 'Cooks' });
    const path = { user_group_id: groupId };
    expect((await realm.call(deactivate, member, {}, { path })).status).toBe(200);
    expect((await tryToCreate(realm, owner, { name: 'cooks' })).body.code).toBe('BAD_REQUEST');
  });

  it('creates one group for several concurrent requests with the same name', async () => {
    const realm = await newRealm();
    const { member, owner, admin, moderator } = realm.people;
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      [member, owner, admin, moderator].map((who) => tryToCreate(realm.container(), who, { name: 'cooks' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    for (const { status, body } of replies) if (status === 400) expect(body.msg).toMatch(/already.*cooks/);
    expect(await toldOfGroups(realm, before)).toHaveLength(1);
  });

  it('names the invalid member (specification 4.5: "message names the invalid user ID") (4.5/unknown-member)', async () => {
    const realm = await newRealm();
    const other = await newRealm();
    const { member, guest } = realm.people;
    await givenChangedUser(realm, guest, { isActive: false });
    const stranger = await createGroup(other, other.people.member);
    for (const id of [guest.userId, 999_999, 0, -5, 2 ** 53 - 1, stranger]) {
      const { status, body } = await tryToCreate(realm, member, { members: [member.userId, id] });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
      expect(body.msg).toContain(String(id));
    }
  });

  it('refuses subgroups that are unknown or deactivated (wire facts 7)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const gone = await createGroup(realm, member);
    expect((await realm.call(deactivate, member, {}, { path: { user_group_id: gone } })).status).toBe(200);
    const foreign = await newRealm();
    // The other organization's numbers go further, so that its group's id means nothing here.
    for (let i = 0; i < 5; i++) await createGroup(foreign, foreign.people.member);
    const theirs = await createGroup(foreign, foreign.people.member);
    for (const id of [gone, theirs, 0, -1, 999_999]) {
      const { status, body } = await tryToCreate(realm, member, { subgroups: [id] });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
      expect(body.msg).toContain(String(id));
    }
  });

  it('reports only the first problem, in the order of wire facts 7', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await createGroup(realm, member, { name: 'taken' });
    const wrong = { name: 'role:x', members: [1], can_join_group: everyone.id, subgroups: [999_999] };
    const msg = async (given: object) => (await tryToCreate(realm, member, { ...wrong, ...given })).body.msg;
    expect(await msg({})).toContain('role:');
    expect(await msg({ name: 'taken' })).toContain('user ID: 1');
    expect(await msg({ name: 'taken', members: [] })).toContain('can_join_group');
    expect(await msg({ name: 'taken', members: [], can_join_group: nobody.id })).toContain('taken');
    expect(await msg({ name: 'free', members: [], can_join_group: nobody.id })).toContain('999999');
  });

  it('takes 3 round trips cold and 2 warm', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    const inner = await createGroup(realm, member);
    const container = realm.container();
    const given = { members: [member.userId, guest.userId], subgroups: [inner], can_join_group: inner };
    await createGroup(container, member, given);
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    await createGroup(container, member, { ...given, members: [admin.userId] });
    expect(container.meter.roundTrips).toBe(2);
    expect(container.meter.writeUnits).toBeLessThanOrEqual(21);
  });

  it.each([
    ['members', '["1"]'],
    ['members', 'null'],
    ['members', '7'],
    ['members', '[1.5]'],
    ['members', `[${2 ** 53}]`],
    ['members', JSON.stringify(Array.from({ length: 1_001 }, (_, i) => i))],
    ['subgroups', '{}'],
    ['subgroups', JSON.stringify(Array.from({ length: 41 }, (_, i) => i))],
    ['can_manage_group', '"7"'],
    ['can_manage_group', '{"direct_members":[1]}'],
    ['can_manage_group', '{"direct_members":[],"direct_subgroups":[],"more":1}'],
    ['can_manage_group', '{"new":3}'],
    ['description', 'x'.repeat(10_001)],
    ['name', 'a\0b'],
  ])('refuses %s = %s', async (name, value) => {
    const realm = await newRealm();
    const { status, body } = await tryToCreate(realm, realm.people.member, { [name]: value });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    expect(body.msg.length).toBeLessThan(200);
  });

  it.each(['name', 'description', 'members'])(
    'requires %s (specification 4.5: required) (4.5/name, 4.5/description, 4.5/members)',
    async (name) => {
      const realm = await newRealm();
      const { [name]: _, ...given }: Record<string, unknown> = { name: 'x', description: '', members: [] };
      expect(await realm.call(create, realm.people.member, given)).toMatchObject({
        status: 400,
        body: { code: 'REQUEST_VARIABLE_MISSING', var_name: name },
      });
    },
  );
});
