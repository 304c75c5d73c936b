import { describe, expect, it } from 'vitest';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { type ChannelGroupName, channelGroupNames } from '../../shared/model/channel/channel.ts';
import { onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import {
  edit,
  edited,
  expectRefused,
  noticesAfter,
  storedChannel,
  toldOfChannels,
} from '../support/channel-state.ts';
import { givenChangedUser, givenChannel, givenGroup, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const { nobody, owners, administrators, moderators, fullMembers, members, everyone, internet } = systemGroups;
const mismatch = { status: 400, body: { code: 'EXPECTATION_MISMATCH', field_name: 'old' } };

/** The settings that the everyone group cannot be given (wire facts 4.5). */
const notForEveryone: readonly ChannelGroupName[] = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
];

describe('the group settings of a channel (specification 2.2 and 4.2, wire facts 4.5)', () => {
  it.each(channelGroupNames)(
    'accept for %s the system groups of its row, and send an event (2.2/integer)',
    async (name) => {
      const realm = await newRealm();
      const { owner } = realm.people;
      const { channelId } = await givenChannel(realm, {}, [owner]);
      for (const { id } of Object.values(systemGroups)) {
        const before = await lastNumber(realm);
        const { groups } = await storedChannel(realm, channelId);
        const { status } = await edit(realm, owner, channelId, { [name]: { new: id } });
        const isForbidden = id === internet.id || (id === everyone.id && notForEveryone.includes(name));
        expect({ id, status }).toEqual({ id, status: isForbidden ? 400 : 200 });
        const told = (await toldOfChannels(realm, before)).filter(({ property }) => property === name);
        expect(told).toHaveLength(isForbidden || groups[name] === id ? 0 : 1);
        if (!isForbidden) expect((await storedChannel(realm, channelId)).groups[name]).toBe(id);
      }
    },
  );

  it.each(channelGroupNames)(
    'accept for %s users and named groups, and return their normal form (2.2/object)',
    async (name) => {
      const realm = await newRealm();
      const { owner, member, admin } = realm.people;
      const { groupId } = await givenGroup(realm);
      const { channelId, name: channelName } = await givenChannel(realm, {}, [owner]);
      const before = await lastNumber(realm);
      const people = [member.userId, admin.userId, member.userId];
      await edited(realm, owner, channelId, {
        [name]: { new: { direct_members: people, direct_subgroups: [groupId] } },
      });
      const value = {
        direct_members: [admin.userId, member.userId].sort((a, b) => a - b),
        direct_subgroups: [groupId],
      };
      expect((await storedChannel(realm, channelId)).groups[name]).toEqual(value);
      const event = { type: 'stream', op: 'update', stream_id: channelId, name: channelName };
      expect(await toldOfChannels(realm, before)).toContainEqual({ ...event, property: name, value });
      // "An object with no members and exactly one subgroup becomes that group's ID."
      await edited(realm, owner, channelId, {
        [name]: { new: { direct_members: [], direct_subgroups: [groupId] }, old: value },
      });
      expect((await storedChannel(realm, channelId)).groups[name]).toBe(groupId);
      // "An object with neither becomes the nobody group."
      await edited(realm, owner, channelId, {
        [name]: { new: { direct_members: [], direct_subgroups: [] } },
      });
      expect((await storedChannel(realm, channelId)).groups[name]).toBe(nobody.id);
    },
  );

  it('are compared in any order and form: "If old sent and differs from current: EXPECTATION_MISMATCH" (2.2/old)', async () => {
    const realm = await newRealm();
    const { owner, member, admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const name = 'can_resolve_topics_group';
    await expectRefused(realm, owner, channelId, { [name]: { new: 4, old: 5 } }, mismatch);
    // Even if the new value is the current one.
    await expectRefused(realm, owner, channelId, { [name]: { new: nobody.id, old: 5 } }, mismatch);
    const empty = { direct_members: [], direct_subgroups: [] };
    const both = { direct_members: [member.userId, admin.userId], direct_subgroups: [4, 5] };
    await edited(realm, owner, channelId, { [name]: { new: both, old: empty } });
    const turned = { direct_members: [admin.userId, member.userId], direct_subgroups: [5, 4] };
    await edited(realm, owner, channelId, { [name]: { new: 4, old: turned } });
    await edited(realm, owner, channelId, { [name]: { new: 5, old: null } });
  });

  it('need content access for "can_add_subscribers_group" and "can_subscribe_group" only', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    for (const name of channelGroupNames) {
      const { channelId } = await givenChannel(realm, { isPrivate: true });
      const given = { [name]: { new: owners.id } };
      if (name === 'can_add_subscribers_group' || name === 'can_subscribe_group') {
        await expectRefused(realm, admin, channelId, given);
      } else {
        await edited(realm, admin, channelId, given);
      }
    }
  });

  it('cannot be used by the request that grants them', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    const own = { new: onlyUser(admin.userId) };
    await expectRefused(realm, admin, channelId, {
      can_administer_channel_group: own,
      can_subscribe_group: own,
    });
    await expectRefused(realm, admin, channelId, { is_private: false, can_subscribe_group: own });
  });

  it('refuse unknown, foreign and deactivated groups and users, and name the first', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm);
    const gone = await givenUser(realm);
    await givenChangedUser(realm, gone, { isActive: false });
    const closed = await givenGroup(realm, { deactivated: true });
    for (const value of [
      999_999,
      0,
      -1,
      closed.groupId,
      owner.userId,
      { direct_members: [], direct_subgroups: [moderators.id, 999_999] },
      { direct_members: [], direct_subgroups: [moderators.id, internet.id] },
      { direct_members: [999_999], direct_subgroups: [] },
      { direct_members: [gone.userId], direct_subgroups: [] },
      { direct_members: Array.from({ length: 501 }, (_, i) => i + 1), direct_subgroups: [] },
    ]) {
      await expectRefused(realm, owner, channelId, { can_send_message_group: { new: value } });
    }
  });

  it.each([
    '3',
    '{"old":3}',
    '{"new":"3"}',
    '{"new":3,"newer":4}',
    '{"new":{"direct_members":[]}}',
    '{"new":null}',
  ])('refuse %s as an update object (2.2/new)', async (value) => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await expectRefused(realm, realm.people.owner, channelId, { can_send_message_group: value });
  });

  it('refuse more groups than one transaction can check to be active', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const ids: number[] = [];
    for (let i = 0; i < 41; i++) ids.push((await givenGroup(realm)).groupId);
    const naming = (count: number) => ({
      can_send_message_group: { new: { direct_members: [], direct_subgroups: ids.slice(0, count) } },
    });
    await expectRefused(realm, realm.people.owner, channelId, naming(41));
    await edited(realm, realm.people.owner, channelId, naming(40));
  });

  it('prevent the deactivation of a group as long as they name it', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { groupId } = await givenGroup(realm);
    const { channelId } = await givenChannel(realm);
    const end = () => realm.call(deactivate, owner, {}, { path: { user_group_id: groupId } });
    await edited(realm, owner, channelId, { can_send_message_group: { new: groupId } });
    expect((await end()).body.code).toBe('CANNOT_DEACTIVATE_GROUP_IN_USE');
    await edited(realm, owner, channelId, {
      can_send_message_group: { new: everyone.id },
      can_resolve_topics_group: { new: groupId },
    });
    expect((await end()).body.code).toBe('CANNOT_DEACTIVATE_GROUP_IN_USE');
    await edited(realm, owner, channelId, { can_resolve_topics_group: { new: nobody.id } });
    expect((await end()).status).toBe(200);
  });

  it('send changes of the posting permission in the form of old clients too, with a notice in the channel (wire facts 4.6, 4.7)', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const { channelId } = await givenChannel(realm);
    const properties = async (value: unknown) => {
      const before = await lastNumber(realm);
      await edited(realm, owner, channelId, { can_send_message_group: { new: value } });
      expect(await noticesAfter(realm, before)).toHaveLength(1);
      return (await toldOfChannels(realm, before)).map(({ property, value }) => [property, value]);
    };
    const own = 'can_send_message_group';
    expect(await properties(administrators.id)).toEqual([
      [own, administrators.id],
      ['stream_post_policy', 2],
      ['is_announcement_only', true],
    ]);
    expect(await properties(fullMembers.id)).toEqual([
      [own, fullMembers.id],
      ['stream_post_policy', 3],
      ['is_announcement_only', false],
    ]);
    expect(await properties(members.id)).toEqual([
      [own, members.id],
      ['stream_post_policy', 1],
      ['is_announcement_only', false],
    ]);
    expect(await properties(onlyUser(member.userId))).toEqual([[own, onlyUser(member.userId)]]);
  });

  it('cause no notice in the channel if other settings change (wire facts 4.7)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    const others = channelGroupNames.filter((name) => name !== 'can_send_message_group');
    await edited(
      realm,
      owner,
      channelId,
      Object.fromEntries(others.map((name) => [name, { new: moderators.id }])),
    );
    expect(await noticesAfter(realm, before)).toEqual([]);
    expect(await toldOfChannels(realm, before)).toHaveLength(others.length);
  });
});
