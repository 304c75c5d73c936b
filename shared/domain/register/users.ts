import { groupObjects, loadMemberIds, loadNamedGroups } from '../../model/group/member.ts';
import { holds, isAdministrator, isGuest, isOwner, roles } from '../../model/permission/permission.ts';
import { isWebPublicEnabled, type RealmSettings } from '../../model/realm/realm.ts';
import {
  accessibleUserIds,
  anonymizedUser,
  canAccessAllUsers,
} from '../../model/subscription/user-access.ts';
import { avatarUrlOf, userObject } from '../../model/user/object.ts';
import { defaultUserSettings, settingsOf, type User, type UserSettings } from '../../model/user/user.ts';
import { botDefaults, loadAllBots, loadOwnedBots } from '../account/bot.ts';
import { loadProfiles } from '../profile/value.ts';
import { once } from './once.ts';
import type { Asking, Section } from './section.ts';

/** Everybody whom the caller may know of, and the caller. */
const realmUser: Section = async (asking) => {
  const { outside, caller, clientGravatar } = asking;
  const [everybody, known, own, tellProfile] = await Promise.all([
    asking.users(),
    asking.known(),
    ownFields(asking),
    loadProfiles(outside.table, caller.realmId, undefined),
  ]);
  // Clients that must have everybody get the others without what is hidden of them (wire facts 14.1).
  const isComplete =
    asking.capabilities.includes('user_list_incomplete') || known.length === everybody.length;
  const ids = new Set(known.map(({ userId }) => userId));
  const hidden = isComplete ? [] : everybody.filter(({ userId }) => !ids.has(userId)).map(anonymizedUser);
  const listed = [
    ...known.map((user) => userObject(user, { clientGravatar, profile: tellProfile })),
    ...hidden.map((user) => userObject(user, { clientGravatar, profile: () => ({}) })),
  ];
  return {
    realm_users: listed.filter((user) => user.is_active && !user.is_system_bot),
    realm_non_active_users: listed.filter((user) => !user.is_active && !user.is_system_bot),
    cross_realm_bots: listed.filter((user) => user.is_system_bot),
    ...own,
  };
};

/** The users of whom the caller may know: guests perhaps not of everybody (wire facts 3.8). */
export async function loadKnown({
  caller,
  reader,
  hints,
  users,
  subscribersOf,
}: Pick<Asking, 'caller' | 'reader' | 'hints' | 'users' | 'subscribersOf'>): Promise<readonly User[]> {
  if (canAccessAllUsers(caller)) return users();
  for (const channelId of (await hints.reader.subscriptions()).keys()) void subscribersOf(channelId);
  const [everybody, subscriptions, dialogues] = await Promise.all([
    users(),
    reader.subscriptions(),
    reader.directMemberships(),
  ]);
  const places = { subscriptions: [...subscriptions.values()], dialogues };
  const acquaintances = await accessibleUserIds(places, caller.user.userId, subscribersOf);
  return everybody.filter(({ userId, isBot }) => isBot || acquaintances.has(userId));
}

type Permission = keyof { [K in keyof RealmSettings as K extends `can_${string}` ? K : never]: unknown };

/** What the caller is told of themselves beside their place in the list. */
async function ownFields(asking: Asking): Promise<object> {
  const { user, standing, realm } = asking.caller;
  const { enter_sends } = await asking.settings();
  const may = (permission: Permission): boolean => holds(standing, realm.settings[permission]);
  const canCreate = {
    can_create_public_streams: may('can_create_public_channel_group'),
    can_create_private_streams: may('can_create_private_channel_group'),
    can_create_web_public_streams:
      isWebPublicEnabled(asking.outside.environment) &&
      realm.settings.enable_spectator_access &&
      may('can_create_web_public_channel_group'),
  };
  return {
    user_id: user.userId,
    email: user.email,
    delivery_email: user.email,
    full_name: user.fullName,
    avatar_source: user.avatarUrl === undefined ? 'G' : 'U',
    // One's own avatar is told in full, whatever the client can work out itself.
    avatar_url: avatarUrlOf(user),
    avatar_url_medium: avatarUrlOf(user),
    is_owner: isOwner(standing),
    is_admin: isAdministrator(standing),
    is_moderator: standing.role <= roles.moderator,
    is_guest: isGuest(standing),
    ...canCreate,
    can_create_streams: Object.values(canCreate).some(Boolean),
    can_subscribe_other_users: may('can_add_subscribers_group'),
    can_invite_others_to_realm: false,
    enter_sends,
  };
}

/** The bots that the caller may manage, with what is set for them: their own, and for administrators all. */
const realmBot: Section = async ({ outside: { table }, caller, channels, reader }) => {
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
};

/** All user groups with their members. */
const realmUserGroups: Section = async ({ outside: { table, now }, caller, users, capabilities, hints }) => {
  const membersOf = once((groupId: number) => loadMemberIds(table, caller.realmId, groupId));
  for (const { groupId } of hints.groups) void membersOf(groupId);
  const [named, everybody] = await Promise.all([loadNamedGroups(table, caller.realmId, membersOf), users()]);
  const includeDeactivated = capabilities.includes('include_deactivated_groups');
  return {
    realm_user_groups: groupObjects(caller, named, everybody, { includeDeactivated, now: now() }),
  };
};

/** The caller's personal settings, as one object; older clients look for each at the top level (companion facts 4.9). */
const userSettings: Section = async ({ settings, capabilities }) => {
  const own = await settings();
  return { ...(!capabilities.includes('user_settings_object') && own), user_settings: own };
};

/** Settings that are nobody's but their owner's: a new account does not get them from the organization. */
const {
  allow_private_data_export: _,
  enable_login_emails,
  enable_marketing_emails,
  timezone,
  ...newUserSettings
} = defaultUserSettings;

/** The settings with which new accounts begin (companion facts 4.3). */
const userSettingsDefaults: Section = () => ({ realm_user_settings_defaults: newUserSettings });

export const userSections = {
  realm_user: realmUser,
  realm_bot: realmBot,
  realm_user_groups: realmUserGroups,
  user_settings: userSettings,
  realm_user_settings_defaults: userSettingsDefaults,
} satisfies Record<string, Section>;

/** Reads the caller's personal settings. Their time zone is told to everybody, and stands with the user. */
export const loadSettings = async ({
  outside,
  caller: { realmId: realm, user },
}: Pick<Asking, 'outside' | 'caller'>): Promise<UserSettings> => ({
  ...settingsOf(await outside.table.get('settings', { realm, userId: user.userId })),
  timezone: user.timezone,
});
