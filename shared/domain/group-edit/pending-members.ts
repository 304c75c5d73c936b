import { noGroups } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut, carryOutUnchanged } from '../../log/carry-out.ts';
import { MAX_WRITES, retryOnConflict } from '../../log/commit.ts';
import { doSetGraph } from '../../model/group/graph.ts';
import { doJoinGroup } from '../../model/group/member.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveJob, type Job } from '../outbox/outbox.ts';

/*
 * A group can be created with more members than fit in one transaction (each takes two writes), and nobody may see a
 * part of it. Clients send all members in one request, so a limit of about 40 would keep large groups out. So its transaction stores the members in two lists that count as memberships: in the graph, which every
 * request reads, and beside the members of the group. A job of the outbox, created by the same transaction, stores the
 * memberships one by one and then deletes the lists.
 *
 * Each step fails if the list is gone. A request that changes the members first finishes this work, so that no late
 * step can bring back a removed member.
 */

declare module '../outbox/outbox.ts' {
  interface Tasks {
    /** Stores the pending members of a group. */
    arrivals: { readonly groupId: number };
  }
}

/** The key of a member with the number 0, which no user has: a list of members begins with it. */
const arrivalsKey = (realm: string, groupId: number): Key<'member'> =>
  key('member', { realm, groupId, userId: 0 });

/**
 * Stores the members of a large new group as a list, and creates the job. The graph must get them too (`arriving`).
 */
export const doAddPendingMembers = (
  realm: string,
  groupId: number,
  members: readonly number[],
  { job, now }: { readonly job: string; readonly now: number },
): Write[] => [
  { put: arrivalsKey(realm, groupId), item: { userIds: members } },
  doLeaveJob(pendingMembersJob(realm, job), groupId, { groupId }, now),
];

/** The job in the outbox. */
export const pendingMembersJob = (realm: string, job: string): Job => ({ realm, kind: 'arrivals', job });

/** How long the lists stay after all is stored: the concurrent reads of one request may be this far apart. */
const SETTLE_MS = 500;

/** Stores the pending members of a group one by one. Safe to repeat and to run concurrently. */
export async function storePendingMembers(outside: Outside, realm: string, groupId: number): Promise<void> {
  const list = arrivalsKey(realm, groupId);
  const held: Write = { check: list, when: { absent: false } };
  const arrivals = await outside.table.get(list);
  if (arrivals === undefined || !('userIds' in arrivals)) return;
  const { userIds } = arrivals;
  const step = Math.floor((MAX_WRITES - 1) / 2);
  for (let start = 0; start < userIds.length; start += step) {
    const memberships = userIds
      .slice(start, start + step)
      .flatMap((userId) => doJoinGroup(realm, groupId, userId, false));
    const { state } = await carryOut(outside, [held, ...memberships]);
    // A concurrent run has finished.
    if (state === 'refused') return;
  }
  await outside.wait(SETTLE_MS);
  await retryOnConflict(outside, () => dropLists(outside, realm, groupId));
}

/**
 * Deletes the lists.
 *
 * @throws ConflictError if the graph changed meanwhile
 */
async function dropLists(outside: Outside, realm: string, groupId: number): Promise<void> {
  const list = arrivalsKey(realm, groupId);
  const [left, graph = noGroups] = await Promise.all([
    outside.table.get(list),
    outside.table.get('groupGraph', { realm }),
  ]);
  if (left === undefined) return;
  const { [String(groupId)]: _, ...arriving } = graph.arriving ?? {};
  await carryOutUnchanged(outside, [
    { delete: list },
    { update: key('group', { realm, groupId }), change: { remove: ['isArriving'] }, when: { absent: false } },
    ...doSetGraph(realm, graph, { arriving }),
  ]);
}
