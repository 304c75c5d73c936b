import { runPool } from '../pool.ts';
import { keyOf, type Write } from '../table/write.ts';
import { type Change, CommitTimeoutError, ConflictError, MAX_WRITES } from './commit.ts';
import type { Log } from './log.ts';
import { retryOnConflict } from './retry-on-conflict.ts';
import type { EventEntry } from './slot.ts';

/** Commits one change with `count` log numbers. */
export type Commit = <T>(count: number, plan: (numbers: readonly number[]) => Change<T>) => Promise<T>;

/** Work that may not fit into one transaction: jobs that can be done together, and divided. */
export interface Work<J> {
  /** Whether these jobs fit into one transaction. */
  readonly fits: (jobs: readonly J[]) => boolean;
  /** Divides a job into a part that fits into one transaction, and the rest; undefined if it cannot be divided. */
  readonly cut: (job: J) => readonly [J, J] | undefined;
  /** Does the jobs in one transaction; throws `ConflictError` when their snapshot has changed. */
  readonly run: (jobs: readonly J[]) => Promise<void>;
}

/** `G` is the snapshot that bulk work is decided on. */
export interface Stage<G> extends Pick<Log, 'wait' | 'now'> {
  /** Reads the snapshot again. */
  readonly reload: () => Promise<G>;
}

/** Most bytes of events in one commit: they are one item, which holds 400 KB. */
const MAX_BYTES = 300_000;
/** Most transactions at the same time. */
export const MAX_AT_ONCE = 8;

/** Whether the events fit into one slot of the log. */
export const fitsSlot = (events: readonly object[]): boolean =>
  Buffer.byteLength(JSON.stringify(events)) <= MAX_BYTES;

/** Whether the change fits into one transaction, with its slot of the log. */
export const isOneTransaction = ({ writes, entries }: Change<unknown>): boolean =>
  writes.length < MAX_WRITES && fitsSlot(entries);

/**
 * Divides a job about a list: as many of the first entries as fit, at least one, and the rest; undefined if there is
 * nothing to divide. It tries sizes near the result only, so that the time grows with the list and not with its square.
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

/** The two halves of a list; undefined for fewer than two entries. */
const halvesOf = <T>(list: readonly T[]): readonly [T[], T[]] | undefined => {
  const half = Math.ceil(list.length / 2);
  return list.length < 2 ? undefined : [list.slice(0, half), list.slice(half)];
};

/**
 * Decides on work and does all of it, in one transaction if it fits, else in several, some at once. If one of them finds
 * that the snapshot has changed, the others are finished, the snapshot is read again and the rest is decided again:
 * `decide` gets the newest snapshot and must leave out what was done.
 *
 * @throws CommitTimeoutError when every try met a conflict. A part may be done; the caller may repeat the request.
 */
export async function inBulk<G, J, D>(
  stage: Stage<G>,
  loaded: G,
  work: Work<J>,
  decide: (snapshot: G) => { readonly jobs: readonly J[]; readonly decision: D },
): Promise<D> {
  return retryOnConflict(stage, async (attempt) => {
    const { jobs, decision } = decide(attempt === 1 ? loaded : await stage.reload());
    await runLanes(lanesOf(work, jobs));
    return decision;
  }).catch((error: unknown) => {
    // Not a conflict any more: the request must not be retried here, on a snapshot from before what was done.
    throw error instanceof ConflictError ? new CommitTimeoutError() : error;
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

/** Runs the lanes. After a conflict the others are finished; after another error none is begun. */
async function runLanes(lanes: readonly Lane[]): Promise<void> {
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

/** A part of a change that is complete by itself, with its events. */
export interface Step {
  readonly writes: readonly Write[];
  readonly entries: readonly EventEntry[];
  /** Conditions on other items. Left out if a step in the same transaction writes that item, since its write checks it. */
  readonly held?: readonly Write[];
}

/** Most writes of one step: the transaction also writes the slot of its events. */
export const MAX_IN_STEP = MAX_WRITES - 1;

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
