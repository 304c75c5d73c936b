import * as z from 'zod/mini';
import { groupSettingSchema } from '../model/permission/permission.ts';

/** The fields of a user group in replies and events (see `shared/model/group/group.ts`). */
export const userGroupFields = {
  id: z.int(),
  name: z.string(),
  description: z.string(),
  creator_id: z.nullable(z.int()),
  date_created: z.nullable(z.int()),
  members: z.array(z.int()),
  direct_subgroup_ids: z.array(z.int()),
  is_system_group: z.boolean(),
  can_add_members_group: groupSettingSchema,
  can_join_group: groupSettingSchema,
  can_leave_group: groupSettingSchema,
  can_manage_group: groupSettingSchema,
  can_mention_group: groupSettingSchema,
  can_remove_members_group: groupSettingSchema,
  deactivated: z.boolean(),
} as const;
