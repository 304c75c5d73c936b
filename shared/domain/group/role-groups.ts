import type { EventEntry } from '../../log/slot.ts';
import { isFullMember } from '../permission.ts';
import type { User } from '../user/user.ts';
import type { GroupSettings } from './group.ts';
import { type Role, roles, type SystemGroup, systemGroups, systemSubgroups } from './system-group.ts';

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
const settings: GroupSettings = {
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

/** Tells everybody that somebody new is in the groups of their role. */
export const roleGroupEvents = (userId: number, role: Role, isFull: boolean): EventEntry[] =>
  roleGroups(role, isFull).map((groupId) => ({
    kind: 'event',
    hearers: { everyone: 'all' },
    payload: { type: 'user_group', op: 'add_members', group_id: groupId, user_ids: [userId] },
  }));

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
      ...settings,
      deactivated: false,
    };
  });
}
