import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { isUserGroupMember } from '../../shared/endpoints/user-groups.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { isId } from '../../shared/kernel/lookup.ts';
import { checkGroupExists, loadGroup } from '../../shared/model/group/member.ts';
import { isFullMember, roleGroups, standingOf } from '../../shared/model/permission/permission.ts';
import { directGroups } from '../../shared/model/user/caller.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type IsMember = InputOf<typeof isUserGroupMember>;

async function load({ input, realm, outside }: UnverifiedRequest<IsMember>) {
  const { user_group_id: groupId, user_id: userId } = input;
  const [group, user, direct] = await Promise.all([
    loadGroup(outside.table, realm, groupId),
    isId(userId) ? outside.table.get('user', { realm, userId }) : undefined,
    isId(userId) ? directGroups(outside, realm, userId) : [],
  ]);
  return { group, user, direct };
}

function run(
  { input, caller, outside }: Request<IsMember>,
  { group, user, direct }: Awaited<ReturnType<typeof load>>,
): ReplyOf<typeof isUserGroupMember> {
  const { user_group_id: groupId } = input;
  checkGroupExists(groupId, group);
  if (user === undefined) throw badRequest('There is no such user.');
  if (!user.isActive) throw badRequest('The user is deactivated.');
  const { waiting_period_threshold: waitingDays } = caller.realm.settings;
  const now = outside.now();
  const isMember =
    input.direct_member_only === true
      ? [...direct, ...roleGroups(user.role, isFullMember(user, waitingDays, now))].includes(groupId)
      : standingOf(user, direct, caller.graph, waitingDays, now).groups.has(groupId);
  return { is_user_group_member: isMember };
}

export const handler = serve(isUserGroupMember, { load, run });
