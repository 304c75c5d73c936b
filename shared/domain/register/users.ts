import { groupObjects, loadMemberIds, loadNamedGroups } from '../../model/group/member.ts';
import { holds, isAdministrator, isGuest, isOwner, roles } from '../../model/permission/permission.ts';
import { isWebPublicEnabled, type RealmSettings } from '../../model/realm/realm.ts';
import {
  accessibleUserIds,
  anonymizedUser,
  canAccessAllUsers,
} from '../../model/subscription/user-access.ts';
import { avatarFields, userObject } from '../../model/user/object.ts';
import { mutedBy, settingsOf, type UserSettings } from '../../model/user/user.ts';
import type { Listed } from '../../table/remembered-lists.ts';
import { botDefaults, loadAllBots, loadOwnedBots } from '../account/bot.ts';
import { loadNewUserSettings, newUserSettingsObject } from '../account/default-settings.ts';
import { draftObject, loadDrafts } from '../drafts/draft.ts';
import { mutedUserObject } from '../flags/mute.ts';
import { mayInvite } from '../invite/check.ts';
import { loadNavigationViews, viewObject } from '../navigation/view.ts';
import { legacyPresences, shownPresences, slimPresences } from '../presence/object.ts';
import { loadPresences, seconds, updateId } from '../presence/presence.ts';
import { loadStatuses, statusObject } from '../presence/status.ts';
import { fieldObjects, fieldTypes, loadProfileFields } from '../profile/field.ts';
import { loadProfiles } from '../profile/value.ts';
import { deviceObjects, loadDevices } from '../push/device.ts';
import { loadReminders, reminderObject } from '../scheduled/reminder.ts';
import { loadScheduled, scheduledObject } from '../scheduled/scheduled-message.ts';
import { loadSnippets, snippetObject } from '../snippets/snippet.ts';
import { once, type Sections, type StateContext, type StateRequest } from './section.ts';

/** The users whom the caller may see, and the caller. */
async function userSection(context: StateContext): Promise<object> {
  const { outside, caller, clientGravatar, capabilities, cursor } = context;
  const [users, visible, profile] = await Promise.all([
    context.users(),
    context.visibleUsers(),
    loadProfiles(outside, caller.realmId, undefined, cursor),
  ]);
  // Clients that need a complete list get the others without personal data (wire facts 14.1).
  const ids = new Set(visible.map(({ userId }) => userId));
  const hidden = capabilities.includes('user_list_incomplete')
    ? []
    : users.filter(({ userId }) => !ids.has(userId)).map(anonymizedUser);
  const listed = [
    ...visible.map((user) => userObject(user, { clientGravatar, profile })),
    ...hidden.map((user) => userObject(user, { clientGravatar, profile: () => ({}) })),
  ];
  return {
    realm_users: listed.filter((user) => user.is_active && !user.is_system_bot),
    realm_non_active_users: listed.filter((user) => !user.is_active && !user.is_system_bot),
    cross_realm_bots: listed.filter((user) => user.is_system_bot),
    ...ownFields(context),
  };
}

/** Loads the users whom the caller may see: some guests do not see everyone (wire facts 3.8). */
export async function loadVisibleUsers({
  caller,
  reader,
  hints,
  users,
  subscribersOf,
}: StateContext): Promise<readonly Listed<'user'>[]> {
  if (canAccessAllUsers(caller)) return users();
  for (const channelId of (await hints.reader.subscriptions()).keys()) void subscribersOf(channelId);
  const [everyone, subscriptions, dialogues] = await Promise.all([
    users(),
    reader.subscriptions(),
    reader.directMemberships(),
  ]);
  const places = { subscriptions: [...subscriptions.values()], dialogues };
  const visible = await accessibleUserIds(places, caller.user.userId, subscribersOf);
  return everyone.filter(({ userId, isBot }) => isBot || visible.has(userId));
}

type Permission = keyof { [K in keyof RealmSettings as K extends `can_${string}` ? K : never]: unknown };

/** The fields about the caller, who is in the list of users too. */
function ownFields(context: StateContext): object {
  const { user, standing, realm } = context.caller;
  const may = (permission: Permission): boolean => holds(standing, realm.settings[permission]);
  const canCreate = {
    can_create_public_streams: may('can_create_public_channel_group'),
    can_create_private_streams: may('can_create_private_channel_group'),
    can_create_web_public_streams:
      isWebPublicEnabled(context.outside.environment) &&
      realm.settings.enable_spectator_access &&
      may('can_create_web_public_channel_group'),
  };
  return {
    user_id: user.userId,
    email: user.email,
    delivery_email: user.email,
    full_name: user.fullName,
    ...avatarFields(user),
    is_owner: isOwner(standing),
    is_admin: isAdministrator(standing),
    is_moderator: standing.role <= roles.moderator,
    is_guest: isGuest(standing),
    ...canCreate,
    can_create_streams: Object.values(canCreate).some(Boolean),
    can_subscribe_other_users: may('can_add_subscribers_group'),
    can_invite_others_to_realm: mayInvite(context.caller),
  };
}

