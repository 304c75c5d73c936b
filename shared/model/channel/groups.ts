import { checkGroupSetting, type GroupSettingRule, type NamedInSettings } from '../group/setting-check.ts';
import { checkNamedGroups } from '../group/use.ts';
import type { GroupSetting } from '../permission/group-setting.ts';
import { type ChannelGroups, defaultChannelGroups } from './channel.ts';

export type ChannelGroupName = keyof ChannelGroups;

interface ChannelGroupRule extends GroupSettingRule {
  /** Who changes it must be able to read the channel, not only to administer it. */
  readonly needsContentAccess: boolean;
}

/** The eleven group settings of a channel and what each may be (wire facts 4.5, specification 4.2). */
export const channelGroupRules = {
  can_add_subscribers_group: { nobody: true, everyone: false, needsContentAccess: true },
  can_administer_channel_group: { nobody: true, everyone: false, needsContentAccess: false },
  can_create_topic_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_delete_any_message_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_delete_own_message_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_move_messages_out_of_channel_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_move_messages_within_channel_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_remove_subscribers_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_resolve_topics_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_send_message_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_subscribe_group: { nobody: true, everyone: false, needsContentAccess: true },
} as const satisfies Readonly<Record<ChannelGroupName, ChannelGroupRule>>;

export const channelGroupNames = Object.keys(channelGroupRules) as ChannelGroupName[];

/** The settings that a request gives, of the eleven. */
export type GivenChannelGroups = { readonly [K in ChannelGroupName]?: GroupSetting | undefined };

/** The values given, for reading whom they name. */
export const givenSettings = (given: GivenChannelGroups): GroupSetting[] =>
  channelGroupNames.flatMap((name) => given[name] ?? []);

/** Decides on one setting of a channel: its normal form, or a refusal (wire facts 4.5). */
export const checkChannelGroup = (
  name: ChannelGroupName,
  given: GroupSetting,
  named: NamedInSettings,
): GroupSetting => checkGroupSetting(name, channelGroupRules[name], given, named);

/** The settings of a new channel: those given, each decided on, and the defaults of its creator's. */
export function checkNewChannelGroups(
  creatorId: number,
  given: GivenChannelGroups,
  named: NamedInSettings,
): ChannelGroups {
  const groups: Record<ChannelGroupName, GroupSetting> = { ...defaultChannelGroups(creatorId) };
  for (const name of channelGroupNames) {
    const value = given[name];
    if (value !== undefined) groups[name] = checkChannelGroup(name, value, named);
  }
  checkNamedGroups(Object.values(groups));
  return groups;
}
