import { channelGroupRules } from '../../model/channel/channel.ts';
import { groupPermissionRules } from '../../model/group/group.ts';
import { type GroupSettingRule, systemGroups } from '../../model/permission/permission.ts';
import { realmGroupRules } from '../../model/realm/realm.ts';

const nameOf = (groupId: number): string | undefined =>
  Object.values(systemGroups).find(({ id }) => id === groupId)?.name;

/**
 * The rules of group settings, so that clients offer only valid values. `creator` is the name of the default value of
 * settings that are the creator's.
 */
const clientRules = (
  rules: Readonly<Record<string, GroupSettingRule>>,
  creator = '',
  defaultForSystemGroups: string | null = null,
) =>
  Object.fromEntries(
    Object.entries(rules).map(([name, { initial, nobody, everyone, systemOnly, only = [] }]) => [
      name,
      {
        require_system_group: systemOnly === true,
        allow_internet_group: false,
        allow_nobody_group: nobody,
        allow_everyone_group: everyone,
        default_group_name: initial === 'creator' ? creator : nameOf(initial),
        default_for_system_groups: defaultForSystemGroups,
        allowed_system_groups: only.map(nameOf),
      },
    ]),
  );

/** What each group setting of the organization, of channels and of groups may be (wire facts 2, 4.5, 7). */
export const supportedSettings = {
  realm: clientRules(realmGroupRules),
  stream: clientRules(channelGroupRules, 'channel_creator'),
  group: clientRules(groupPermissionRules, 'group_creator', systemGroups.nobody.name),
};
