import { type Change, MOST_WRITES, Stale } from '../log/commit.ts';

/** Carries out one change with so many numbers of the log. */
export type Commit = <T>(count: number, plan: (numbers: readonly number[]) => Change<T>) => Promise<T>;

/** Work that may be more than one transaction takes: jobs that can be done together, and divided. */
export interface Work<J> {
  /** Whether one transaction takes these jobs. */
  readonly fits: (jobs: readonly J[]) => boolean;
  /** Two halves of a job, which must be done one after the other; none if it cannot be divided. */
  readonly halves: (job: J) => readonly [J, J] | undefined;
  /** Does the jobs in one transaction; throws `Stale` when their ground has changed. */
  readonly run: (jobs: readonly J[]) => Promise<void>;
}

/** What bulk work needs from its surroundings. `G` is what it is decided on. */
export interface Stage<G> {
  readonly wait: (ms: number) => Promise<void>;
  /** Reads the ground anew. */
  readonly reload: () => Promise<G>;
}

/** Most bytes of events in one commit: they are one item of the table, which holds 400 KB. */
const MOST_BYTES = 300_000;
/** Most transactions under way at once. */
export const MOST_AT_ONCE = 8;
/** How often work is decided anew when somebody else changed its ground, before that is a fault. */
const TRIES = 8;

/** Whether one transaction takes the change, with the slot of the log that tells it. */
export const isOneTransaction = ({ writes, entries }: Change<unknown>): boolean =>
  writes.length < MOST_WRITES && Buffer.byteLength(JSON.stringify(entries)) <= MOST_BYTES;

/** Two halves of a list, if there is more than one thing in it. */
export const halvesOf = <T>(list: readonly T[]): readonly [T[], T[]] | undefined => {
  const half = Math.ceil(list.length / 2);
  return list.length < 2 ? undefined : [list.slice(0, half), list.slice(half)];
};

/**
 * Decides on work and does all of it. What fits into one transaction is done in one; more is done in several, some
 * at once. Each of them is whole by itself. When one finds that its ground has changed, the others are finished,
 * the ground is read again, and what is left is decided anew; `decide` is given the newest ground each time and must
 * leave out what was done.
 */
export async function inBulk<G, J, D>(
  stage: Stage<G>,
  loaded: G,
  work: Work<J>,
  decide: (ground: G) => { readonly jobs: readonly J[]; readonly decision: D },
): Promise<D> {
  let ground = loaded;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const { jobs, decision } = decide(ground);
    if (!(await carryOut(lanesOf(work, jobs)))) return decision;
    await stage.wait(Math.random() * 10 * 2 ** attempt);
    ground = await stage.reload();
  }
  throw new Error('the ground changed under every try of a bulk change');
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
  const halves = work.fits([job]) ? undefined : work.halves(job);
  return halves === undefined ? [() => work.run([job])] : halves.flatMap((half) => stepsOf(work, half));
}

/** Carries out the lanes; tells whether one of them ended early since its ground had changed. */
async function carryOut(lanes: readonly Lane[]): Promise<boolean> {
  let isStale = false;
  const failures: unknown[] = [];
  const waiting = [...lanes];
  const walk = async (): Promise<void> => {
    for (let lane = waiting.shift(); lane !== undefined && failures.length === 0; lane = waiting.shift()) {
      try {
        for (const step of lane) await step();
      } catch (error) {
        if (error instanceof Stale) isStale = true;
        else failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, lanes.length) }, walk));
  if (failures.length > 0) throw failures[0];
  return isStale;
}
