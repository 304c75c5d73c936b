import { defaultChannelGroups } from '../../model/channel/channel.ts';
import { channelGroupRules } from '../../model/channel/settings.ts';
import { defaultGroupSettings, groupPermissionRules } from '../../model/group/group.ts';
import { realmGroupRules } from '../../model/group/realm-groups.ts';
import { roleGroupSettings } from '../../model/group/role-groups.ts';
import type { GroupSettingRule } from '../../model/group/setting.ts';
import { type GroupSetting, systemGroups } from '../../model/permission/permission.ts';
import { defaultRealmSettings } from '../../model/realm/realm.ts';

/** Stands for whoever creates a channel or a group, where that is the default. */
const CREATOR = 0;

const nameOf = (setting: GroupSetting): string | undefined =>
  Object.values(systemGroups).find(({ id }) => id === setting)?.name;

/** What clients are told of one setting, so that they offer only what the service takes. */
const told = (
  rule: GroupSettingRule,
  initial: GroupSetting,
  { creator, ofSystemGroups }: { creator: string; ofSystemGroups?: GroupSetting | undefined },
) => ({
  require_system_group: rule.systemOnly === true,
  allow_internet_group: false,
  allow_nobody_group: rule.nobody,
  allow_everyone_group: rule.everyone,
  default_group_name: nameOf(initial) ?? creator,
  default_for_system_groups: (ofSystemGroups !== undefined && nameOf(ofSystemGroups)) || null,
  allowed_system_groups: (rule.only ?? []).map(nameOf),
});

const toldAll = <N extends string>(
  rules: Readonly<Record<N, GroupSettingRule>>,
  initial: Readonly<Record<N, GroupSetting>>,
  creator: string,
  ofSystemGroups?: Readonly<Record<N, GroupSetting>>,
) =>
  Object.fromEntries(
    (Object.keys(rules) as N[]).map((name) => [
      name,
      told(rules[name], initial[name], { creator, ofSystemGroups: ofSystemGroups?.[name] }),
    ]),
  );

/** What each group setting of the organization, of channels and of groups may be (wire facts 2, 4.5, 7). */
export const supportedSettings = {
  realm: toldAll(realmGroupRules, defaultRealmSettings, ''),
  stream: toldAll(channelGroupRules, defaultChannelGroups(CREATOR), 'channel_creator'),
  group: toldAll(groupPermissionRules, defaultGroupSettings(CREATOR), 'group_creator', roleGroupSettings),
};
