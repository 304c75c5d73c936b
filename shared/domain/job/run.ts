import type { Outside, Queues } from '../../kernel/outside.ts';
import { isSameTopic } from '../../model/message/message.ts';
import { deleteReactions } from '../../model/message/reaction-store.ts';
import type { PoliciesTask } from '../../model/message/user-topic.ts';
import { runPool } from '../../pool.ts';
import { releaseFiles } from '../files/claim.ts';
import { storePendingMembers } from '../group-edit/pending-members.ts';
import { sendWelcome } from '../invite/welcome.ts';
import { postMoveNotice } from '../move/notice.ts';
import { addParticipants } from '../move/people.ts';
import { followPolicies } from '../move/policies.ts';
import { moveRest } from '../move/rest.ts';
import {
  finish,
  type Job,
  type Left,
  loadJob,
  loadKind,
  loadOutboxRun,
  type OutboxRun,
  sendJob,
} from '../outbox/outbox.ts';
import { postReport } from '../send/report.ts';
import { sendSubscribedNotices } from '../subscribe/notices.ts';

/** Time (ms) before its deadline at which a run starts nothing more. */
const MARGIN_MS = 15_000;

/** Age (ms) at which the message about a job counts as lost: no request and no usual run takes so long. */
const LOST_MS = 120_000;

/** Age (ms) at which a job is left alone: its message is a dead letter by then, and an alarm has told the operator. */
const GIVEN_UP_MS = 24 * 3_600_000;

/** Messages that the sweep sends at once. */
const CONCURRENCY = 16;

/**
 * Does a job of the outbox, or the rest of it, and deletes it. The deadline is in milliseconds. If a part fails, the
 * others are still done, and then this throws: the job stays and is repeated. A move that is too long for one run stays
 * too, and the sweep wakes the next run.
 */
export async function runJob(outside: Outside, job: Job, deadline: number): Promise<void> {
  const parts = await loadJob(outside.table, job);
  if (parts.length === 0) return;
  if (job.kind === 'reactions') {
    for (const part of parts.filter((each) => each.kind === 'reactions'))
      for (const id of part.messageIds) await deleteReactions(outside, job.realm, id);
    return finish(outside, parts);
  }
  if (job.kind === 'files') {
    for (const part of parts.filter((each) => each.kind === 'files'))
      await releaseFiles(outside, job.realm, part);
    return finish(outside, parts);
  }
  const run = await loadOutboxRun(outside, job.realm);
  if (run !== undefined) {
    if (job.kind === 'policies') return followInOrder(run, job);
    const subscribed = parts.filter((each) => each.kind === 'subscribed');
    if (subscribed.length > 0) await sendSubscribedNotices(run, job.job, subscribed);
    for (const part of parts) {
      if (part.kind === 'move') await moveRest(run, part, deadline - MARGIN_MS);
      else if (part.kind === 'arrivals') await storePendingMembers(outside, job.realm, part.groupId);
      else if (part.kind === 'joined') await sendWelcome(run, part);
      else if (part.kind === 'people') await addParticipants(run, part);
      else if (part.kind === 'report') await postReport(run, part);
      else if (part.kind === 'moved') await postMoveNotice(run, part, 'old');
    }
    if (job.kind === 'move') return;
  }
  await finish(outside, parts);
}

/**
 * Moves the topic policies of one move, after those of earlier moves that share a topic with it: the topic may have
 * moved on. A move that fails holds up only later moves of its topics.
 */
async function followInOrder(run: OutboxRun, { job }: Job): Promise<void> {
  const { outside, realmId } = run;
  const tasks = await loadKind(outside.table, realmId, 'policies');
  const chain: Left<'policies'>[] = [];
  for (const task of tasks.sort((a, b) => b.part - a.part)) {
    const isEarlier = chain.some((later) => sharesTopic(task, later));
    if (task.job === job || isEarlier) chain.unshift(task);
  }
  for (const task of chain) {
    await followPolicies(run, task);
    await finish(outside, [task]);
  }
}

/** Whether two moves have a topic in common. */
const sharesTopic = (one: PoliciesTask, other: PoliciesTask): boolean =>
  [one.from, one.to].some((topic) => isSameTopic(topic, other.from) || isSameTopic(topic, other.to));

/** Wakes the worker for each job whose message seems to be lost. */
export async function sweepOutbox(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  queues: Queues,
): Promise<void> {
  const parts = await table.all('outbox', {}, { eventually: true });
  const lost = parts.filter(({ at }) => at < now() - LOST_MS && at > now() - GIVEN_UP_MS);
  const jobs = new Map(lost.map(({ realm, kind, job }) => [job, { realm, kind, job }]));
  const failures = await runPool(jobs.values(), CONCURRENCY, (job) => sendJob(queues, job));
  if (failures.length > 0)
    throw new AggregateError(failures, 'no message could be sent for some outbox jobs');
}
