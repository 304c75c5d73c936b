import { type GroupSetting, systemGroups } from '../permission/permission.ts';
import type { RealmSettings } from '../realm/realm.ts';
import type { GroupSettingRule } from './setting.ts';

/** The organization settings whose value is a group setting. */
export type RealmGroupName = {
  [N in keyof RealmSettings]: RealmSettings[N] extends GroupSetting
    ? GroupSetting extends RealmSettings[N]
      ? N
      : never
    : never;
}[keyof RealmSettings];

const { nobody, owners, administrators, moderators, members, everyone } = systemGroups;

/** Guests can have it. */
const open: GroupSettingRule = { nobody: true, everyone: true };
/** Guests never have it. */
const forMembers: GroupSettingRule = { nobody: true, everyone: false };

/** Which groups each setting may reference (wire facts 3.7, 3.8, 4.3; the rest as in the reference). */
export const realmGroupRules: Readonly<Record<RealmGroupName, GroupSettingRule>> = {
  can_mention_many_users_group: open,
  direct_message_permission_group: open,
  direct_message_initiator_group: open,
  can_create_public_channel_group: forMembers,
  can_create_private_channel_group: forMembers,
  can_create_web_public_channel_group: {
    ...forMembers,
    systemOnly: true,
    only: [moderators.id, administrators.id, owners.id, nobody.id],
  },
  can_create_bots_group: forMembers,
  can_create_groups: forMembers,
  can_manage_all_groups: { nobody: false, everyone: false },
  can_add_custom_emoji_group: forMembers,
  can_add_subscribers_group: forMembers,
  can_set_topics_policy_group: open,
  can_delete_any_message_group: forMembers,
  can_delete_own_message_group: open,
  can_move_messages_between_channels_group: forMembers,
  can_move_messages_between_topics_group: open,
  can_resolve_topics_group: open,
  can_access_all_users_group: {
    nobody: false,
    everyone: true,
    systemOnly: true,
    only: [everyone.id, members.id],
  },
};

export const realmGroupNames = Object.keys(realmGroupRules) as RealmGroupName[];

/** The values of these settings, for finding the groups that they reference. */
export const groupSettingsIn = (settings: RealmSettings): GroupSetting[] =>
  realmGroupNames.map((name) => settings[name]);
