import {
  changeMembers,
  eventsOfChange,
  loadMemberGround,
  type MemberChange,
  memberChange,
} from '../../shared/domain/group-edit/change.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { updateUserGroupMembers } from '../../shared/endpoints/user-groups.ts';
import { serve } from '../../shared/serve/serve.ts';

const changeOf = (input: InputOf<typeof updateUserGroupMembers>): MemberChange =>
  memberChange({
    add: input.add,
    remove: input.delete,
    addSubgroups: input.add_subgroups,
    removeSubgroups: input.delete_subgroups,
  });

export const handler = serve(updateUserGroupMembers, {
  load: ({ input, realm, outside }) =>
    loadMemberGround(outside.table, realm, input.user_group_id, changeOf(input)),
  reserve: (input) => eventsOfChange(changeOf(input)),
  run: ({ input, caller, commit, outside }, ground) =>
    changeMembers(outside, caller, commit, input.user_group_id, changeOf(input), ground),
});
