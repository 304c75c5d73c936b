import { sqsQueues } from '../../shared/adapters/queues.ts';
import {
  checkCreateGroup,
  doCreateGroup,
  eventsOfCreation,
  isLargeGroup,
  loadCreationSnapshot,
} from '../../shared/domain/group-edit/create.ts';
import { pendingMembersJob } from '../../shared/domain/group-edit/pending-members.ts';
import { wakeOutbox } from '../../shared/domain/outbox/outbox.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { createUserGroup } from '../../shared/endpoints/user-groups.ts';
import type { Queues } from '../../shared/kernel/outside.ts';
import { checkPendingRoom } from '../../shared/model/group/graph.ts';
import type { Request } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Create = InputOf<typeof createUserGroup>;

interface Tools {
  readonly queues: Queues;
}

async function run(
  { input, caller, realm, outside, commit, clients }: Request<Create> & { readonly clients: Tools },
  snapshot: Awaited<ReturnType<typeof loadCreationSnapshot>>,
): Promise<ReplyOf<typeof createUserGroup>> {
  const now = outside.now();
  const created = checkCreateGroup(caller, input, snapshot, now);
  const isLarge = isLargeGroup(realm, caller.graph, created);
  if (isLarge) checkPendingRoom(caller.graph, created.members.length);
  const job = outside.uuid();
  const groupId = await commit(eventsOfCreation(created), ([groupId = 0]) =>
    doCreateGroup(realm, caller.graph, created, groupId, { job, now }),
  );
  if (isLarge) await wakeOutbox(outside, clients.queues, pendingMembersJob(realm, job));
  return { group_id: groupId };
}

export const handler = serve(
  createUserGroup,
  {
    load: ({ input, realm, outside }) => loadCreationSnapshot(outside, realm, input),
    reserve: eventsOfCreation,
    run,
  },
  { queues: sqsQueues },
);
