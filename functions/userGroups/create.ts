import {
  type CreationGround,
  checkCreateGroup,
  doCreateGroup,
  eventsOfCreation,
  loadCreationGround,
  newMemberships,
} from '../../shared/domain/group/group-create.ts';
import { createLargeGroup, isSmall } from '../../shared/domain/group/group-create-large.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { createUserGroup } from '../../shared/endpoints/user-groups.ts';
import type { Context } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

async function run(
  { input, caller, realm, outside, log, commit }: Context<InputOf<typeof createUserGroup>>,
  ground: CreationGround,
): Promise<ReplyOf<typeof createUserGroup>> {
  const created = checkCreateGroup(caller, input, ground, outside.now());
  if (!isSmall(realm, caller.graph, created)) return createLargeGroup(log, commit, caller.graph, created);
  return commit(eventsOfCreation(created), (numbers) => {
    const [groupId] = numbers as [number];
    const change = doCreateGroup(realm, caller.graph, created, groupId);
    return { ...change, writes: [...change.writes, ...newMemberships(realm, groupId, created.members)] };
  });
}

export const handler = serve(createUserGroup, {
  load: ({ input, realm, outside }) => loadCreationGround(outside.table, realm, input),
  ahead: ({ subgroups = [] }) => (subgroups.length > 0 ? 2 : 1),
  run,
});
