import { expect } from 'vitest';
import { handler as listKeys } from '../../../functions/apiKeys/list.ts';
import { handler as revokeKey } from '../../../functions/apiKeys/revoke.ts';
import { handler as createBot } from '../../../functions/bots/create.ts';
import { handler as deactivateBot } from '../../../functions/bots/deactivate.ts';
import { handler as regenerateBotKey } from '../../../functions/bots/regenerateKey.ts';
import { handler as removeAttachment } from '../../../functions/files/remove.ts';
import { handler as uploadFile } from '../../../functions/files/upload.ts';
import { handler as invite } from '../../../functions/invites/create.ts';
import { handler as inviteLink } from '../../../functions/invites/createLink.ts';
import { handler as listInvites } from '../../../functions/invites/list.ts';
import { handler as resendInvite } from '../../../functions/invites/resend.ts';
import { handler as revokeInvite } from '../../../functions/invites/revoke.ts';
import { handler as revokeInviteLink } from '../../../functions/invites/revokeLink.ts';
import { handler as ping } from '../../../functions/presence/update.ts';
import { handler as updateSettings } from '../../../functions/settings/update.ts';
import { handler as devFetchApiKey } from '../../../functions/signIn/devFetchApiKey.ts';
import { handler as fetchApiKey } from '../../../functions/signIn/fetchApiKey.ts';
import { handler as create } from '../../../functions/users/create.ts';
import { handler as deactivate } from '../../../functions/users/deactivate.ts';
import { handler as deactivateOwn } from '../../../functions/users/deactivateOwn.ts';
import { handler as reactivate } from '../../../functions/users/reactivate.ts';
import { handler as regenerateKey } from '../../../functions/users/regenerateKey.ts';
import { handler as setStatus } from '../../../functions/users/setStatus.ts';
import { handler as setStatusOf } from '../../../functions/users/setStatusOf.ts';
import { handler as update } from '../../../functions/users/update.ts';
import { joinByInvitation } from '../../../shared/domain/account/join.ts';
import { roles, systemGroups } from '../../../shared/model/permission/permission.ts';
import { ownFiles, uploaded } from '../../support/files.ts';
import { givenBot, givenChannel, givenGroup, givenSubscription, givenUser } from '../../support/given.ts';
import { tokenIn } from '../../support/mailbox.ts';
import { sent } from '../../support/messages.ts';
import type { TestRealm } from '../../support/realm.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';
import { settings } from './settings.ts';

const at = ({ userId }: { readonly userId: number }) => ({ path: { user: userId } });

/** A user in channels and groups, with a bot that is in a channel too. */
async function givenBusyPerson(realm: TestRealm) {
  const { owner } = realm.people;
  const person = await givenUser(realm);
  const bot = await givenBot(realm, person);
  const closed = await givenChannel(realm, { isPrivate: true }, [person, owner]);
  await givenSubscription(realm, person, realm.channels.general);
  await givenSubscription(realm, bot, realm.channels.random);
  const group = await givenGroup(realm, { members: [person, bot, owner] });
  return { person, bot, closed, group };
}

