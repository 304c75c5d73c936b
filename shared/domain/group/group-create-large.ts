import { randomUUID } from 'node:crypto';
import { MOST_WRITES, Stale } from '../../log/commit.ts';
import { giveBack, type Log, takeNumbers } from '../../log/log.ts';
import { keyOf, type Write } from '../../table/write.ts';
import type { Commit } from '../bulk.ts';
import type { GroupGraph } from '../permission.ts';
import { doCreateGroup, eventsOfCreation, type NewGroup, newMemberships } from './group-create.ts';

/** How often a transaction of unknown outcome is tried again. */
const TRIES = 8;

/** Whether one transaction takes the group with all of its memberships, and the slot that tells of it. */
export const isSmall = (realm: string, graph: GroupGraph, created: NewGroup): boolean => {
  const group = doCreateGroup(realm, graph, created, 0).writes.length;
  return group + newMemberships(realm, 0, created.members).length < MOST_WRITES;
};

/**
 * Creates a group with more members than one transaction takes, so that nobody ever sees a part of it: the
 * memberships are written first, for an id that no group has yet, which gives them no effect; then one transaction
 * creates the group. Two round trips more than for a small group. A function that dies in between leaves memberships
 * that mean nothing, since ids are never used again.
 */
export async function createLargeGroup(
  log: Log,
  commit: Commit,
  graph: GroupGraph,
  created: NewGroup,
): Promise<{ readonly group_id: number }> {
  const [groupId] = (await takeNumbers(log, 1)) as [number];
  const memberships = newMemberships(log.realm, groupId, created.members);
  await Promise.all([giveBack(log, [groupId]), carryOut(log, memberships)]);
  try {
    return await commit(eventsOfCreation(created), () => doCreateGroup(log.realm, graph, created, groupId));
  } catch (error) {
    // Only this error tells that the group was surely not created.
    if (error instanceof Stale) {
      await carryOut(
        log,
        memberships.map((write) => ({ delete: keyOf(write) })),
      );
    }
    throw error;
  }
}

/** Carries out writes that have no conditions, some at a time. */
async function carryOut(log: Log, writes: readonly Write[]): Promise<void> {
  const parts = Array.from({ length: Math.ceil(writes.length / MOST_WRITES) }, (_, i) =>
    writes.slice(i * MOST_WRITES, (i + 1) * MOST_WRITES),
  );
  await Promise.all(parts.map((part) => carryOutPart(log, part)));
}

async function carryOutPart(log: Log, writes: readonly Write[]): Promise<void> {
  const token = randomUUID();
  for (let attempt = 1; ; attempt++) {
    const outcome = await log.table.transact(writes, token);
    if (outcome.state === 'done') return;
    if (outcome.state === 'refused') throw new Error('a write without a condition was refused');
    if (attempt === TRIES) throw outcome.cause;
    await log.wait(Math.random() * 10 * 2 ** attempt);
  }
}
