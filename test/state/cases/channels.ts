import { expect } from 'vitest';
import { handler as addDefault } from '../../../functions/channels/addDefault.ts';
import { handler as archive } from '../../../functions/channels/archive.ts';
import { handler as create } from '../../../functions/channels/create.ts';
import { handler as removeDefault } from '../../../functions/channels/removeDefault.ts';
import { handler as update } from '../../../functions/channels/update.ts';
import { handler as createGroup } from '../../../functions/defaultChannelGroups/create.ts';
import { handler as deleteGroup } from '../../../functions/defaultChannelGroups/delete.ts';
import { handler as updateGroup } from '../../../functions/defaultChannelGroups/update.ts';
import { handler as updateChannels } from '../../../functions/defaultChannelGroups/updateChannels.ts';
import { handler as updateUser } from '../../../functions/users/update.ts';
import { roles, systemGroups } from '../../../shared/model/permission/permission.ts';
import { givenChannel, givenGroup } from '../../support/given.ts';
import { sent } from '../../support/messages.ts';
import type { Person, TestRealm } from '../../support/realm.ts';
import { changed } from '../../support/realm-state.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

const change = (realm: TestRealm, as: Person, stream_id: number, given: object) =>
  done(realm, update, as, { ...given }, { path: { stream_id } });

const { administrators, moderators, members } = systemGroups;

