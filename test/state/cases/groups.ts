import { expect } from 'vitest';
import { handler as subscribe } from '../../../functions/subscriptions/add.ts';
import { handler as create } from '../../../functions/userGroups/create.ts';
import { handler as deactivate } from '../../../functions/userGroups/deactivate.ts';
import { handler as update } from '../../../functions/userGroups/update.ts';
import { handler as updateMembers } from '../../../functions/userGroups/updateMembers.ts';
import { handler as updateSubgroups } from '../../../functions/userGroups/updateSubgroups.ts';
import { systemGroups } from '../../../shared/model/permission/permission.ts';
import { givenGroup, givenUser } from '../../support/given.ts';
import type { TestRealm } from '../../support/realm.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

const at = (user_group_id: number) => ({ path: { user_group_id } });

/** Puts a user into a group or takes them out. */
const change = (realm: TestRealm, groupId: number, given: object) =>
  done(realm, updateMembers, realm.people.owner, { ...given }, at(groupId));

/** A private channel of the owner's with these settings. */
const givenNaming = (realm: TestRealm, groups: object) =>
  done(realm, subscribe, realm.people.owner, {
    subscriptions: [{ name: `naming ${Object.keys(groups)}` }],
    invite_only: true,
    ...groups,
  });

export const groupCases: readonly Case[] = [
  {
    title: 'groups are created, with people and groups in them',
    calls: [create],
    run: async (realm) => {
      const { member, guest, bot } = realm.people;
      const { groupId: inner } = await givenGroup(realm);
      const { settle } = await follow(realm);
      await done(realm, create, member, {
        name: 'Cooks',
        description: 'who cook',
        members: [guest.userId, bot.userId],
        subgroups: [inner, systemGroups.moderators.id],
        can_mention_group: { direct_members: [member.userId], direct_subgroups: [inner] },
      });
      await settle();
    },
  },
  {
    title: 'a group with very many people is created',
    calls: [create],
    run: async (realm) => {
      const { member } = realm.people;
      const people = await Promise.all(Array.from({ length: 50 }, () => givenUser(realm)));
      const { settle } = await follow(realm);
      const members = people.map(({ userId }) => userId);
      await done(realm, create, member, { name: 'Crowd', description: '', members });
      await settle();
    },
  },
  {
    title: 'everything about a group is changed',
    calls: [update],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { groupId } = await givenGroup(realm);
      const { settle } = await follow(realm);
      await done(
        realm,
        update,
        owner,
        {
          name: 'Renamed',
          description: 'new',
          can_manage_group: { new: { direct_members: [member.userId], direct_subgroups: [] } },
          can_mention_group: { new: systemGroups.administrators.id },
        },
        at(groupId),
      );
      await settle();
    },
  },
  {
    title: 'a group is taken out of use and taken up again',
    calls: [deactivate, update],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { groupId } = await givenGroup(realm, { members: [member] });
      const { settle } = await follow(realm);
      await done(realm, deactivate, owner, {}, at(groupId));
      await settle();
      await done(realm, update, owner, { name: 'Sleeping' }, at(groupId));
      await settle();
      await done(realm, update, owner, { deactivated: false }, at(groupId));
      await settle();
    },
  },
  {
    title: 'people come into a group and leave it, and with it sight of private channels',
    calls: [updateMembers],
    run: async (realm) => {
      const { member, guest } = realm.people;
      const { groupId } = await givenGroup(realm);
      const outer = await givenGroup(realm, { subgroups: [groupId] });
      await givenNaming(realm, { can_subscribe_group: groupId });
      await givenNaming(realm, { can_administer_channel_group: outer.groupId });
      const ids = [member.userId, guest.userId];
      const { settle } = await follow(realm);
      await change(realm, groupId, { add: ids });
      const heard = await settle();
      expect(heard.member?.map(({ op }) => op)).toContain('create');
      expect(heard.guest?.map(({ type }) => type)).not.toContain('stream');
      await change(realm, groupId, { delete: ids });
      await settle();
    },
  },
  {
    title: 'groups come into a group and leave it, and with it sight of private channels',
    calls: [updateSubgroups, updateMembers],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const inner = await givenGroup(realm, { members: [member] });
      const { groupId } = await givenGroup(realm);
      await givenNaming(realm, { can_subscribe_group: groupId });
      const { settle } = await follow(realm);
      await done(realm, updateSubgroups, owner, { add: [inner.groupId] }, at(groupId));
      await settle();
      await done(realm, updateSubgroups, owner, { delete: [inner.groupId] }, at(groupId));
      await settle();
      await change(realm, groupId, { add_subgroups: [systemGroups.members.id] });
      await settle();
      await change(realm, groupId, { delete_subgroups: [systemGroups.members.id] });
      await settle();
    },
  },
];
