import type { Outside } from '../../kernel/outside.ts';
import { isSameTopic } from '../../model/message/message.ts';
import { deleteReactions } from '../../model/message/reaction-store.ts';
import type { PoliciesTask } from '../../model/message/user-topic.ts';
import { endArrival } from '../group-edit/arrival.ts';
import { moveRest } from '../move/move-rest.ts';
import { tellMoved } from '../move/moved-notice.ts';
import { bringPeople } from '../move/moved-people.ts';
import { followPolicies } from '../move/policy-follow.ts';
import { finish, type Job, type Left, loadJob, loadKind } from '../outbox/outbox.ts';
import { loadWorld, type OutboxWorld } from '../outbox/outbox-world.ts';
import { tellSubscribed } from '../subscribe/notices.ts';

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
    for (const part of parts.filter((each) => each.kind === 'reactions'))
      for (const id of part.messageIds) await deleteReactions(outside, job.realm, id);
    return finish(outside, parts);
  }
  const world = await loadWorld(outside, job.realm);
  if (world !== undefined) {
    if (job.kind === 'policies') return followInOrder(world, job);
    const subscribed = parts.filter((each) => each.kind === 'subscribed');
    if (subscribed.length > 0) await tellSubscribed(world, job.job, subscribed);
    for (const part of parts) {
      if (part.kind === 'move') await moveRest(world, part, deadline - LAST);
      else if (part.kind === 'arrivals') await endArrival(outside, job.realm, part.groupId);
      else if (part.kind === 'people') await bringPeople(world, part);
      else if (part.kind === 'moved') await tellMoved(world, part, 'old');
    }
    if (job.kind === 'move') return;
  }
  await finish(outside, parts);
}

/**
 * Lets the policies of one move follow, after those of earlier moves that are left from or to one of its topics, or one
 * of theirs: the same topic may have moved on. A move that fails holds up the later ones of its topics only.
 */
async function followInOrder(world: OutboxWorld, { job }: Job): Promise<void> {
  const { outside, realmId } = world;
  const tasks = await loadKind(outside.table, realmId, 'policies');
  const chain: Left<'policies'>[] = [];
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
