import type { EventEntry, MembershipChange } from '../../log/slot.ts';
import {
  isFullMember,
  type Role,
  roles,
  type SystemGroup,
  systemGroups,
  systemSubgroups,
} from '../permission/permission.ts';
import type { User } from '../user/user.ts';
import type { GroupSettings } from './group.ts';

/** What the groups of the roles are, for people. */
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

/** Nobody can change the groups of the roles, nor mention all of their members at once. */
export const roleGroupSettings: GroupSettings = {
  can_add_members_group: systemGroups.nobody.id,
  can_join_group: systemGroups.nobody.id,
  can_leave_group: systemGroups.nobody.id,
  can_manage_group: systemGroups.nobody.id,
  can_mention_group: systemGroups.nobody.id,
  can_remove_members_group: systemGroups.nobody.id,
};

/** The groups that clients are told a person of this role is directly in. Full members are in both of theirs. */
export function roleGroups(role: Role, isFull: boolean): number[] {
  switch (role) {
    case roles.owner:
      return [systemGroups.owners.id];
    case roles.administrator:
      return [systemGroups.administrators.id];
    case roles.moderator:
      return [systemGroups.moderators.id];
    case roles.member:
      return isFull ? [systemGroups.members.id, systemGroups.fullMembers.id] : [systemGroups.members.id];
    case roles.guest:
      return [systemGroups.everyone.id];
  }
}

/** Tells everybody that somebody is in the groups of their role, and not in those of the one they had before. */
export function roleGroupEvents(userId: number, role: Role, isFull: boolean, before?: Role): EventEntry[] {
  const had = before === undefined ? [] : roleGroups(before, isFull);
  const has = roleGroups(role, isFull);
  const event = (op: 'add_members' | 'remove_members', groupId: number): EventEntry => ({
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'user_group', op, group_id: groupId, user_ids: [userId] },
  });
  return [
    ...had.filter((id) => !has.includes(id)).map((id) => event('remove_members', id)),
    ...has.filter((id) => !had.includes(id)).map((id) => event('add_members', id)),
  ];
}

/**
 * Tells everybody that an account came back into all of its groups, or is in none any more: it is no member of any while
 * it is deactivated. `named` are the others that it is directly in; those that are out of use are told only to clients
 * that know them.
 */
export function activeGroupEvents(
  op: 'add_members' | 'remove_members',
  { userId, role }: Pick<User, 'userId' | 'role'>,
  isFull: boolean,
  named: readonly number[],
): EventEntry[] {
  const event = (groupId: number): EventEntry => ({
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'user_group', op, group_id: groupId, user_ids: [userId] },
  });
  return [
    ...roleGroups(role, isFull).map(event),
    ...named.map((groupId): EventEntry => ({ ...event(groupId), fill: 'groupInUse' })),
  ];
}

const DAY = 86_400_000;

/**
 * Tells everybody who is a full member from now on, or none any more, since the waiting period (days) changed: those
 * who joined between the two times that follow from it. They are looked up when it is told. `now` is in milliseconds.
 */
export function fullMemberEvents(before: number, after: number, now: number): EventEntry[] {
  if (before === after) return [];
  const group = systemGroups.fullMembers.id;
  const joined = [now - Math.max(before, after) * DAY, now - Math.min(before, after) * DAY] as const;
  const isShorter = after < before;
  return [
    {
      kind: 'event',
      hearers: { everyone: 'all' },
      payload: {
        type: 'user_group',
        op: isShorter ? 'add_members' : 'remove_members',
        group_id: group,
      },
      fill: { joined },
      access: true,
    },
    sightThroughGroup(isShorter ? 'create' : 'delete', { group, joined }),
  ];
}

/**
 * The eight groups of the roles as clients see groups (wire facts 7): they are not stored, but follow from the
 * active users. `now` is in milliseconds.
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

/** Tells those who came into a group, or left it, which channels they may know of by that, or not any more. */
export const sightThroughGroup = (op: 'create' | 'delete', through: MembershipChange): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'stream', op },
  access: true,
  fill: through,
});
