import { type EventEntry, eventForEveryone, type MembershipChange } from '../../log/slot.ts';
import {
  isFullMember,
  mapSettings,
  type Role,
  roleGroups,
  type SystemGroup,
  systemGroups,
  systemSubgroups,
} from '../permission/permission.ts';
import type { User } from '../user/user.ts';
import { groupPermissionRules } from './group.ts';

/** Shown in clients. */
const descriptions: Readonly<Record<SystemGroup, string>> = {
  nobody: 'Nobody at all',
  owners: 'The owners of the organization',
  administrators: 'Administrators and owners',
  moderators: 'Moderators and everybody above them',
  fullMembers: 'Members who have been here for the waiting period, and everybody above them',
  members: 'All members, but no guests',
  everyone: 'Everybody in the organization, guests too',
  internet: 'Everybody on the internet, with or without an account',
};

/** System groups cannot be changed, nor mentioned. */
const roleGroupSettings = mapSettings(groupPermissionRules, () => systemGroups.nobody.id);

/** The events that a user entered the groups of their role, and left those of the role before. */
export function roleGroupEvents(userId: number, role: Role, isFull: boolean, before?: Role): EventEntry[] {
  const had = before === undefined ? [] : roleGroups(before, isFull);
  const has = roleGroups(role, isFull);
  return [
    ...had.filter((id) => !has.includes(id)).map((id) => memberEvent('remove_members', id, userId)),
    ...has.filter((id) => !had.includes(id)).map((id) => memberEvent('add_members', id, userId)),
  ];
}

/**
 * The events that an account entered or left all its groups when it was activated or deactivated. `named` are its
 * other direct groups; events of deactivated groups reach only clients that support them.
 */
export function activeGroupEvents(
  op: 'add_members' | 'remove_members',
  { userId, role }: Pick<User, 'userId' | 'role'>,
  isFull: boolean,
  named: readonly number[],
): EventEntry[] {
  return [
    ...roleGroups(role, isFull).map((id) => memberEvent(op, id, userId)),
    ...named.map((id): EventEntry => ({ ...memberEvent(op, id, userId), fill: 'groupInUse' })),
  ];
}

const memberEvent = (op: 'add_members' | 'remove_members', groupId: number, userId: number): EventEntry =>
  eventForEveryone({ type: 'user_group', op, group_id: groupId, user_ids: [userId] });

const DAY = 86_400_000;

/**
 * The events for members who become full members, or stop being ones, because the waiting period (days) changed:
 * members who joined between the two limits. They are looked up when the event is read. `now` is in milliseconds.
 */
export function fullMemberEvents(before: number, after: number, now: number): EventEntry[] {
  if (before === after) return [];
  const group = systemGroups.fullMembers.id;
  const joined = [now - Math.max(before, after) * DAY, now - Math.min(before, after) * DAY] as const;
  const isShorter = after < before;
  return [
    eventForEveryone(
      {
        type: 'user_group',
        op: isShorter ? 'add_members' : 'remove_members',
        group_id: group,
      },
      { fill: { joined }, access: true },
    ),
    channelsThroughGroupEvent(isShorter ? 'create' : 'delete', { group, joined }),
  ];
}

/**
 * The eight system groups as clients see groups (wire facts 7), computed from the active users. `now` is in
 * milliseconds.
 */
export function roleGroupObjects(users: readonly User[], waitingDays: number, now: number) {
  const members = new Map<number, number[]>();
  for (const user of users) {
    for (const groupId of roleGroups(user.role, isFullMember(user, waitingDays, now))) {
      const list = members.get(groupId);
      if (list) list.push(user.userId);
      else members.set(groupId, [user.userId]);
    }
  }
  return (Object.keys(systemGroups) as SystemGroup[]).map((group) => {
    const { id, name } = systemGroups[group];
    return {
      id,
      name,
      description: descriptions[group],
      creator_id: null,
      date_created: null,
      members: members.get(id) ?? [],
      direct_subgroup_ids: [...(systemSubgroups.get(id) ?? [])],
      is_system_group: true,
      ...roleGroupSettings,
      deactivated: false,
    };
  });
}

/** Tells members who entered or left a group which channels became visible or hidden to them. */
export const channelsThroughGroupEvent = (op: 'create' | 'delete', through: MembershipChange): EventEntry =>
  eventForEveryone({ type: 'stream', op }, { access: true, fill: through });
