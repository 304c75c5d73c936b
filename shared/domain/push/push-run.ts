import type { Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { runPool } from '../../pool.ts';
import { follow } from './follower.ts';
import { dropHolders } from './holders.ts';
import type { WakeUp } from './nudge.ts';
import { perform } from './perform.ts';
import { doFinish, LEASE, loadJobs, type PushJob } from './push-job.ts';
import type { PushTools, PushWorld } from './push-world.ts';

/** Jobs that are done at once. */
const WIDTH = 4;
/** What must be left (ms) of a run's time to begin a job: the relay's time and what goes with it. */
const MARGIN = 40_000;
/** How long (ms) the verdict of a test stays for its caller. */
const READ = 60_000;

/**
 * Does what a message of the queue is about: one job that somebody waits for; or else everything that there is to do
 * in an organization, what was left by others among it.
 *
 * Throws when something could not be done because of a fault of ours, after everything else was.
 */
export async function answerNudge(
  outside: Outside,
  tools: PushTools,
  { realm, job, left }: WakeUp,
  deadline: number,
): Promise<void> {
  const { table, now, wait } = outside;
  const world: PushWorld = { outside, tools, realm, log: { table, realm, now, wait }, deadline };
  if (job !== undefined) return perform(world, job);
  if (left !== undefined) return dropHolders(world, [left]);
  const failures: unknown[] = [];
  const performThese = (jobs: readonly PushJob[]): Promise<void> => performAll(world, jobs, failures);
  await follow(world, performThese);
  await performThese(await leftJobs(world));
  if (failures.length > 0) throw new AggregateError(failures, 'some jobs of push notifications failed');
}

/** Does jobs in their order, some at once: what is for the same people reaches them in the order in which it came up. */
async function performAll(world: PushWorld, jobs: readonly PushJob[], failures: unknown[]): Promise<void> {
  const newest = new Map<number, Promise<void>>();
  await runPool(jobs, WIDTH, (job) => {
    const people = peopleOf(job);
    const before = people.map((userId) => newest.get(userId));
    const done = (async () => {
      await Promise.all(before);
      // The sweep finds what is left over.
      if (world.outside.now() > world.deadline - MARGIN) return;
      await perform(world, job.job).catch((error: unknown) => failures.push(error));
    })();
    for (const userId of people) newest.set(userId, done);
    return done;
  });
}

const peopleOf = (job: PushJob): readonly number[] => (job.kind === 'message' ? job.users : [job.userId]);

/** The jobs that are there to be done. What a run left behind that ended in the middle is put in order first. */
async function leftJobs(world: PushWorld): Promise<PushJob[]> {
  const { outside, realm } = world;
  const now = outside.now();
  const jobs = await loadJobs(outside.table, realm);
  const kept = await Promise.all(jobs.map((job) => putInOrder(world, job, now)));
  return kept
    .flatMap((job) => job ?? [])
    .filter(({ due = 0, leased = 0 }) => due <= now && leased <= now - LEASE)
    .sort((a, b) => a.at - b.at);
}

/** The job, unless it is over: as it is known how it ended, or as nobody can know that any more (`push-job.ts`). */
async function putInOrder(world: PushWorld, job: PushJob, now: number): Promise<PushJob | undefined> {
  const { outside, realm } = world;
  if (job.verdict !== undefined) {
    if (job.at < now - READ) await carryOut(outside, [doFinish(realm, job)]);
    return undefined;
  }
  if (!job.sending || (job.leased ?? 0) > now - LEASE) return job;
  const { state } = await carryOut(outside, [doFinish(realm, job)]);
  if (state === 'done') {
    const { kind: what } = job;
    outside.report({ level: 'ERROR', worker: 'push', realm, job: what, trouble: 'unsure', tried: 'no more' });
  }
  return undefined;
}
