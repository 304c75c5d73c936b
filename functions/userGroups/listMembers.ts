import { listUserGroupMembers } from '../../shared/endpoints/user-groups.ts';
import { noGroups } from '../../shared/kernel/lookup.ts';
import { checkGroupExists, loadCandidates, membersAmong } from '../../shared/model/group/member.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

const graph = { kind: 'groupGraph' } as const;

export const handler = serveByRole(listUserGroupMembers, {
  keys: () => [graph],
  load: ({ input, realm, resolved, outside }) =>
    loadCandidates(
      outside,
      realm,
      resolved.follow(graph) ?? noGroups,
      input.user_group_id,
      input.direct_member_only === true,
    ),
  run: ({ input, caller, outside }, candidates) => {
    checkGroupExists(input.user_group_id, candidates.group);
    const { waiting_period_threshold: waitingDays } = caller.realm.settings;
    return { members: membersAmong(candidates, waitingDays, outside.now()) };
  },
});