export const peopleCases: readonly Case[] = [
  {
    title: 'accounts are created, of every role',
    calls: [create],
    run: async (realm) => {
      const { owner } = realm.people;
      const { settle } = await follow(realm);
      for (const role of [roles.member, roles.guest, roles.owner]) {
        const email = `new${role}@example.com`;
        await done(realm, create, owner, { email, full_name: `New ${role}`, role });
        await settle();
      }
    },
  },
  {
    title: 'people are invited, and one joins with channels and groups',
    calls: [invite, inviteLink, resendInvite, revokeInvite, revokeInviteLink],
    run: async (realm) => {
      const { owner } = realm.people;
      const group = await givenGroup(realm);
      const { settle } = await follow(realm);
      const given = { stream_ids: [realm.channels.random], group_ids: [group.groupId] };
      const { body } = await realm.call(invite, owner, { invitee_emails: 'a@b.cd, c@b.cd', ...given });
      await done(realm, inviteLink, owner, given);
      await settle();
      const token = tokenIn(body.invite_links[0].invite_link);
      const joiner = { fullName: 'New', password: 'twelve grey herons' };
      await joinByInvitation(realm.outside, { send: async () => {} }, realm.host, token, joiner);
      await settle();
      const { invites } = (await realm.call(listInvites, owner)).body;
      const path = (multiuse: boolean) => ({
        path: {
          invite_id: invites.find((each: { is_multiuse: boolean }) => each.is_multiuse === multiuse).id,
        },
      });
      await done(realm, resendInvite, owner, {}, path(false));
      await done(realm, revokeInvite, owner, {}, path(false));
      await done(realm, revokeInviteLink, owner, {}, path(true));
      await settle();
    },
  },
  {
    title: 'a guest who may not see everybody hears of those whom they come to know (wire facts 3.8)',
    calls: [create],
    settings: { can_access_all_users_group: systemGroups.members.id },
    run: async (realm) => {
      const { owner } = realm.people;
      const { settle } = await follow(realm);
      const given = { email: 'new@example.com', full_name: 'New' };
      await done(realm, create, owner, { ...given, role: roles.member });
      await settle();
    },
  },
  {
    title: 'an account is deactivated with its bot, and comes back',
    calls: [deactivate, reactivate],
    run: async (realm) => {
      const { owner } = realm.people;
      const { person, bot } = await givenBusyPerson(realm);
      await done(realm, setStatus, person, { status_text: 'away' });
      await sent(realm, person, { people: [owner] });
      const { settle } = await follow(realm);
      await done(realm, deactivate, owner, {}, at(person));
      await settle();
      await done(realm, reactivate, owner, {}, at(person));
      await settle();
      await done(realm, reactivate, owner, {}, at(bot));
      await settle();
    },
  },
  {
    title: 'a bot comes back to another owner than it had',
    calls: [reactivate],
    run: async (realm) => {
      const { admin, owner } = realm.people;
      const { person, bot } = await givenBusyPerson(realm);
      await done(realm, deactivate, owner, {}, at(person));
      const { settle } = await follow(realm);
      await done(realm, reactivate, admin, {}, at(bot));
      await settle();
    },
  },
  {
    title: 'names are changed by administrators and by people themselves',
    calls: [update, updateSettings],
    run: async (realm) => {
      const { admin, member, bot } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, update, admin, { full_name: 'Maxine Member' }, at(member));
      await done(realm, update, admin, { full_name: 'Lazy Bot' }, at(bot));
      await settle();
      await done(realm, updateSettings, member, { full_name: 'Max', timezone: 'Europe/Berlin' });
      await settle();
    },
  },
  ...[
    [roles.member, roles.administrator],
    [roles.member, roles.guest],
    [roles.guest, roles.member],
    [roles.administrator, roles.moderator],
    [roles.owner, roles.member],
  ].map(
    ([before, after]): Case => ({
      title: `a role changes from ${before} to ${after}, and with it what the person sees and may`,
      calls: [update],
      settings: { can_create_public_channel_group: systemGroups.administrators.id },
      run: async (realm) => {
        const { owner, admin } = realm.people;
        const person = await givenUser(realm, { role: before as (typeof roles)['member'] });
        await givenBot(realm, person);
        await givenChannel(realm, {}, [owner]);
        await givenChannel(realm, { isPrivate: true }, [owner, person]);
        await givenChannel(realm, { isPrivate: true }, [admin]);
        await givenSubscription(realm, person, realm.channels.general);
        const { settle } = await follow(realm, [
          [person, 'modern'],
          [person, 'old'],
        ]);
        await done(realm, update, owner, { role: after }, at(person));
        await settle();
      },
    }),
  ),
  {
    title: 'personal settings are told to nobody else, but consents to administrators (wire facts 10)',
    calls: [updateSettings],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      const given = { enter_sends: false, color_scheme: 2, default_language: 'de', web_home_view: 'recent' };
      await settings(realm, member, given);
      expect(Object.keys(await settle())).toEqual(['member']);
      await settings(realm, member, { allow_private_data_export: true, twenty_four_hour_time: null });
      const heard = await settle();
      expect(heard.admin?.map(({ type }) => type)).toEqual(['realm_export_consent']);
      expect(heard.guest).toBeUndefined();
    },
  },
  {
    title: 'statuses come, change and go',
    calls: [setStatus, setStatusOf],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      for (const given of [
        { status_text: 'out', emoji_name: 'car' },
        { status_text: 'back' },
        { emoji_name: '' },
        { status_text: '', emoji_name: 'house' },
        { emoji_name: '' },
      ]) {
        await done(realm, setStatus, member, given);
        await settle();
      }
      await done(realm, setStatusOf, realm.people.admin, { status_text: 'on leave' }, at(member));
      await settle();
    },
  },
  {
    title: 'who comes online has an event, which is momentary: clients ask for presences each minute',
    calls: [ping],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, ping, member, { status: 'active' });
      const heard = await settle();
      expect(heard.guest?.map(({ type }) => type)).toEqual(['presence']);
      await done(realm, ping, member, { status: 'active' });
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'new keys and sign-ins have no event',
    calls: [regenerateKey, regenerateBotKey, fetchApiKey, devFetchApiKey, revokeKey],
    run: async (realm) => {
      const { moderator, member, bot } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, regenerateKey, moderator);
      await done(realm, regenerateBotKey, member, {}, { path: { bot_id: bot.userId } });
      const password = 'twelve grey herons';
      await done(realm, updateSettings, member, { new_password: password });
      await done(realm, fetchApiKey, undefined, { username: member.email, password });
      const local = realm.container(undefined, { environment: { DEVELOPMENT_SIGN_IN: 'true' } });
      const { api_key: apiKey } = await done(local, devFetchApiKey, undefined, { username: member.email });
      const phone = { ...member, apiKey };
      const { api_keys: keys } = await done(realm, listKeys, phone);
      const own = keys.find(({ is_current: isCurrent }: { is_current: boolean }) => isCurrent);
      await done(realm, revokeKey, phone, {}, { path: { key: own.id } });
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'bots are created and deactivated',
    calls: [createBot, deactivateBot],
    run: async (realm) => {
      const { member, owner, bot } = realm.people;
      const closed = await givenChannel(realm, { isPrivate: true, name: 'Closed' }, [member]);
      const { settle } = await follow(realm);
      await done(realm, createBot, member, {
        full_name: 'New Bot',
        short_name: 'new',
        default_sending_stream: 'general',
        default_events_register_stream: closed.name,
      });
      await done(realm, createBot, owner, { full_name: 'Owned', short_name: 'owned' });
      const heard = await settle();
      expect(heard.guest?.map(({ type }) => type)).not.toContain('realm_bot');
      await done(realm, deactivateBot, member, {}, { path: { bot_id: bot.userId } });
      await settle();
    },
  },
  {
    title: 'files come and go, and only their owner hears of it (companion facts 1.6)',
    calls: [uploadFile, removeAttachment],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      await uploaded(realm, member);
      expect(Object.keys(await settle())).toEqual(['member']);
      const { attachments } = await ownFiles(realm, member);
      await done(realm, removeAttachment, member, {}, { path: { attachment_id: attachments[0]?.id ?? 0 } });
      expect(Object.keys(await settle())).toEqual(['member']);
    },
  },
  {
    title: 'somebody deactivates themselves, and their bot (companion facts 3.3)',
    calls: [deactivateOwn],
    run: async (realm) => {
      const { owner } = realm.people;
      const { person } = await givenBusyPerson(realm);
      await sent(realm, person, { people: [owner] });
      const { settle } = await follow(realm);
      await done(realm, deactivateOwn, person);
      await settle();
    },
  },
];
