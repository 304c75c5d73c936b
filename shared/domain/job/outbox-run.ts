import type { Outside } from '../../kernel/outside.ts';
import { isSameTopic } from '../../model/message/conversation.ts';
import type { PoliciesTask } from '../../model/message/policy-move.ts';
import { deleteReactions, type ReactionsTask } from '../../model/message/reaction-store.ts';
import { type ArrivalTask, endArrival } from '../group-edit/arrival.ts';
import { moveRest, type RestTask } from '../move/move-rest.ts';
import { type MovedTask, tellMoved } from '../move/moved-notice.ts';
import { bringPeople, type PeopleTask } from '../move/moved-people.ts';
import { followPolicies } from '../move/policy-follow.ts';
import { finish, type Job, type Left, loadJob, loadKind } from '../outbox/outbox.ts';
import { loadWorld, type OutboxWorld } from '../outbox/outbox-world.ts';
import type { SubscribedTask } from '../subscribe/subscription-leave.ts';
import { tellSubscribed } from '../subscribe/subscription-notices.ts';

/** How long before its deadline (ms) a run begins nothing more. */
const LAST = 15_000;

/**
 * Does a job of the outbox, or what is left of it, and takes it out. Throws where something of it could not be done,
 * after everything else was; the job stays then, and comes again. A move that is too long for one run stays too: the
 * sweep wakes the next one. The deadline is in milliseconds.
 */
export async function runJob(outside: Outside, job: Job, deadline: number): Promise<void> {
  const parts = await loadJob(outside.table, job);
  if (parts.length === 0) return;
  if (job.kind === 'reactions') {
    for (const { messageIds } of parts as (Left & ReactionsTask)[])
      for (const id of messageIds) await deleteReactions(outside, job.realm, id);
    return finish(outside, parts);
  }
  const world = await loadWorld(outside, job.realm);
  if (world !== undefined) {
    if (job.kind === 'policies') return followInOrder(world, job);
    if (job.kind === 'move') {
      for (const part of parts as (Left & RestTask)[]) await moveRest(world, part, deadline - LAST);
      return;
    }
    if (job.kind === 'subscribed') await tellSubscribed(world, job.job, parts as (Left & SubscribedTask)[]);
    else if (job.kind === 'arrivals')
      for (const { groupId } of parts as (Left & ArrivalTask)[])
        await endArrival(outside, job.realm, groupId);
    else if (job.kind === 'people')
      for (const part of parts as (Left & PeopleTask)[]) await bringPeople(world, part);
    else for (const part of parts as (Left & MovedTask)[]) await tellMoved(world, part, 'old');
  }
  await finish(outside, parts);
}

/**
 * Lets the policies of one move follow, after those of earlier moves that are left from or to one of its topics, or one
 * of theirs: the same topic may have moved on. A move that fails holds up the later ones of its topics only.
 */
async function followInOrder(world: OutboxWorld, { job }: Job): Promise<void> {
  const { outside, realmId } = world;
  const tasks = await loadKind<PoliciesTask>(outside.table, realmId, 'policies');
  const chain: (PoliciesTask & Left)[] = [];
  for (const task of tasks.sort((a, b) => b.part - a.part)) {
    const isEarlier = chain.some((later) => sharesTopic(task, later));
    if (task.job === job || isEarlier) chain.unshift(task);
  }
  for (const task of chain) {
    await followPolicies(world, task);
    await finish(outside, [task]);
  }
}

/** Whether one of the topics of a move is one of another's. */
const sharesTopic = (one: PoliciesTask, other: PoliciesTask): boolean =>
  [one.from, one.to].some((place) => isSameTopic(place, other.from) || isSameTopic(place, other.to));
