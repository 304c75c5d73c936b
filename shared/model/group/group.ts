import { badRequest, refusal } from '../../kernel/errors.ts';
import { bytesOf, MEMBER_BYTES } from '../../kernel/quota.ts';
import { checkPrintable, codePoints } from '../../kernel/text.ts';
import {
  forGuests,
  forMembers,
  type GroupSetting,
  holds,
  holdsUnlessGuest,
  isSystemGroup,
  type Standing,
  settingRules,
  systemGroups,
} from '../permission/permission.ts';
import { limits } from '../realm/realm.ts';
import type { Caller } from '../user/caller.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    group: Group;
  }
}

/** A named user group, as stored. System groups are not stored: they follow from roles. */
export interface Group {
  readonly groupId: number;
  readonly name: string;
  readonly description: string;
  readonly creatorId?: number;
  /** Seconds since 1970. */
  readonly dateCreated: number;
  readonly deactivated: boolean;
  /** Some of its first members are still pending (`pending-members.ts`). */
  readonly isArriving?: true;
  readonly settings: GroupSettings;
  /** Incremented by each edit, for conditional writes. Membership changes do not count. */
  readonly version: number;
}

/** The six group settings of a group (specification 2.7, 4.5, wire facts 7). */
export const groupPermissionRules = settingRules({
  can_add_members_group: { ...forMembers, initial: 'creator' },
  can_join_group: { ...forMembers, initial: systemGroups.nobody.id },
  can_leave_group: { ...forGuests, initial: systemGroups.everyone.id },
  can_manage_group: { ...forMembers, initial: 'creator' },
  can_mention_group: { ...forGuests, initial: systemGroups.everyone.id, owners: false },
  can_remove_members_group: { ...forMembers, initial: systemGroups.nobody.id },
});

export type GroupPermission = keyof typeof groupPermissionRules;
export const groupPermissions = Object.keys(groupPermissionRules) as GroupPermission[];

/** The values of these settings in a group. */
export type GroupSettings = Readonly<Record<GroupPermission, GroupSetting>>;

/**
 * Least quota of a group. It limits an organization to 1,000 groups, since reading members takes a query for each.
 */
const MIN_BYTES = 500;

/** The quota (bytes) that a group with this many members uses. */
export const groupBytes = (
  { name, description, settings }: Pick<Group, 'name' | 'description' | 'settings'>,
  members = 0,
): number =>
  Math.max(MIN_BYTES, bytesOf(name, description, Object.values(settings))) + members * MEMBER_BYTES;

/** A named group as clients see it (wire facts 7), with direct members and direct subgroups. */
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

/** Prefixes that would make a group name ambiguous (wire facts 7). Case-sensitive. */
const RESERVED = ['@', 'role:', 'user:', 'stream:', 'channel:'];

/** Whether a text is short enough to be looked up as a group name. */
export const fitsGroupName = (name: string): boolean => codePoints(name) <= limits.groupName;

/** Checks a group name (wire facts 7), which is not trimmed. */
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

/** Checks a group description. */
export function checkGroupDescription(description: string): string {
  if (codePoints(description) > limits.groupDescription) {
    throw badRequest(`A user group description has at most ${limits.groupDescription} characters.`);
  }
  return description;
}

/** Whether a user has a permission of a group. Guests have it only if it can be given to everyone. */
const isPermitted = (who: Standing, group: Group, permission: GroupPermission): boolean =>
  groupPermissionRules[permission].everyone
    ? holds(who, group.settings[permission])
    : holdsUnlessGuest(who, group.settings[permission]);

/** Whether somebody may change a group: they manage all groups or this one, or have one of `permissions`. */
export const mayChangeGroup = (
  { standing, realm }: Pick<Caller, 'standing' | 'realm'>,
  group: Group,
  ...permissions: readonly GroupPermission[]
): boolean =>
  holdsUnlessGuest(standing, realm.settings.can_manage_all_groups) ||
  ['can_manage_group' as const, ...permissions].some((each) => isPermitted(standing, group, each));

/** Returns the group if the caller may change it (`mayChangeGroup`). System groups cannot be changed. */
export function accessGroup(
  caller: Caller,
  groupId: number,
  group: Group | undefined,
  ...permissions: readonly GroupPermission[]
): Group {
  if (isSystemGroup(groupId)) throw refusal('insufficientPermission');
  if (group === undefined) throw badRequest('Invalid user group.');
  if (!mayChangeGroup(caller, group, ...permissions)) throw refusal('insufficientPermission');
  return group;
}