export const channelCases: readonly Case[] = [
  {
    title: 'channels are created with and without subscribers (companion facts 4.4)',
    calls: [create],
    run: async (realm) => {
      const { admin, guest, member } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, create, member, { name: 'Tea', subscribers: [] });
      await settle();
      await done(realm, create, admin, { name: 'Cake', subscribers: [guest.userId], invite_only: true });
      await settle();
      await done(realm, create, admin, { name: 'Jam', subscribers: [admin.userId], is_default_stream: true });
      await settle();
    },
  },
  {
    title: 'everything about a public channel is changed, at once and one by one',
    calls: [update],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { general } = realm.channels;
      const { settle } = await follow(realm, [['bot', 'modern']]);
      await change(realm, owner, general, {
        new_name: 'Kitchen',
        description: '*cooking*',
        message_retention_days: '30',
        topics_policy: 'disable_empty_topic',
        can_send_message_group: { new: administrators.id },
        can_administer_channel_group: { new: { direct_members: [member.userId], direct_subgroups: [] } },
        is_default_stream: false,
      });
      const heard = await settle();
      expect(heard.guest?.map(({ type }) => type)).not.toContain('default_streams');
      await change(realm, member, general, { can_send_message_group: { new: moderators.id } });
      await settle();
      await change(realm, owner, general, { message_retention_days: 'realm_default' });
      await settle();
    },
  },
  {
    title: 'a private channel is shown to everybody, and hidden again',
    calls: [update],
    settings: { enable_spectator_access: true },
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
      const { settle } = await follow(realm);
      await change(realm, owner, channelId, { is_private: false });
      const { guest } = await settle();
      expect(guest).toBeUndefined();
      await change(realm, owner, channelId, { is_web_public: true });
      expect((await settle()).guest?.map(({ op }) => op)).toContain('create');
      await sent(realm, member, { to: channelId });
      await change(realm, owner, channelId, { is_private: true, is_web_public: false });
      const heard = await settle();
      const told = heard.member?.filter(({ type }) => type === 'stream').map(({ op }) => op);
      expect(told).toEqual(['delete']);
    },
  },
  {
    title: 'a private channel is opened to a group and closed again',
    calls: [update],
    run: async (realm) => {
      const { owner, member, guest } = realm.people;
      const { groupId } = await givenGroup(realm, { members: [member, guest] });
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
      const { settle } = await follow(realm);
      await change(realm, owner, channelId, { can_subscribe_group: { new: groupId } });
      await settle();
      await change(realm, owner, channelId, { can_add_subscribers_group: { new: members.id } });
      await settle();
      await change(realm, owner, channelId, {
        can_subscribe_group: { new: systemGroups.nobody.id },
        can_add_subscribers_group: { new: systemGroups.nobody.id },
        description: 'secret',
      });
      const heard = await settle();
      expect(heard.guest).toBeUndefined();
      expect(JSON.stringify(heard.member)).not.toContain('secret');
    },
  },
  {
    title: 'what is changed of a private channel is not told to those who may not know of it',
    calls: [update, archive],
    run: async (realm) => {
      const { owner, admin } = realm.people;
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
      const { settle } = await follow(realm);
      await change(realm, owner, channelId, { new_name: 'Hidden', can_send_message_group: { new: 2 } });
      expect(Object.keys(await settle()).sort()).toEqual(['admin', 'owner']);
      await done(realm, archive, admin, {}, { path: { stream_id: channelId } });
      expect(Object.keys(await settle()).sort()).toEqual(['admin', 'owner']);
    },
  },
  {
    title: 'a channel is archived and comes back, to its subscribers as theirs',
    calls: [archive, update],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { random } = realm.channels;
      await sent(realm, member, { to: random });
      const { settle } = await follow(realm, [['member', 'old']]);
      await done(realm, archive, owner, {}, { path: { stream_id: random } });
      await settle();
      await change(realm, owner, random, { is_archived: false });
      await settle();
    },
  },
  {
    title: 'a default channel is archived, which a setting of the organization names',
    calls: [archive],
    run: async (realm) => {
      const { owner } = realm.people;
      const { general } = realm.channels;
      await changed(realm, owner, { new_stream_announcements_stream_id: general });
      const { settle } = await follow(realm);
      await done(realm, archive, owner, {}, { path: { stream_id: general } });
      await settle();
    },
  },
  {
    title: 'channels become default ones and no more',
    calls: [addDefault, removeDefault],
    run: async (realm) => {
      const { admin } = realm.people;
      const { general, random } = realm.channels;
      const { settle } = await follow(realm);
      await done(realm, addDefault, admin, { stream_id: random });
      expect((await settle()).guest).toBeUndefined();
      await done(realm, removeDefault, admin, { stream_id: general });
      expect((await settle()).guest).toBeUndefined();
    },
  },
  {
    title:
      'channels are grouped, and leave the list of a group while they are of another kind (companion facts 4.8)',
    calls: [
      createGroup,
      updateGroup,
      updateChannels,
      deleteGroup,
      addDefault,
      removeDefault,
      update,
      archive,
    ],
    run: async (realm) => {
      const { admin, guest } = realm.people;
      const { channelId, name } = await givenChannel(realm, {}, [admin]);
      const { random } = realm.channels;
      const { settle } = await follow(realm);
      const asked = { group_name: 'Makers', description: 'What we make', stream_names: [name] };
      const { id: group_id } = await done(realm, createGroup, admin, asked);
      expect((await settle()).guest).toBeUndefined();
      const path = { group_id };
      await done(realm, updateGroup, admin, { new_group_name: 'Builders' }, { path });
      await done(realm, updateChannels, admin, { op: 'add', stream_names: ['random'] }, { path });
      await settle();
      const steps = [
        () => done(realm, addDefault, admin, { stream_id: random }),
        () => done(realm, removeDefault, admin, { stream_id: random }),
        () => change(realm, admin, channelId, { is_private: true }),
        () => change(realm, admin, channelId, { is_private: false }),
        () => done(realm, archive, admin, {}, { path: { stream_id: channelId } }),
        () => change(realm, admin, channelId, { is_archived: false }),
        () => done(realm, updateUser, admin, { role: roles.member }, { path: { user: guest.userId } }),
        () => done(realm, updateUser, admin, { role: roles.guest }, { path: { user: guest.userId } }),
      ];
      for (const step of steps) {
        await step();
        await settle();
      }
      await done(realm, updateChannels, admin, { op: 'remove', stream_names: [name] }, { path });
      await settle();
      await done(realm, deleteGroup, admin, {}, { path });
      await settle();
    },
  },
];
