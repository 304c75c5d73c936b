import type { Group } from './group.ts';

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
