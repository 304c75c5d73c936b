import { runPool } from '../pool.ts';
import { type Change, ConflictError, MAX_WRITES } from './commit.ts';
import type { Log } from './log.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

/** Carries out one change with so many numbers of the log. */
export type Commit = <T>(count: number, plan: (numbers: readonly number[]) => Change<T>) => Promise<T>;

/** Work that may be more than one transaction takes: jobs that can be done together, and divided. */
export interface Work<J> {
  /** Whether one transaction takes these jobs. */
  readonly fits: (jobs: readonly J[]) => boolean;
  /** The part of a job that one transaction takes, and the rest, to be done after it; none if it cannot be divided. */
  readonly cut: (job: J) => readonly [J, J] | undefined;
  /** Does the jobs in one transaction; throws `ConflictError` when their snapshot has changed. */
  readonly run: (jobs: readonly J[]) => Promise<void>;
}

/** What bulk work needs from its surroundings. `G` is what it is decided on. */
export interface Stage<G> extends Pick<Log, 'wait' | 'now'> {
  /** Reads the snapshot anew. */
  readonly reload: () => Promise<G>;
}

/** Most bytes of events in one commit: they are one item of the table, which holds 400 KB. */
const MAX_BYTES = 300_000;
/** Most transactions under way at once. */
export const MAX_AT_ONCE = 8;

/** Whether one slot of the log has room for the events. */
export const fitsSlot = (events: readonly object[]): boolean =>
  Buffer.byteLength(JSON.stringify(events)) <= MAX_BYTES;

/** Whether one transaction takes the change, with the slot of the log that tells it. */
export const isOneTransaction = ({ writes, entries }: Change<unknown>): boolean =>
  writes.length < MAX_WRITES && fitsSlot(entries);

/**
 * Cuts up a job that is about each of a list: as much of its beginning as fits, one at least, and the rest; none where
 * there is nothing to divide. It looks at lists of about that size only, so that a long one is cut up in time that
 * grows with it.
 */
export function cutOf<T, J>(
  list: readonly T[],
  jobFor: (some: readonly T[]) => J,
  fits: (jobs: readonly J[]) => boolean,
): readonly [J, J] | undefined {
  if (list.length < 2) return undefined;
  let most = 1;
  let tooMany = list.length;
  for (let size = 2; size < tooMany; size = Math.min(2 * most, most + Math.ceil((tooMany - most) / 2))) {
    if (fits([jobFor(list.slice(0, size))])) most = size;
    else tooMany = size;
  }
  return [jobFor(list.slice(0, most)), jobFor(list.slice(most))];
}

/** Two halves of a list, if there is more than one thing in it. */
const halvesOf = <T>(list: readonly T[]): readonly [T[], T[]] | undefined => {
  const half = Math.ceil(list.length / 2);
  return list.length < 2 ? undefined : [list.slice(0, half), list.slice(half)];
};

/**
 * Decides on work and does all of it. What fits into one transaction is done in one; more is done in several, some
 * at once. Each of them is whole by itself. When one finds that its snapshot has changed, the others are finished,
 * the snapshot is read again, and what is left is decided anew; `decide` is given the newest snapshot each time and must
 * leave out what was done.
 */
export async function inBulk<G, J, D>(
  stage: Stage<G>,
  loaded: G,
  work: Work<J>,
  decide: (snapshot: G) => { readonly jobs: readonly J[]; readonly decision: D },
): Promise<D> {
  return retryOnConflict(stage, async (attempt) => {
    const { jobs, decision } = decide(attempt === 1 ? loaded : await stage.reload());
    await carryOut(lanesOf(work, jobs));
    return decision;
  }).catch((error: unknown) => {
    // A part may be done: the request, which no longer knows which, must not decide again.
    throw error instanceof ConflictError ? new Error('every try of a bulk change met a conflict') : error;
  });
}

/** Transactions that must follow one another. */
type Lane = readonly (() => Promise<void>)[];

function lanesOf<J>(work: Work<J>, jobs: readonly J[]): Lane[] {
  const [only] = jobs;
  if (only === undefined) return [];
  if (work.fits(jobs)) return [[() => work.run(jobs)]];
  const halves = halvesOf(jobs);
  return halves === undefined ? [stepsOf(work, only)] : halves.flatMap((half) => lanesOf(work, half));
}

function stepsOf<J>(work: Work<J>, job: J): Lane {
  const steps: (() => Promise<void>)[] = [];
  for (let rest: J | undefined = job; rest !== undefined; ) {
    const [step, after]: readonly [J, J?] = (work.fits([rest]) ? undefined : work.cut(rest)) ?? [rest];
    steps.push(() => work.run([step]));
    rest = after;
  }
  return steps;
}

/** Carries out the lanes. Where one meets a conflict the others are finished; after a fault none is begun. */
async function carryOut(lanes: readonly Lane[]): Promise<void> {
  let isBroken = false;
  const failures = await runPool(lanes, MAX_AT_ONCE, async (lane) => {
    if (isBroken) return;
    try {
      for (const step of lane) await step();
    } catch (error) {
      isBroken ||= !(error instanceof ConflictError);
      throw error;
    }
  });
  const failure = failures.find((error) => !(error instanceof ConflictError)) ?? failures[0];
  if (failure !== undefined) throw failure;
}
