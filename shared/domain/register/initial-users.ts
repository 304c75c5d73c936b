import { key } from '../../table/keys.ts';
import { groupObjects, loadNamedGroups } from '../group/group-list.ts';
import { roles } from '../group/system-group.ts';
import { holds, isAdministrator, isGuest, isOwner } from '../permission.ts';
import type { RealmSettings } from '../realm/realm.ts';
import { loadAcquaintances } from '../user/acquaintances.ts';
import { avatarUrlOf } from '../user/avatar.ts';
import { botDefaults, type OwnedBot } from '../user/bot.ts';
import { isSystemBot, type User } from '../user/user.ts';
import { seesEveryone } from '../user/user-access.ts';
import { userObject } from '../user/user-object.ts';
import { settingsOf, type UserSettings } from '../user/user-settings.ts';
import type { Asking, Section } from './initial-section.ts';

/** Everybody whom the caller may know of, and the caller. */
const realmUser: Section = async (asking) => {
  const [known, own] = await Promise.all([loadKnown(asking), ownFields(asking)]);
  const telling = { clientGravatar: asking.clientGravatar, profileData: true };
  const listed = known.filter((user) => !isSystemBot(user));
  return {
    realm_users: listed.filter(({ isActive }) => isActive).map((user) => userObject(user, telling)),
    realm_non_active_users: listed
      .filter(({ isActive }) => !isActive)
      .map((user) => userObject(user, telling)),
    cross_realm_bots: known.filter(isSystemBot).map((user) => userObject(user, telling)),
    ...own,
  };
};

/** The users of whom the caller may know. Guests perhaps may not know of everybody (wire facts 3.8). */
async function loadKnown({ outside, caller, users }: Asking): Promise<readonly User[]> {
  if (seesEveryone(caller)) return users();
  const [everybody, acquaintances] = await Promise.all([
    users(),
    loadAcquaintances(outside.table, caller.realmId, caller.user.userId),
  ]);
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
      realm.settings.enable_spectator_access && may('can_create_web_public_channel_group'),
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
    is_moderator: standing.role === roles.moderator,
    is_guest: isGuest(standing),
    is_billing_admin: false,
    ...canCreate,
    can_create_streams: Object.values(canCreate).some(Boolean),
    can_subscribe_other_users: may('can_add_subscribers_group'),
    can_invite_others_to_realm: false,
    enter_sends,
  };
}

/** The bots that the caller may manage, with what is set for them: their own, and for administrators all. */
const realmBot: Section = async ({ outside, caller, users, channels, subscriptions }) => {
  const { user, standing, realmId: realm } = caller;
  const mine = (await users()).filter(
    (each) => each.isBot && !isSystemBot(each) && (isAdministrator(standing) || each.ownerId === user.userId),
  );
  const [owned, counted, { current }] = await Promise.all([
    outside.table.getMany<OwnedBot>(
      mine.flatMap(({ userId, ownerId }) =>
        ownerId === undefined ? [] : [key('bot', { realm, ownerId, userId })],
      ),
    ),
    channels(),
    subscriptions(),
  ]);
  const own = new Map(current.map((subscription) => [subscription.channelId, subscription]));
  const seen = new Map(
    counted.map(({ channel }) => [channel.channelId, { channel, subscription: own.get(channel.channelId) }]),
  );
  return {
    realm_bots: owned.map((bot) => ({
      user_id: bot.userId,
      ...botDefaults(standing, bot, seen),
      services: [],
    })),
  };
};

/** All user groups with their members. */
const realmUserGroups: Section = async ({ outside, caller, users, capabilities }) => {
  const [named, everybody] = await Promise.all([loadNamedGroups(outside.table, caller.realmId), users()]);
  const includeDeactivated = capabilities.includes('include_deactivated_groups');
  return {
    realm_user_groups: groupObjects(caller, named, everybody, { includeDeactivated, now: outside.now() }),
  };
};

/** The caller's personal settings, as one object. */
const userSettings: Section = async ({ settings }) => ({ user_settings: await settings() });

/** The same, spread over the reply, for clients that do not know the object. */
const spreadSettings: Section = async ({ settings, capabilities }) =>
  capabilities.includes('user_settings_object') ? {} : settings();

export const userSections = {
  realm_user: realmUser,
  realm_bot: realmBot,
  realm_user_groups: realmUserGroups,
  user_settings: userSettings,
  update_display_settings: spreadSettings,
  update_global_notifications: spreadSettings,
} satisfies Record<string, Section>;

/** Reads the caller's personal settings. */
export const loadSettings = async ({
  outside,
  caller,
}: Pick<Asking, 'outside' | 'caller'>): Promise<UserSettings> =>
  settingsOf(await outside.table.get(key('settings', { realm: caller.realmId, userId: caller.user.userId })));
