import { listUserGroupSubgroups } from '../../shared/endpoints/user-groups.ts';
import { uniqueSorted } from '../../shared/lists.ts';
import { checkGroupExists, loadGroup } from '../../shared/model/group/member.ts';
import { subgroupsOf, withSubgroups } from '../../shared/model/permission/permission.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listUserGroupSubgroups, {
  load: ({ input, realm, outside }) => loadGroup(outside.table, realm, input.user_group_id),
  run: ({ input, caller }, group) => {
    const { user_group_id: groupId, direct_subgroup_only: directOnly } = input;
    checkGroupExists(groupId, group);
    const direct = subgroupsOf(caller.graph, groupId);
    return {
      subgroups: directOnly === true ? [...direct] : uniqueSorted(withSubgroups(caller.graph, direct)),
    };
  },
});
