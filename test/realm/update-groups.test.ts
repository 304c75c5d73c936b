import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type RealmGroupName, realmGroupNames, realmGroupRules } from '../../shared/model/realm/realm.ts';
import { givenChangedUser, givenGroup, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { change, changed, expectRefused, payloadsAfter, storedRealm } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, owners, administrators, moderators, fullMembers, members, everyone, internet } = systemGroups;
const systemOnly = ['can_create_web_public_channel_group', 'can_access_all_users_group'];

/** What the settings may be given to, besides what all may: `nobody`, `everyone`. */
const told = {
  can_mention_many_users_group: [true, true],
  direct_message_permission_group: [true, true],
  direct_message_initiator_group: [true, true],
  can_create_public_channel_group: [true, false],
  can_create_private_channel_group: [true, false],
  can_create_web_public_channel_group: [true, false],
  can_create_bots_group: [true, false],
  can_invite_users_group: [true, false],
  create_multiuse_invite_group: [true, false],
  can_create_groups: [true, false],
  can_manage_all_groups: [false, false],
  can_add_custom_emoji_group: [true, false],
  can_add_subscribers_group: [true, false],
  can_set_topics_policy_group: [true, true],
  can_delete_any_message_group: [true, false],
  can_delete_own_message_group: [true, true],
  can_move_messages_between_channels_group: [true, false],
  can_move_messages_between_topics_group: [true, true],
  can_resolve_topics_group: [true, true],
  can_access_all_users_group: [false, true],
} as const satisfies Readonly<Record<RealmGroupName, readonly [boolean, boolean]>>;

