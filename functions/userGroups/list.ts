import { listUserGroups } from '../../shared/endpoints/user-groups.ts';
import { groupObjects, loadNamedGroups } from '../../shared/model/group/member.ts';
import { loadUsers } from '../../shared/model/user/principals.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listUserGroups, {
  load: async ({ outside, realm }) => {
    const [named, users] = await Promise.all([loadNamedGroups(outside, realm), loadUsers(outside, realm)]);
    return { named, users };
  },
  run: ({ input, caller, outside }, { named, users }) => ({
    user_groups: groupObjects(caller, named, users, {
      includeDeactivated: input.include_deactivated_groups ?? false,
      now: outside.now(),
    }),
  }),
});
