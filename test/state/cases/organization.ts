import { expect } from 'vitest';
import { handler as createFolder } from '../../../functions/channelFolders/create.ts';
import { handler as reorderFolders } from '../../../functions/channelFolders/reorder.ts';
import { handler as updateFolder } from '../../../functions/channelFolders/update.ts';
import { handler as updateChannel } from '../../../functions/channels/update.ts';
import { handler as addDomain } from '../../../functions/domains/add.ts';
import { handler as removeDomain } from '../../../functions/domains/remove.ts';
import { handler as updateDomain } from '../../../functions/domains/update.ts';
import { handler as addEmoji } from '../../../functions/emoji/add.ts';
import { handler as deactivateEmoji } from '../../../functions/emoji/deactivate.ts';
import { handler as deleteQueue } from '../../../functions/events/delete.ts';
import { handler as register } from '../../../functions/events/register.ts';
import { handler as createLinkifier } from '../../../functions/linkifiers/create.ts';
import { handler as deleteLinkifier } from '../../../functions/linkifiers/delete.ts';
import { handler as reorderLinkifiers } from '../../../functions/linkifiers/reorder.ts';
import { handler as updateLinkifier } from '../../../functions/linkifiers/update.ts';
import { handler as createPlayground } from '../../../functions/playgrounds/create.ts';
import { handler as deletePlayground } from '../../../functions/playgrounds/delete.ts';
import { handler as createField } from '../../../functions/profileFields/create.ts';
import { handler as deleteField } from '../../../functions/profileFields/delete.ts';
import { handler as reorderFields } from '../../../functions/profileFields/reorder.ts';
import { handler as updateField } from '../../../functions/profileFields/update.ts';
import { handler as deactivate } from '../../../functions/realm/deactivate.ts';
import { handler as removeIcon } from '../../../functions/realm/removeIcon.ts';
import { handler as removeLogo } from '../../../functions/realm/removeLogo.ts';
import { handler as setIcon } from '../../../functions/realm/setIcon.ts';
import { handler as setLogo } from '../../../functions/realm/setLogo.ts';
import { handler as testWelcome } from '../../../functions/realm/testWelcome.ts';
import { handler as updateRealm } from '../../../functions/realm/update.ts';
import { handler as updateNewUserSettings } from '../../../functions/realm/updateNewUserSettings.ts';
import { handler as removeAvatar } from '../../../functions/users/removeAvatar.ts';
import { handler as removeProfileData } from '../../../functions/users/removeProfileData.ts';
import { handler as setAvatar } from '../../../functions/users/setAvatar.ts';
import { handler as updateUser } from '../../../functions/users/update.ts';
import { handler as updateProfileData } from '../../../functions/users/updateProfileData.ts';
import { setInService } from '../../../shared/domain/realm-edit/service.ts';
import { systemGroups } from '../../../shared/model/permission/permission.ts';
import { types } from '../../support/field-state.ts';
import { givenChannel, givenUser } from '../../support/given.ts';
import { picture } from '../../support/pictures.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

const DAY = 86_400_000;

