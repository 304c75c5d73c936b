import { listUserGroupSubgroups } from '../../shared/endpoints/user-groups.ts';
import { allSubgroupsOf, subgroupsOf } from '../../shared/model/group/graph.ts';
import { checkGroupExists, loadGroup } from '../../shared/model/group/member.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listUserGroupSubgroups, {
  load: ({ input, realm, outside }) => loadGroup(outside.table, realm, input.user_group_id),
  run: ({ input, caller }, group) => {
    const { user_group_id: groupId, direct_subgroup_only: directOnly } = input;
    checkGroupExists(groupId, group);
    const list = directOnly === true ? subgroupsOf : allSubgroupsOf;
    return { subgroups: [...list(caller.graph, groupId)] };
  },
});
