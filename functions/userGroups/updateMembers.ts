import {
  changeMembers,
  eventsOfChange,
  loadMemberSnapshot,
  memberChange,
} from '../../shared/domain/group-edit/members.ts';
import { updateUserGroupMembers } from '../../shared/endpoints/user-groups.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateUserGroupMembers, {
  parse: (input) => ({
    groupId: input.user_group_id,
    change: memberChange({
      add: input.add,
      remove: input.delete,
      addSubgroups: input.add_subgroups,
      removeSubgroups: input.delete_subgroups,
    }),
  }),
  load: ({ input: { groupId, change }, realm, outside }) =>
    loadMemberSnapshot(outside, realm, groupId, change),
  reserve: ({ change }) => eventsOfChange(change),
  run: ({ input: { groupId, change }, caller, commit, outside }, snapshot) =>
    changeMembers(outside, caller, commit, groupId, change, snapshot),
});