export const organizationCases: readonly Case[] = [
  {
    title: 'settings of the organization of every kind are changed',
    calls: [updateRealm],
    run: async (realm) => {
      const { owner } = realm.people;
      const closed = await givenChannel(realm, { isPrivate: true }, [owner]);
      const { settle } = await follow(realm);
      await done(realm, updateRealm, owner, {
        name: 'Ants',
        description: 'busy',
        topics_policy: 'disable_empty_topic',
        message_edit_history_visibility_policy: 'none',
        message_retention_days: '30',
        message_content_edit_limit_seconds: 'unlimited',
        enable_spectator_access: true,
        moderation_request_channel_id: closed.channelId,
        send_channel_events_messages: false,
      });
      await settle();
      const group = (id: number) => ({ new: id });
      await done(realm, updateRealm, owner, {
        can_create_public_channel_group: group(systemGroups.moderators.id),
        can_create_private_channel_group: group(systemGroups.nobody.id),
        can_create_web_public_channel_group: group(systemGroups.moderators.id),
        can_add_subscribers_group: {
          new: { direct_members: [owner.userId], direct_subgroups: [systemGroups.administrators.id] },
        },
      });
      await settle();
    },
  },
  {
    title: 'the settings of new accounts are changed (companion facts 4.3)',
    calls: [updateNewUserSettings],
    run: async (realm) => {
      const { admin } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, updateNewUserSettings, admin, { color_scheme: 2, presence_enabled: false });
      await settle();
      await done(realm, updateNewUserSettings, admin, { color_scheme: 1, web_home_view: 'recent' });
      await settle();
    },
  },
  {
    title: 'the welcome of new people is tried out by one administrator alone (companion facts 4.8)',
    calls: [testWelcome],
    run: async (realm) => {
      const { settle } = await follow(realm);
      await done(realm, testWelcome, realm.people.admin, { welcome_message_custom_text: 'Hello' });
      expect(Object.keys(await settle())).toEqual(['admin']);
    },
  },
  {
    title: 'the waiting period changes who is a full member, and what full members see',
    calls: [updateRealm],
    run: async (realm) => {
      const { owner } = realm.people;
      const person = await givenUser(realm, {
        dateJoined: new Date(realm.outside.now() - 5 * DAY).toISOString(),
      });
      const groups = { can_subscribe_group: systemGroups.fullMembers.id };
      await givenChannel(realm, { isPrivate: true, groups }, [owner]);
      const { settle } = await follow(realm, [[person, 'modern']]);
      for (const waiting_period_threshold of [10, 2, 0]) {
        await done(realm, updateRealm, owner, { waiting_period_threshold });
        await settle();
      }
    },
  },
  {
    title: 'linkifiers and playgrounds come, change and go (companion facts 4.1, 4.2)',
    calls: [
      createLinkifier,
      updateLinkifier,
      reorderLinkifiers,
      deleteLinkifier,
      createPlayground,
      deletePlayground,
    ],
    run: async (realm) => {
      const { admin } = realm.people;
      const { settle } = await follow(realm);
      const issue = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/{id}' };
      const ticket = { pattern: 'T(?P<id>[0-9]+)', url_template: 'https://x.example/{id}' };
      const { id: first } = await done(realm, createLinkifier, admin, issue);
      const { id: second } = await done(realm, createLinkifier, admin, ticket);
      await settle();
      const path = { filter_id: second };
      await done(realm, updateLinkifier, admin, { ...ticket, example_input: 'T7' }, { path });
      await done(realm, reorderLinkifiers, admin, { ordered_linkifier_ids: [second, first] });
      await settle();
      await done(realm, deleteLinkifier, admin, {}, { path });
      const rust = { name: 'Try it', pygments_language: 'Rust', url_template: 'https://x.example/{code}' };
      const { id: playground_id } = await done(realm, createPlayground, admin, rust);
      await settle();
      await done(realm, deletePlayground, admin, {}, { path: { playground_id } });
      await settle();
    },
  },
  {
    title: 'domains come, change and go, and with the last one the restriction',
    calls: [addDomain, updateDomain, removeDomain],
    run: async (realm) => {
      const { owner } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, addDomain, owner, { domain: 'example.org', allow_subdomains: false });
      await done(realm, addDomain, owner, { domain: 'example.net', allow_subdomains: true });
      await done(realm, updateRealm, owner, { emails_restricted_to_domains: true });
      await settle();
      await done(realm, updateDomain, owner, { allow_subdomains: true }, { path: { domain: 'example.org' } });
      await settle();
      for (const domain of ['example.org', 'example.net']) {
        await done(realm, removeDomain, owner, {}, { path: { domain } });
        await settle();
      }
    },
  },
  {
    title: 'emoji come and are deactivated (4.9)',
    calls: [addEmoji, deactivateEmoji],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      const path = { emoji_name: 'party' };
      const files = [await picture('png')];
      await done(realm, addEmoji, member, {}, { path, files });
      await settle();
      await done(realm, deactivateEmoji, member, {}, { path });
      await done(realm, addEmoji, member, {}, { path, files });
      await settle();
    },
  },
  {
    title: 'the organization goes out of service, and is as it was when it comes back (companion facts 4.8)',
    calls: [deactivate],
    run: async (realm) => {
      const { settle } = await follow(realm);
      await done(realm, deactivate, realm.people.owner);
      await setInService(realm.outside, realm.realm, true);
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'avatars, and the pictures of the organization, come and go (companion facts 4.8)',
    calls: [setAvatar, removeAvatar, setIcon, removeIcon, setLogo, removeLogo],
    run: async (realm) => {
      const { member, owner } = realm.people;
      const { settle } = await follow(realm);
      const files = [await picture('png')];
      await done(realm, setAvatar, member, {}, { files });
      await settle();
      await done(realm, setIcon, owner, {}, { files });
      for (const night of [true, false]) await done(realm, setLogo, owner, { night }, { files });
      await settle();
      await done(realm, removeAvatar, member);
      await done(realm, removeIcon, owner);
      await done(realm, removeLogo, owner, { night: true });
      await settle();
    },
  },
  {
    title: 'profile fields and what profiles say come, change and go (4.4)',
    calls: [
      createField,
      updateField,
      reorderFields,
      deleteField,
      updateProfileData,
      removeProfileData,
      updateUser,
    ],
    run: async (realm) => {
      const { admin, member, guest } = realm.people;
      const { settle } = await follow(realm);
      const { id: text } = await done(realm, createField, admin, {
        field_type: types.shortText,
        name: 'Text',
        display_in_profile_summary: true,
      });
      const { id: fruit } = await done(realm, createField, admin, {
        field_type: types.dropdown,
        name: 'Fruit',
        field_data: { a: { text: 'Apple', order: '1' }, b: { text: 'Pear', order: '2' } },
      });
      await settle();
      const data = [
        { id: text, value: '*x*' },
        { id: fruit, value: 'b' },
      ];
      await done(realm, updateProfileData, member, { data });
      await done(realm, updateUser, admin, { profile_data: data }, { path: { user: guest.userId } });
      await settle();
      await done(realm, reorderFields, admin, { order: [fruit, text] });
      await done(realm, removeProfileData, member, { data: [text] });
      await settle();
      const field_data = { a: { text: 'Apple', order: '1' } };
      await done(realm, updateField, admin, { field_data }, { path: { field_id: fruit } });
      await settle();
      await done(realm, deleteField, admin, {}, { path: { field_id: text } });
      await settle();
    },
  },
  {
    title: 'channel folders come, change and take channels (4.3)',
    calls: [createFolder, updateFolder, reorderFolders, updateChannel],
    run: async (realm) => {
      const { admin } = realm.people;
      const { general } = realm.channels;
      const { settle } = await follow(realm);
      const folder = async (name: string): Promise<number> =>
        (await done(realm, createFolder, admin, { name, description: '*x*' })).channel_folder_id;
      const [kitchen, cellar] = [await folder('Kitchen'), await folder('Cellar')];
      await settle();
      await done(realm, reorderFolders, admin, { order: [cellar, kitchen] });
      const path = { channel_folder_id: kitchen };
      await done(realm, updateFolder, admin, { name: 'Scullery', description: 'y' }, { path });
      const moved = { path: { stream_id: general } };
      await done(realm, updateChannel, admin, { folder_id: kitchen }, moved);
      await settle();
      await done(realm, updateChannel, admin, { folder_id: null }, moved);
      await done(realm, updateFolder, admin, { is_archived: true }, { path });
      await folder('Attic');
      await settle();
    },
  },
  {
    title: 'nobody hears of the queues of others',
    calls: [register, deleteQueue],
    run: async (realm) => {
      const { moderator } = realm.people;
      const { settle } = await follow(realm);
      const { queue_id } = await done(realm, register, moderator, { event_types: ['message'] });
      await done(realm, deleteQueue, moderator, { queue_id });
      expect(await settle()).toEqual({});
    },
  },
];
