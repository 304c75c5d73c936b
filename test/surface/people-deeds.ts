import fc from 'fast-check';
import { handler as createGroup } from '../../functions/userGroups/create.ts';
import { handler as deactivateGroup } from '../../functions/userGroups/deactivate.ts';
import { handler as editGroup } from '../../functions/userGroups/update.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { handler as updateSubgroups } from '../../functions/userGroups/updateSubgroups.ts';
import { handler as deactivateUser } from '../../functions/users/deactivate.ts';
import { handler as reactivateUser } from '../../functions/users/reactivate.ts';
import { handler as editUser } from '../../functions/users/update.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import {
  changedSettings,
  deed,
  few,
  groupId,
  nameOf,
  newSettings,
  optional,
  settings,
  some,
  userId,
} from './deed.ts';

const permissions = settings([
  'can_add_members_group',
  'can_join_group',
  'can_leave_group',
  'can_manage_group',
  'can_mention_group',
  'can_remove_members_group',
]);

export const createsGroup = deed(
  'creates a group',
  fc.record({ name: nameOf('g'), members: few, subgroups: few, permissions }),
  ({ name, members, subgroups, permissions }, known) => ({
    handler: createGroup,
    parameters: {
      name,
      description: '',
      members: members.map((n) => userId(known, n)),
      subgroups: subgroups.map((n) => groupId(known, n)),
      ...newSettings(permissions, known),
    },
  }),
);

export const editsGroup = deed(
  'edits a group',
  fc.record({
    group: some,
    plain: optional({ name: nameOf('g'), deactivated: fc.constant(false) }),
    permissions,
  }),
  ({ group, plain, permissions }, known) => ({
    handler: editGroup,
    path: { user_group_id: groupId(known, group) },
    parameters: { ...plain, ...changedSettings(permissions, known) },
  }),
);

export const changesMembers = deed(
  'changes the members of a group',
  fc.record({ group: some, add: few, remove: few }),
  ({ group, add, remove }, known) => ({
    handler: updateMembers,
    path: { user_group_id: groupId(known, group) },
    parameters: { add: add.map((n) => userId(known, n)), delete: remove.map((n) => userId(known, n)) },
  }),
);

export const changesSubgroups = deed(
  'changes the groups in a group',
  fc.record({ group: some, add: few, remove: few }),
  ({ group, add, remove }, known) => ({
    handler: updateSubgroups,
    path: { user_group_id: groupId(known, group) },
    parameters: { add: add.map((n) => groupId(known, n)), delete: remove.map((n) => groupId(known, n)) },
  }),
);

export const deactivatesGroup = deed(
  'deactivates a group',
  fc.record({ group: some }),
  ({ group }, known) => ({
    handler: deactivateGroup,
    path: { user_group_id: groupId(known, group) },
  }),
);

export const givesRole = deed(
  'gives a role',
  fc.record({ person: some, role: fc.constantFrom(...Object.values(roles)) }),
  ({ person, role }, known) => ({
    handler: editUser,
    path: { user: userId(known, person) },
    parameters: { role },
  }),
);

export const sendsAway = deed('sends somebody away', fc.record({ person: some }), ({ person }, known) => ({
  handler: deactivateUser,
  path: { user: userId(known, person) },
}));

export const bringsBack = deed('brings somebody back', fc.record({ person: some }), ({ person }, known) => ({
  handler: reactivateUser,
  path: { user: userId(known, person) },
}));