describe('a group setting of the organization (specification 2.2, wire facts 3.7, 3.8, 4.3, 4.5)', () => {
  it.each(realmGroupNames)('%s takes the groups it may have, and no others', async (name) => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const [toNobody, toEveryone] = told[name];
    const allowed: number[] = systemOnly.includes(name)
      ? []
      : [owners, administrators, moderators, fullMembers, members].map(({ id }) => id);
    if (name === 'can_create_web_public_channel_group') {
      allowed.push(owners.id, administrators.id, moderators.id);
    }
    if (name === 'can_access_all_users_group') allowed.push(members.id);
    if (toNobody) allowed.push(nobody.id);
    if (toEveryone) allowed.push(everyone.id);
    for (const { id } of Object.values(systemGroups)) {
      const { status } = await change(realm, owner, { [name]: { new: id } });
      expect([id, status], name).toEqual([id, allowed.includes(id) ? 200 : 400]);
    }
  });

  it('accepts users and named groups, and sends their normal form in the event', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const { groupId } = await givenGroup(realm, { members: [member] });
    const before = await lastNumber(realm);
    const listed = {
      direct_members: [guest.userId, member.userId, guest.userId],
      direct_subgroups: [groupId],
    };
    await changed(realm, admin, {
      can_create_bots_group: { new: listed },
      can_resolve_topics_group: { new: { direct_members: [], direct_subgroups: [groupId] } },
      can_mention_many_users_group: { new: { direct_members: [], direct_subgroups: [] } },
    });
    const settings = {
      can_mention_many_users_group: nobody.id,
      can_create_bots_group: {
        direct_members: [member.userId, guest.userId].sort((a, b) => a - b),
        direct_subgroups: [groupId],
      },
      can_resolve_topics_group: groupId,
    };
    expect((await storedRealm(realm)).settings).toMatchObject(settings);
    expect(await payloadsAfter(realm, before)).toEqual(
      // Users who may create bots may create incoming webhooks too, which is a separate setting in the API.
      Object.entries({ ...settings, can_create_write_only_bots_group: settings.can_create_bots_group }).map(
        ([name, value]) => ({
          type: 'realm',
          op: 'update_dict',
          property: 'default',
          data: { [name]: value },
        }),
      ),
    );
  });

  it('is compared with the expected old value, in any order', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const [a, b] = [member.userId, guest.userId];
    const listed = (ids: number[]) => ({ direct_members: ids, direct_subgroups: [] });
    const mismatch = { status: 400, body: { code: 'EXPECTATION_MISMATCH', field_name: 'old' } };
    await changed(realm, admin, { can_create_bots_group: { new: listed([a, b]), old: members.id } });
    await expectRefused(
      realm,
      admin,
      { can_create_bots_group: { new: nobody.id, old: members.id } },
      mismatch,
    );
    // Even what would change nothing is refused then.
    await expectRefused(
      realm,
      admin,
      { can_create_bots_group: { new: listed([a, b]), old: members.id } },
      mismatch,
    );
    await changed(realm, admin, { can_create_bots_group: { new: nobody.id, old: listed([b, a]) } });
    await changed(realm, admin, { can_create_bots_group: { new: members.id, old: null } });
  });

  it('refuses unknown or deactivated groups and users (wire facts 4.5)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { groupId } = await givenGroup(realm, { deactivated: true });
    const gone = await givenUser(realm);
    await givenChangedUser(realm, gone, { isActive: false });
    const listed = (people: number[], groups: number[]) => ({
      direct_members: people,
      direct_subgroups: groups,
    });
    for (const value of [
      groupId,
      999_999,
      0,
      -1,
      listed([], [groupId, moderators.id]),
      listed([gone.userId], []),
      listed([999_999], []),
      listed([], [internet.id, moderators.id]),
      listed([], [everyone.id, moderators.id]),
    ]) {
      await expectRefused(realm, admin, { can_create_bots_group: { new: value } });
    }
  });

  it.each(systemOnly)('%s accepts only system groups (wire facts 4.3, 4.5)', async (name) => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const { groupId } = await givenGroup(realm);
    const listed = { direct_members: [owner.userId], direct_subgroups: [] };
    for (const value of [groupId, listed]) {
      const required = { status: 400, body: { code: 'SYSTEM_GROUP_REQUIRED', setting_name: name } };
      await expectRefused(realm, admin, { [name]: { new: value } }, required);
    }
  });

  it('refuses more groups than every request reads', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const people = await Promise.all(Array.from({ length: 41 }, () => givenGroup(realm)));
    const ids = people.map(({ groupId }) => groupId);
    const listed = { direct_members: [], direct_subgroups: ids };
    await expectRefused(realm, admin, { can_create_bots_group: { new: listed } });
    await changed(realm, admin, {
      can_create_bots_group: { new: { ...listed, direct_subgroups: ids.slice(1) } },
    });
    const all = Object.fromEntries(
      realmGroupNames
        .filter((name) => !realmGroupRules[name].systemOnly)
        .filter((name) => !['can_create_groups', 'can_manage_all_groups'].includes(name))
        .map((name) => [name, { new: { ...listed, direct_subgroups: ids.slice(1) } }]),
    );
    // 14 settings of 40 groups each are more than 500.
    await expectRefused(realm, admin, all);
  });

  it.each([{ members: [6] }, { new: '6' }, { old: 6 }, { new: { direct_members: [] } }, 6, null])(
    'refuses %o, which is not a change of a setting (specification 2.2)',
    async (value) => {
      const realm = await newRealm();
      await expectRefused(realm, realm.people.admin, { can_create_bots_group: value });
    },
  );
});

describe('a group that a setting of the organization names', () => {
  it('cannot be deactivated until no setting names it (wire facts 1.4)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { groupId } = await givenGroup(realm);
    const rest = () => realm.call(deactivate, owner, {}, { path: { user_group_id: groupId } });
    await changed(realm, owner, { direct_message_permission_group: { new: groupId } });
    expect(await rest()).toMatchObject({
      status: 400,
      body: {
        code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
        objections: [{ type: 'realm', settings: ['direct_message_permission_group'] }],
      },
    });
    await changed(realm, owner, { direct_message_permission_group: { new: everyone.id } });
    expect((await rest()).status).toBe(200);
  });

  it('is not confused with another setting of the same number', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { groupId } = await givenGroup(realm);
    await changed(realm, owner, { message_content_edit_limit_seconds: groupId });
    const reply = await realm.call(deactivate, owner, {}, { path: { user_group_id: groupId } });
    expect(reply.status).toBe(200);
  });
});