/** The bots that the caller may manage, with their settings: administrators get all, others their own. */
async function botSection({ outside, caller, channels, reader }: StateContext): Promise<object> {
  const { table } = outside;
  const { user, standing, realmId: realm } = caller;
  const [bots, counted, own] = await Promise.all([
    isAdministrator(standing) ? loadAllBots(table, realm) : loadOwnedBots(table, realm, user.userId),
    channels(),
    reader.subscriptions(),
  ]);
  const seen = new Map(
    counted.map(({ channel }) => [channel.channelId, { channel, subscription: own.get(channel.channelId) }]),
  );
  return {
    realm_bots: bots.map((bot) => ({
      user_id: bot.userId,
      ...botDefaults(standing, bot, seen),
      services: [],
    })),
  };
}

/** All user groups with their members. */
async function groupSection({
  outside,
  caller,
  cursor,
  users,
  capabilities,
  hints,
}: StateContext): Promise<object> {
  const { table, now } = outside;
  const membersOf = once((groupId: number) => loadMemberIds(table, caller.realmId, groupId));
  for (const { groupId } of hints.groups) void membersOf(groupId);
  const [named, all] = await Promise.all([
    loadNamedGroups(outside, caller.realmId, cursor, membersOf),
    users(),
  ]);
  const includeDeactivated = capabilities.includes('include_deactivated_groups');
  return { realm_user_groups: groupObjects(caller, named, all, { includeDeactivated, now: now() }) };
}

/** The presences, from which clients go on with their own pings. */
async function presenceSection(context: StateContext): Promise<object> {
  const { outside, caller, slimPresence, presenceDays } = context;
  const now = seconds(outside.now());
  const isOff = caller.realm.settings.presence_disabled;
  const [presences, users] = await Promise.all([
    isOff ? [] : loadPresences(outside.table, caller.realmId, undefined, now),
    context.visibleUsers(),
  ]);
  const shown = shownPresences(presences, users, { days: presenceDays, now });
  return {
    presences: slimPresence ? slimPresences(shown) : legacyPresences(shown, users, now),
    presence_last_update_id: updateId(now),
    server_timestamp: outside.now() / 1000,
  };
}

/** The statuses that active users have set. */
async function statusSection({ outside, caller, visibleUsers }: StateContext): Promise<object> {
  const [statuses, users] = await Promise.all([loadStatuses(outside.table, caller.realmId), visibleUsers()]);
  const active = new Set(users.flatMap(({ userId, isActive }) => (isActive ? [userId] : [])));
  const shown = statuses.filter(({ userId }) => active.has(userId));
  return { user_status: Object.fromEntries(shown.map((status) => [status.userId, statusObject(status)])) };
}

export const userSections: Sections = {
  realm_user: userSection,
  realm_bot: botSection,
  realm_user_groups: groupSection,
  /** As one object; older clients look for each setting at the top level (companion facts 4.9). */
  user_settings: async ({ settings, capabilities }) => {
    const own = await settings();
    return { ...(!capabilities.includes('user_settings_object') && own), user_settings: own };
  },
  /** The settings of new accounts (companion facts 4.3). */
  realm_user_settings_defaults: async ({ outside, caller }) => ({
    realm_user_settings_defaults: newUserSettingsObject(
      await loadNewUserSettings(outside.table, caller.realmId),
    ),
  }),
  presence: presenceSection,
  user_status: statusSection,
  /** The devices of the caller (wire facts 12.1). */
  device: async ({ outside, caller }) => ({
    devices: deviceObjects(await loadDevices(outside.table, caller.realmId, caller.user.userId)),
  }),
  scheduled_messages: async ({ outside, caller: { realmId, user } }) => {
    const scheduled = await loadScheduled(outside.table, realmId, user.userId);
    return { scheduled_messages: scheduled.map((message) => scheduledObject(message, user.userId)) };
  },
  reminders: async ({ outside, caller: { realmId, user } }) => {
    const reminders = await loadReminders(outside.table, realmId, user.userId);
    return { reminders: reminders.map((reminder) => reminderObject(reminder, user.userId)) };
  },
  drafts: async ({ outside, caller, settings }) => {
    const [own, drafts] = await Promise.all([
      settings(),
      loadDrafts(outside.table, caller.realmId, caller.user.userId),
    ]);
    return { drafts: own.enable_drafts_synchronization === true ? drafts.map(draftObject) : [] };
  },
  alert_words: ({ caller }) => ({ alert_words: caller.user.alertWords ?? [] }),
  muted_users: ({ caller }) => ({ muted_users: mutedBy(caller.user).map(mutedUserObject) }),
  navigation_views: async ({ outside, caller }) => {
    const { views } = await loadNavigationViews(outside.table, caller.realmId, caller.user.userId);
    return { navigation_views: views.map(viewObject) };
  },
  saved_snippets: async ({ outside, caller }) => {
    const snippets = await loadSnippets(outside.table, caller.realmId, caller.user.userId);
    return { saved_snippets: snippets.map(snippetObject) };
  },
  /** The custom profile fields and their types. Their values are sent with the users. */
  custom_profile_fields: async ({ outside, caller }) => {
    const { fields } = await loadProfileFields(outside.table, caller.realmId);
    return { custom_profile_fields: fieldObjects(fields), custom_profile_field_types: fieldTypes };
  },
};

/** Loads the caller's personal settings. The time zone is visible to everyone, so it is stored with the user. */
export const loadSettings = async ({
  outside,
  caller: { realmId: realm, user },
}: StateRequest): Promise<UserSettings> => ({
  ...settingsOf(await outside.table.get('settings', { realm, userId: user.userId })),
  timezone: user.timezone,
});
