import { noGroups } from '../../kernel/group-graph.ts';
import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { ConflictError, MAX_WRITES } from '../../log/commit.ts';
import { retryOnConflict } from '../../log/retry-on-conflict.ts';
import { doSetGraph } from '../../model/group/graph.ts';
import type { Group } from '../../model/group/group.ts';
import { doJoinGroup } from '../../model/group/member.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeave, type Job } from '../outbox/outbox.ts';

/*
 * A group may be created with more members than one transaction takes, each of whom needs two writes, and nobody may
 * ever see a part of it. The transaction that creates it therefore keeps them in two lists, which count as memberships:
 * in the graph, which every caller is judged by, and beside the members of the group, where these are listed. A job of
 * the outbox, left by the same transaction, stores the memberships one by one and takes the lists away.
 *
 * Every step is held to the list being there. Who wants to change the members first does what is left, so that no late
 * step can bring back somebody who was taken out.
 */

/** What is left of the creation of a large group. */
export interface ArrivalTask {
  readonly groupId: number;
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    arrivals: ArrivalTask;
  }
}

/** They stand where the member with the number 0 would, which nobody has: a list of members begins with them. */
const arrivalsKey = (realm: string, groupId: number): Key<'member'> =>
  key('member', { realm, groupId, userId: 0 });

/** What a transaction leaves of a new group with many members; the graph must get them too (`arriving`). */
export const doLeaveArrivals = (
  realm: string,
  groupId: number,
  members: readonly number[],
  { job, now }: { readonly job: string; readonly now: number },
): Write[] => [
  { put: arrivalsKey(realm, groupId), item: { userIds: members } },
  doLeave(arrivalJob(realm, job), groupId, { groupId } satisfies ArrivalTask, now),
];

/** The job of the outbox that this leaves. */
export const arrivalJob = (realm: string, job: string): Job => ({ realm, kind: 'arrivals', job });

/** How long (ms) the lists stay when all is stored: reads that one request sent together may be so far apart. */
const SETTLING = 500;

/**
 * Stores the memberships of those who came into a group with its creation. To do it again, or beside another run,
 * changes nothing.
 */
export async function endArrival(outside: Outside, realm: string, groupId: number): Promise<void> {
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
    // Another run has done all of it.
    if (state === 'refused') return;
  }
  await outside.wait(SETTLING);
  await retryOnConflict(outside, () => dropLists(outside, realm, groupId));
}

/** Takes the lists away, if they are there; throws `ConflictError` when the graph was changed meanwhile. */
async function dropLists(outside: Outside, realm: string, groupId: number): Promise<void> {
  const list = arrivalsKey(realm, groupId);
  const [left, graph = noGroups] = await Promise.all([
    outside.table.get(list),
    outside.table.get('groupGraph', { realm }),
  ]);
  if (left === undefined) return;
  const { [String(groupId)]: _, ...arriving } = graph.arriving ?? {};
  const { state } = await carryOut(outside, [
    { delete: list },
    { update: key('group', { realm, groupId }), change: { remove: ['isArriving'] }, when: { absent: false } },
    ...doSetGraph(realm, graph, { arriving }),
  ]);
  if (state === 'refused') throw new ConflictError([]);
}

/**
 * Does what is left of the creation of a group whose members are to be changed. Throws `ConflictError` if there was something,
 * since who its members are was read without it.
 */
export async function endArrivalFirst(
  outside: Outside,
  realm: string,
  group: Group | undefined,
): Promise<void> {
  if (group?.isArriving !== true) return;
  await endArrival(outside, realm, group.groupId);
  throw new ConflictError([]);
}
