import { badRequest, refusal } from '../../kernel/errors.ts';
import { type GroupSetting, onlyUser } from '../permission/group-setting.ts';
import { holds, holdsUnlessGuest, type Standing } from '../permission/permission.ts';
import { isSystemGroup, systemGroups } from '../permission/system-group.ts';
import type { Caller } from '../user/caller.ts';
import type { Group, GroupSettings } from './group.ts';
import { checkGroupSetting, type GroupSettingRule, type NamedInSettings } from './setting-check.ts';
import { checkNamedGroups } from './use.ts';

export type GroupPermission = keyof GroupSettings;

/** The six group settings of a group and what each may be (wire facts 7, specification 4.5). */
export const groupPermissionRules = {
  can_add_members_group: { nobody: true, everyone: false },
  can_join_group: { nobody: true, everyone: false },
  can_leave_group: { nobody: true, everyone: true },
  can_manage_group: { nobody: true, everyone: false },
  can_mention_group: { nobody: true, everyone: true, owners: false },
  can_remove_members_group: { nobody: true, everyone: false },
} as const satisfies Readonly<Record<GroupPermission, GroupSettingRule>>;

export const groupPermissions = Object.keys(groupPermissionRules) as GroupPermission[];

/** The settings of a new group (wire facts 7). */
export const defaultGroupSettings = (creatorId: number): GroupSettings => ({
  can_add_members_group: onlyUser(creatorId),
  can_join_group: systemGroups.nobody.id,
  can_leave_group: systemGroups.everyone.id,
  can_manage_group: onlyUser(creatorId),
  can_mention_group: systemGroups.everyone.id,
  can_remove_members_group: systemGroups.nobody.id,
});

/** The settings that a request gives, of the six. */
export type GivenGroupSettings = { readonly [K in GroupPermission]?: GroupSetting | undefined };

/** The values given, for reading whom they name. */
export const givenGroupSettings = (given: GivenGroupSettings): GroupSetting[] =>
  groupPermissions.flatMap((name) => given[name] ?? []);

/** Decides on one setting of a group: its normal form, or a refusal (wire facts 4.5, 7). */
export const checkGroupPermission = (
  name: GroupPermission,
  given: GroupSetting,
  named: NamedInSettings,
): GroupSetting => checkGroupSetting(name, groupPermissionRules[name], given, named);

/** The settings of a new group: those given, each decided on, and the defaults of its creator's. */
export function checkNewGroupSettings(
  creatorId: number,
  given: GivenGroupSettings,
  named: NamedInSettings,
): GroupSettings {
  const settings: Record<GroupPermission, GroupSetting> = { ...defaultGroupSettings(creatorId) };
  for (const name of groupPermissions) {
    const value = given[name];
    if (value !== undefined) settings[name] = checkGroupPermission(name, value, named);
  }
  checkNamedGroups(Object.values(settings));
  return settings;
}

/** Whether someone has this permission of a group. Guests have it only where everyone could be given it. */
const isPermitted = (who: Standing, group: Group, permission: GroupPermission): boolean =>
  groupPermissionRules[permission].everyone
    ? holds(who, group.settings[permission])
    : holdsUnlessGuest(who, group.settings[permission]);

/**
 * The group, for someone who may change this of it: those who manage all groups or this one, and the holders of
 * any of the permissions named. System groups follow from roles; nobody can change them.
 */
export function accessGroup(
  { standing, realm }: Caller,
  groupId: number,
  group: Group | undefined,
  ...permissions: readonly GroupPermission[]
): Group {
  if (isSystemGroup(groupId)) throw refusal('insufficientPermission');
  if (group === undefined) throw badRequest('Invalid user group.');
  const may =
    holdsUnlessGuest(standing, realm.settings.can_manage_all_groups) ||
    ['can_manage_group' as const, ...permissions].some((each) => isPermitted(standing, group, each));
  if (!may) throw refusal('insufficientPermission');
  return group;
}
