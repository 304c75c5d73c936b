import { runPool } from '../pool.ts';
import { keyOf, type Write } from '../table/write.ts';
import { type Change, ConflictError, MAX_WRITES } from './commit.ts';
import { type EventEntry, fitsSlot } from './slot.ts';

/** Commits one change with `count` log numbers. */
export type Commit = <T>(count: number, plan: (numbers: readonly number[]) => Change<T>) => Promise<T>;

/**
 * Commits a change that takes its log numbers one by one: `number(i)` is that of entry i. The plan is first called
 * without numbers, to count the entries.
 */
export const commitPlan = <T>(
  commit: Commit,
  plan: (number: (index: number) => number) => Change<T>,
): Promise<T> => commit(plan(() => 0).entries.length, (numbers) => plan((i) => numbers[i] as number));

/** Most transactions at the same time. */
export const MAX_AT_ONCE = 8;

/** Whether the change fits into one transaction, with its slot of the log. */
const isOneTransaction = ({ writes, entries }: Change<unknown>): boolean =>
  writes.length < MAX_WRITES && fitsSlot(entries);

/** A job about some people, by whom it can be divided. */
interface Job {
  readonly people: readonly unknown[];
}

/**
 * Does all of the jobs, in one transaction if they fit, else in several, some at once: transactions for different jobs run
 * concurrently, those for more people of one job follow one another. After a conflict the others are finished; after
 * another error none is begun.
 *
 * @param plan the change that some jobs take; also called to see whether they fit
 * @param onDone gets the jobs and the result of each transaction
 * @throws ConflictError when a part may be done: the next try must leave it out
 */
export async function commitInParts<J extends Job, T>(
  commit: Commit,
  jobs: readonly J[],
  plan: (jobs: readonly J[], number: (index: number) => number) => Change<T>,
  onDone: (jobs: readonly J[], result: T) => void,
): Promise<void> {
  const fits = (some: readonly J[]): boolean => isOneTransaction(plan(some, () => 0));
  let isBroken = false;
  const failures = await runPool(groupsOf(jobs, fits), MAX_AT_ONCE, async (group) => {
    try {
      for (let rest = group; rest.length > 0 && !isBroken; ) {
        const [step, after] = group.length > 1 ? [rest, []] : divided(rest, fits);
        onDone(step, await commitPlan(commit, (number) => plan(step, number)));
        rest = after;
      }
    } catch (error) {
      isBroken ||= !(error instanceof ConflictError);
      throw error;
    }
  });
  const failure = failures.find((error) => !(error instanceof ConflictError)) ?? failures[0];
  if (failure !== undefined) throw failure;
}

/** Groups of jobs that fit into one transaction, and single jobs that may not. */
function groupsOf<J>(jobs: readonly J[], fits: (jobs: readonly J[]) => boolean): (readonly J[])[] {
  if (jobs.length < 2 || fits(jobs)) return [jobs];
  const half = Math.ceil(jobs.length / 2);
  return [jobs.slice(0, half), jobs.slice(half)].flatMap((some) => groupsOf(some, fits));
}

/**
 * Divides a job: as many of its people as fit, at least one, and the rest. It tries sizes near the result only, so that
 * the time grows with the list and not with its square.
 */
function divided<J extends Job>(
  jobs: readonly J[],
  fits: (jobs: readonly J[]) => boolean,
): readonly [readonly J[], readonly J[]] {
  const part = (start: number, end?: number): J[] =>
    jobs.map((job) => ({ ...job, people: job.people.slice(start, end) }));
  const all = jobs[0]?.people.length ?? 0;
  let [most, tooMany] = [1, all + 1];
  for (let size = 2; size < tooMany; size = Math.min(2 * most, most + Math.ceil((tooMany - most) / 2))) {
    if (fits(part(0, size))) most = size;
    else tooMany = size;
  }
  return [part(0, most), most < all ? part(most) : []];
}

/** A part of a change that is complete by itself, with its events. */
export interface Step {
  readonly writes: readonly Write[];
  readonly entries: readonly EventEntry[];
  /** Conditions on other items. Left out if a step in the same transaction writes that item, since its write checks it. */
  readonly held?: readonly Write[];
}

/** Most writes of one step: the transaction also writes the slot of its events, and the versions of lists (`Table.transact`). */
export const MAX_IN_STEP = MAX_WRITES - 2;

/**
 * Commits steps in order, as many per transaction as fit. Few steps are all or nothing; of many, the first may be done
 * and the rest not, which the next request then does.
 */
export async function commitInOrder(commit: Commit, steps: readonly Step[]): Promise<void> {
  for (const batch of batchesOf(steps)) {
    const writes = withHeld(batch);
    const entries = batch.flatMap((step) => step.entries);
    await commit(entries.length, () => ({ writes, entries, result: undefined }));
  }
}

/** The writes and conditions of the steps; a transaction may name an item only once. */
function withHeld(batch: readonly Step[]): Write[] {
  const writes = batch.flatMap((step) => step.writes);
  const known = new Set(writes.map(nameOf));
  for (const write of batch.flatMap(({ held = [] }) => held)) {
    if (known.has(nameOf(write))) continue;
    known.add(nameOf(write));
    writes.push(write);
  }
  return writes;
}

const nameOf = (write: Write): string => JSON.stringify(keyOf(write));

const sizeOf = ({ writes, held = [] }: Step): number => writes.length + held.length;

function batchesOf(steps: readonly Step[]): Step[][] {
  const batches: Step[][] = [];
  let room = 0;
  for (const step of steps) {
    const batch = batches.at(-1);
    if (batch && sizeOf(step) <= room) batch.push(step);
    else {
      batches.push([step]);
      room = MAX_IN_STEP;
    }
    room -= sizeOf(step);
  }
  return batches;
}
