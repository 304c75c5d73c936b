/**
 * The eight groups that follow from the role (wire facts 7). Their ids are the same small numbers in every
 * organization, so that no read is needed to know them; the log's own numbers begin above. `shown` is what readers of a
 * mention see.
 */
export const systemGroups = {
  nobody: { id: 1, name: 'role:nobody', shown: 'Nobody' },
  owners: { id: 2, name: 'role:owners', shown: 'Owners' },
  administrators: { id: 3, name: 'role:administrators', shown: 'Administrators' },
  moderators: { id: 4, name: 'role:moderators', shown: 'Moderators' },
  fullMembers: { id: 5, name: 'role:fullmembers', shown: 'Full members' },
  members: { id: 6, name: 'role:members', shown: 'Everyone except guests' },
  everyone: { id: 7, name: 'role:everyone', shown: 'Everyone including guests' },
  internet: { id: 8, name: 'role:internet', shown: 'Everyone on the internet' },
} as const;

export type SystemGroup = keyof typeof systemGroups;

/** The first number that an organization's log hands out. */
export const FIRST_NUMBER = 101;

/** What each system group contains directly. Nobody stands apart. */
export const systemSubgroups: ReadonlyMap<number, readonly number[]> = new Map([
  [systemGroups.nobody.id, []],
  [systemGroups.owners.id, []],
  [systemGroups.administrators.id, [systemGroups.owners.id]],
  [systemGroups.moderators.id, [systemGroups.administrators.id]],
  [systemGroups.fullMembers.id, [systemGroups.moderators.id]],
  [systemGroups.members.id, [systemGroups.fullMembers.id]],
  [systemGroups.everyone.id, [systemGroups.members.id]],
  [systemGroups.internet.id, [systemGroups.everyone.id]],
]);

export const isSystemGroup = (groupId: number): boolean => systemSubgroups.has(groupId);

/** Roles on the wire; a smaller number may do more. */
export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export type Role = (typeof roles)[keyof typeof roles];

/** The one system group that a person is a direct member of. Members become full ones with time. */
export function systemGroupOf(role: Role, isFullMember: boolean): number {
  switch (role) {
    case roles.owner:
      return systemGroups.owners.id;
    case roles.administrator:
      return systemGroups.administrators.id;
    case roles.moderator:
      return systemGroups.moderators.id;
    case roles.member:
      return isFullMember ? systemGroups.fullMembers.id : systemGroups.members.id;
    case roles.guest:
      return systemGroups.everyone.id;
  }
}
