import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { groupSettingSchema } from '../model/permission/permission.ts';
import { endpoint, readsItems, writes } from './endpoint.ts';
import { forEachSetting, userGroupFields, userGroupPermissions } from './objects.ts';
import { boolean, groupChange, ids, json, optional, pathId, text } from './parameter.ts';

const groupId = pathId('The ID of the user group.');

/** The most members that a new group can have. Others can be added later. */
const MAX_FIRST_MEMBERS = 1_000;
/** The most subgroups that a new group can have. */
const MAX_FIRST_SUBGROUPS = 40;
/** The most users or groups in one list of a change. `MAX_CHANGED` of the domain limits all lists together. */
const MAX_IN_LIST = 45;

const setting = (description: string) => optional(json(description, groupSettingSchema));

export const createUserGroup = endpoint({
  id: 'userGroups.create',
  route: 'POST /api/v1/user_groups/create',
  source: 'specification 4.5, wire facts 7',
  description: 'Creates a user group.',
  access: 'member',
  parameters: {
    name: text('The name, unique among all groups (deactivated ones too); case-sensitive.'),
    description: text('The description; may be empty.'),
    members: ids('The IDs of the first members.', MAX_FIRST_MEMBERS),
    subgroups: optional(ids('The IDs of the first subgroups.', MAX_FIRST_SUBGROUPS)),
    can_add_members_group: setting('Who may add members; default the creator.'),
    can_join_group: setting('Who may join; default nobody.'),
    can_leave_group: setting('Who may leave; default everyone.'),
    can_manage_group: setting('Who may manage the group; default the creator.'),
    can_mention_group: setting('Who may mention the group; default everyone.'),
    can_remove_members_group: setting('Who may remove members; default only managers of the group.'),
  },
  reply: z.object({ group_id: z.int() }),
  needs: { table: [...writes, 'ConditionCheckItem'], queues: [OUTBOX] },
});

export const updateUserGroup = endpoint({
  id: 'userGroups.update',
  route: 'PATCH /api/v1/user_groups/{user_group_id}',
  source: 'https://zulip.com/api/update-user-group, specification 2.2',
  description: 'Updates a user group; all changes are made, or none.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    name: optional(text('The new name.')),
    description: optional(text('The new description.')),
    deactivated: optional(boolean('False reactivates a deactivated group; true changes nothing.')),
    ...forEachSetting(userGroupPermissions, groupChange),
  },
  errors: ['EXPECTATION_MISMATCH'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const deactivateUserGroup = endpoint({
  id: 'userGroups.deactivate',
  route: 'POST /api/v1/user_groups/{user_group_id}/deactivate',
  source: 'https://zulip.com/api/deactivate-user-group, wire facts 1.4',
  description: 'Deactivates a user group, unless a setting or another group uses it.',
  access: 'member',
  parameters: { user_group_id: groupId },
  errors: ['CANNOT_DEACTIVATE_GROUP_IN_USE'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const updateUserGroupMembers = endpoint({
  id: 'userGroups.updateMembers',
  route: 'POST /api/v1/user_groups/{user_group_id}/members',
  source: 'https://zulip.com/api/update-user-group-members',
  description: 'Adds and removes members and subgroups of a user group; all changes are made, or none.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    add: optional(ids('The IDs of users to add.', MAX_IN_LIST)),
    delete: optional(ids('The IDs of users to remove.', MAX_IN_LIST)),
    add_subgroups: optional(ids('The IDs of groups to add.', MAX_IN_LIST)),
    delete_subgroups: optional(ids('The IDs of groups to remove.', MAX_IN_LIST)),
  },
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});

export const updateUserGroupSubgroups = endpoint({
  id: 'userGroups.updateSubgroups',
  route: 'POST /api/v1/user_groups/{user_group_id}/subgroups',
  source: 'https://zulip.com/api/update-user-group-subgroups',
  description: 'Adds and removes subgroups of a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    add: optional(ids('The IDs of groups to add.', MAX_IN_LIST)),
    delete: optional(ids('The IDs of groups to remove.', MAX_IN_LIST)),
  },
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const listUserGroupMembers = endpoint({
  id: 'userGroups.listMembers',
  route: 'GET /api/v1/user_groups/{user_group_id}/members',
  source: 'https://zulip.com/api/get-user-group-members',
  description: 'Lists the members of a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    direct_member_only: optional(boolean('Whether to exclude members of subgroups.')),
  },
  reply: z.object({ members: z.array(z.int()) }),
});

export const isUserGroupMember = endpoint({
  id: 'userGroups.isMember',
  route: 'GET /api/v1/user_groups/{user_group_id}/members/{user_id}',
  source: 'https://zulip.com/api/get-is-user-group-member',
  description: 'Checks whether a user is a member of a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    user_id: pathId('The ID of the user.'),
    direct_member_only: optional(boolean('Whether to ignore membership through subgroups.')),
  },
  reply: z.object({ is_user_group_member: z.boolean() }),
});

export const listUserGroupSubgroups = endpoint({
  id: 'userGroups.listSubgroups',
  route: 'GET /api/v1/user_groups/{user_group_id}/subgroups',
  source: 'https://zulip.com/api/get-user-group-subgroups',
  description: 'Lists the subgroups of a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    direct_subgroup_only: optional(boolean('Whether to exclude subgroups of subgroups.')),
  },
  reply: z.object({ subgroups: z.array(z.int()) }),
  needs: { table: readsItems },
});

export const listUserGroups = endpoint({
  id: 'userGroups.list',
  route: 'GET /api/v1/user_groups',
  source: 'https://zulip.com/api/get-user-groups, wire facts 7',
  description: 'Lists the user groups, including the system groups of roles.',
  access: 'member',
  parameters: {
    include_deactivated_groups: optional(boolean('Whether to include deactivated groups; default false.')),
  },
  reply: z.object({ user_groups: z.array(z.object(userGroupFields)) }),
});
