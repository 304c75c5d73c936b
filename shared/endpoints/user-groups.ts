import * as z from 'zod/mini';
import { OUTBOX } from '../domain/outbox/outbox.ts';
import { groupSettingChangeSchema, groupSettingSchema } from '../model/permission/permission.ts';
import { endpoint, reads, writes } from './endpoint.ts';
import { boolean, json, optional, pathId, text } from './parameter.ts';
import { userGroupFields } from './user-group-fields.ts';

const groupId = pathId('The ID of the user group.');

/** At most so many ids, which keeps a request within what one transaction takes. */
const ids = (description: string, most: number) =>
  json(description, z.array(z.int()).check(z.maxLength(most)));

/** The most members that a group can be created with; more are added later. */
const MAX_FIRST_MEMBERS = 1_000;
/** The most subgroups that a group can be created with. */
const MAX_FIRST_SUBGROUPS = 40;
/** The most people or groups in one list of a change; `MAX_CHANGED` of the domain is for all lists together. */
const MAX_IN_LIST = 45;

const setting = (description: string) => optional(json(description, groupSettingSchema));

export const createUserGroup = endpoint({
  id: 'userGroups.create',
  method: 'POST',
  path: '/api/v1/user_groups/create',
  source: 'specification 4.5, wire facts 7',
  description: 'Creates a user group.',
  access: 'member',
  parameters: {
    name: text('The name: unique among all groups, deactivated ones too; case matters.'),
    description: text('What the group is for; may be empty.'),
    members: ids('The IDs of the first members.', MAX_FIRST_MEMBERS),
    subgroups: optional(ids('The IDs of the first subgroups.', MAX_FIRST_SUBGROUPS)),
    can_add_members_group: setting('Who may add members; at first only the creator.'),
    can_join_group: setting('Who may join; at first nobody.'),
    can_leave_group: setting('Who may leave; at first everyone.'),
    can_manage_group: setting('Who may manage the group; at first only the creator.'),
    can_mention_group: setting('Who may mention the group; at first everyone.'),
    can_remove_members_group: setting('Who may remove members; at first nobody but managers.'),
  },
  reply: z.object({ group_id: z.int() }),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'], queues: [OUTBOX] },
});

const change = (description: string) => optional(json(description, groupSettingChangeSchema));

export const updateUserGroup = endpoint({
  id: 'userGroups.update',
  method: 'PATCH',
  path: '/api/v1/user_groups/{user_group_id}',
  source: 'https://zulip.com/api/update-user-group, specification 2.2',
  description: 'Changes a user group: all that is asked for, or nothing.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    name: optional(text('The new name.')),
    description: optional(text('The new description.')),
    deactivated: optional(boolean('False takes a deactivated group into use again; true changes nothing.')),
    can_add_members_group: change('Who may add members.'),
    can_join_group: change('Who may join.'),
    can_leave_group: change('Who may leave.'),
    can_manage_group: change('Who may manage the group.'),
    can_mention_group: change('Who may mention the group.'),
    can_remove_members_group: change('Who may remove members.'),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'EXPECTATION_MISMATCH'],
  needs: { table: [...writes, 'DeleteItem'] },
});

export const deactivateUserGroup = endpoint({
  id: 'userGroups.deactivate',
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/deactivate',
  source: 'https://zulip.com/api/deactivate-user-group, wire facts 1.4',
  description: 'Takes a user group out of use, unless a setting or another group uses it.',
  access: 'member',
  parameters: { user_group_id: groupId },
  reply: z.object({}),
  errors: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const updateUserGroupMembers = endpoint({
  id: 'userGroups.updateMembers',
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/members',
  source: 'https://zulip.com/api/update-user-group-members',
  description: 'Puts people and groups into a user group and takes others out: all of it, or nothing.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    add: optional(ids('The IDs of users to add.', MAX_IN_LIST)),
    delete: optional(ids('The IDs of users to remove.', MAX_IN_LIST)),
    add_subgroups: optional(ids('The IDs of groups to add.', MAX_IN_LIST)),
    delete_subgroups: optional(ids('The IDs of groups to remove.', MAX_IN_LIST)),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'DeleteItem', 'ConditionCheckItem'] },
});

export const updateUserGroupSubgroups = endpoint({
  id: 'userGroups.updateSubgroups',
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/subgroups',
  source: 'https://zulip.com/api/update-user-group-subgroups',
  description: 'Puts groups into a user group and takes others out.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    add: optional(ids('The IDs of groups to add.', MAX_IN_LIST)),
    delete: optional(ids('The IDs of groups to remove.', MAX_IN_LIST)),
  },
  reply: z.object({}),
  errors: ['BAD_REQUEST'],
  needs: { table: [...writes, 'ConditionCheckItem'] },
});

export const listUserGroupMembers = endpoint({
  id: 'userGroups.listMembers',
  method: 'GET',
  path: '/api/v1/user_groups/{user_group_id}/members',
  source: 'https://zulip.com/api/get-user-group-members',
  description: 'Lists the members of a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    direct_member_only: optional(boolean('Leaves out those who are members through subgroups.')),
  },
  reply: z.object({ members: z.array(z.int()) }),
  errors: ['BAD_REQUEST'],
  needs: { table: reads },
});

export const isUserGroupMember = endpoint({
  id: 'userGroups.isMember',
  method: 'GET',
  path: '/api/v1/user_groups/{user_group_id}/members/{user_id}',
  source: 'https://zulip.com/api/get-is-user-group-member',
  description: 'Tells whether a user is a member of a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    user_id: pathId('The ID of the user.'),
    direct_member_only: optional(boolean('Leaves membership through subgroups out of account.')),
  },
  reply: z.object({ is_user_group_member: z.boolean() }),
  errors: ['BAD_REQUEST'],
  needs: { table: reads },
});

export const listUserGroupSubgroups = endpoint({
  id: 'userGroups.listSubgroups',
  method: 'GET',
  path: '/api/v1/user_groups/{user_group_id}/subgroups',
  source: 'https://zulip.com/api/get-user-group-subgroups',
  description: 'Lists the groups in a user group.',
  access: 'member',
  parameters: {
    user_group_id: groupId,
    direct_subgroup_only: optional(boolean('Leaves out those that are in it through subgroups.')),
  },
  reply: z.object({ subgroups: z.array(z.int()) }),
  errors: ['BAD_REQUEST'],
  needs: { table: reads },
});

export const listUserGroups = endpoint({
  id: 'userGroups.list',
  method: 'GET',
  path: '/api/v1/user_groups',
  source: 'https://zulip.com/api/get-user-groups, wire facts 7',
  description: 'Lists the user groups, those of the roles too.',
  access: 'member',
  parameters: {
    include_deactivated_groups: optional(boolean('Lists deactivated groups too; no if absent.')),
  },
  reply: z.object({ user_groups: z.array(z.object(userGroupFields)) }),
  errors: [],
  needs: { table: reads },
});
