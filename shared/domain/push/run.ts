import type { Outside, Queues } from '../../kernel/outside.ts';
import { type PushWakeUp, sendPushWakeUp } from '../../kernel/wake-up.ts';
import { carryOut } from '../../log/carry-out.ts';
import { isAnythingAfter, logOf } from '../../log/log.ts';
import { runPool } from '../../pool.ts';
import { type ItemOf, key } from '../../table/keys.ts';
import { hasVersion } from '../../table/write.ts';
import { follow, loadFollower, unsubscribePush } from './follower.ts';
import { finishJob, LEASE_MS, loadJobs, type PushClients, type PushJob, type PushRun } from './job.ts';
import { logFailure, perform } from './perform.ts';

/** Jobs that are done at once. */
const CONCURRENCY = 4;
/** Organizations that the sweep examines at once. */
const SWEEP_CONCURRENCY = 16;
/** Time (ms) that a run needs for one more job: the relay's timeout and some more. */
const MARGIN_MS = 40_000;

/**
 * Handles a message of the queue: does one job, or everything that is to be done in the organization.
 *
 * @throws AggregateError if jobs failed by an internal error, after the others are done
 */
export async function handleWakeUp(
  outside: Outside,
  clients: PushClients,
  { realm, job, left }: PushWakeUp,
  deadline: number,
): Promise<void> {
  const run: PushRun = { outside, clients, realm, deadline };
  if (job !== undefined) return perform(run, job);
  if (left !== undefined) return unsubscribePush(run, [left]);
  const failures: unknown[] = [];
  await follow(run, (jobs) => performAll(run, jobs, failures));
  await performAll(run, await openJobs(run), failures);
  if (failures.length > 0) throw new AggregateError(failures, 'some jobs of push notifications failed');
}

/** Does jobs concurrently, but jobs for the same user one after the other, in their order. */
async function performAll(run: PushRun, jobs: readonly PushJob[], failures: unknown[]): Promise<void> {
  const newest = new Map<number, Promise<void>>();
  await runPool(jobs, CONCURRENCY, (job) => {
    const users = job.kind === 'message' ? job.users : [job.userId];
    const before = users.map((userId) => newest.get(userId));
    const done = (async () => {
      await Promise.all(before);
      // The sweep finds the rest.
      if (run.outside.now() > run.deadline - MARGIN_MS) return;
      await perform(run, job.job).catch((error: unknown) => failures.push(error));
    })();
    for (const userId of users) newest.set(userId, done);
    return done;
  });
}

/** The jobs that can be done now, oldest first. Deletes tests with a verdict, and jobs whose run died while sending. */
async function openJobs(run: PushRun): Promise<PushJob[]> {
  const { outside, realm } = run;
  const now = outside.now();
  const jobs = await loadJobs(outside.table, realm);
  const free = jobs.filter(({ leased = 0 }) => leased <= now - LEASE_MS);
  const isOver = ({ verdict, sending }: PushJob): boolean => verdict !== undefined || sending === true;
  for (const job of free.filter(isOver)) {
    const isDeleted = await finishJob(run, job);
    if (isDeleted && job.verdict === undefined) {
      logFailure(run, job, { trouble: 'noReply', tried: 'no more' });
    }
  }
  return free.filter((job) => !isOver(job) && (job.due ?? 0) <= now).sort((a, b) => a.at - b.at);
}

/**
 * Wakes the worker in organizations with a job or with log entries behind the follower's cursor. Takes organizations
 * with neither job nor follower off the list.
 */
export async function sweepPush(outside: Outside, queues: Queues): Promise<void> {
  const listed = await outside.table.all('pushRealm', {}, { eventually: true });
  const failures = await runPool(listed, SWEEP_CONCURRENCY, (each) => sweepRealm(outside, queues, each));
  if (failures.length > 0) throw new AggregateError(failures, 'some organizations could not be swept');
}

async function sweepRealm(
  outside: Outside,
  queues: Queues,
  { realm, version }: ItemOf<'pushRealm'>,
): Promise<void> {
  const { table } = outside;
  const [follower, jobs] = await Promise.all([loadFollower(table, realm), loadJobs(table, realm, 1)]);
  if (follower === undefined && jobs.length === 0) {
    await carryOut(outside, [{ delete: key('pushRealm', { realm }), when: hasVersion(version) }]);
    return;
  }
  const isBehind = follower !== undefined && (await isAnythingAfter(logOf(outside, realm), follower.cursor));
  if (isBehind || jobs.length > 0) await sendPushWakeUp(queues, { realm });
}
