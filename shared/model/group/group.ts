import { badRequest, refusal } from '../../kernel/errors.ts';
import { checkPrintable, codePoints } from '../../kernel/folding.ts';
import { bytesOf, MEMBER_BYTES } from '../../kernel/quota.ts';
import {
  type GroupSetting,
  holds,
  holdsUnlessGuest,
  isSystemGroup,
  onlyUser,
  type Standing,
  systemGroups,
} from '../permission/permission.ts';
import { limits } from '../realm/realm.ts';
import type { Caller } from '../user/caller.ts';
import {
  checkGroupSetting,
  checkNamedGroups,
  type GroupSettingRule,
  type NamedInSettings,
} from './setting.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    group: Group;
  }
}

/** A named user group, as stored. System groups are never stored: they follow from the role. */
export interface Group {
  readonly groupId: number;
  readonly name: string;
  readonly description: string;
  readonly creatorId?: number;
  /** Seconds since 1970. */
  readonly dateCreated: number;
  readonly deactivated: boolean;
  /** Memberships that it was created with are still being stored (`group-arrival.ts`). */
  readonly isArriving?: true;
  readonly settings: GroupSettings;
  /** Grows with each edit, so that a change can be held to what it saw. Its members may come and go without. */
  readonly version: number;
}

/** The six group settings of a group, under their wire names (specification 2.7). */
export interface GroupSettings {
  readonly can_add_members_group: GroupSetting;
  readonly can_join_group: GroupSetting;
  readonly can_leave_group: GroupSetting;
  readonly can_manage_group: GroupSetting;
  readonly can_mention_group: GroupSetting;
  readonly can_remove_members_group: GroupSetting;
}

/** What a group counts at least, so that there are at most 1,000 of them: their members take a query each to read. */
const MIN_BYTES = 500;

/** The bytes that a group takes of its quota, with so many members. */
export const groupBytes = (
  { name, description, settings }: Pick<Group, 'name' | 'description' | 'settings'>,
  members = 0,
): number =>
  Math.max(MIN_BYTES, bytesOf(name, description, Object.values(settings))) + members * MEMBER_BYTES;

/** A named user group as clients see one (wire facts 7). Both lists are of what is directly in it. */
export const groupObject = (group: Group, members: readonly number[], subgroups: readonly number[]) => ({
  id: group.groupId,
  name: group.name,
  description: group.description,
  creator_id: group.creatorId ?? null,
  date_created: group.dateCreated,
  members: [...members],
  direct_subgroup_ids: [...subgroups],
  is_system_group: false,
  ...group.settings,
  deactivated: group.deactivated,
});

/** Beginnings that would make a group's name look like something else (wire facts 7). Their case matters. */
const RESERVED = ['@', 'role:', 'user:', 'stream:', 'channel:'];

/** Whether a text is short enough to be the name of a group, so that it can be looked up as one. */
export const fitsGroupName = (name: string): boolean => codePoints(name) <= limits.groupName;

/** Decides whether text can name a group (wire facts 7). The name stays just as it was sent. */
export function checkGroupName(name: string): string {
  if (name.trim() === '') throw badRequest('A user group needs a name.');
  if (!fitsGroupName(name)) {
    throw badRequest(`A user group name has at most ${limits.groupName} characters.`);
  }
  checkPrintable('The user group name', name);
  const reserved = RESERVED.find((prefix) => name.startsWith(prefix));
  if (reserved !== undefined) throw badRequest(`A user group name cannot begin with '${reserved}'.`);
  return name;
}

/** Decides whether text can describe a group. */
export function checkGroupDescription(description: string): string {
  if (codePoints(description) > limits.groupDescription) {
    throw badRequest(`A user group description has at most ${limits.groupDescription} characters.`);
  }
  return description;
}

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
