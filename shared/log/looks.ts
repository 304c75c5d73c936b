import { type FirstSeen, isAnythingAfter, type Log, type Run, readRun } from './log.ts';

/** Pause (ms) between two cheap probes for news. News waits half of it on average. */
const PROBE_MS = 150;

/** Longest pause (ms) if the store is slow or throttles: each such probe doubles the pause. */
const MAX_PROBE_MS = 2_400;

/**
 * The pause is at least this many times as long as the last probe took, so that waiting polls leave room for other
 * requests when the store or the processor is slow. Probes of up to 30 ms change nothing.
 */
const BACKOFF_FACTOR = 5;

/** Pause (ms) before reading again after a hole, or an entry that must settle. */
const RETRY_MS = 50;

/** Most such reads in a row; then the usual pause applies. Writers that are a little slow are done by then. */
const MAX_RETRIES = 6;

/** Slots that are read to see whether a hole is closed. What follows it is read again afterwards. */
const HOLE_LIMIT = 5;

/** How far the log was read, and what ended that. */
export type Reached = Pick<Run, 'head' | 'ended'>;

/** Looks again and again for what follows in a log, at a pace that leaves the store room. */
export class Looks {
  readonly #log: Log;
  readonly #firstSeen: FirstSeen;
  #pause = PROBE_MS;
  #retries = 0;

  constructor(log: Log, firstSeen: FirstSeen) {
    this.#log = log;
    this.#firstSeen = firstSeen;
  }

  /**
   * The next run: at once after a full page, else after a pause of at most `most` ms, and at the end of the log only if
   * there is news. Throws what the store throws.
   */
  async next({ head, ended }: Reached, most = Number.POSITIVE_INFINITY): Promise<Run> {
    this.#retries = ended === 'hole' || ended === 'settling' ? this.#retries + 1 : 0;
    const isRetry = this.#retries > 0 && this.#retries <= MAX_RETRIES;
    const pause = Math.min(isRetry ? RETRY_MS : this.#pause, most);
    const started = this.#log.now();
    const run = await this.#look(head, ended, pause);
    this.#changePause(BACKOFF_FACTOR * (this.#log.now() - started - pause));
    return run;
  }

  /** Makes the next pause longer: the store has no room, and those who wait only hear a little later. */
  slowDown(): void {
    this.#changePause(MAX_PROBE_MS);
  }

  async #look(head: number, ended: Run['ended'], pause: number): Promise<Run> {
    if (ended !== 'page') await this.#log.wait(pause);
    if (ended === 'end' && !(await isAnythingAfter(this.#log, head))) return nothingAfter(head);
    return readRun(this.#log, head, this.#firstSeen, ended === 'hole' ? HOLE_LIMIT : undefined);
  }

  /** It at most doubles or halves, so that one slow probe does not delay news much. */
  #changePause(target: number): void {
    this.#pause = Math.max(PROBE_MS, this.#pause / 2, Math.min(2 * this.#pause, target, MAX_PROBE_MS));
  }
}

/** What a look finds when nothing was written. */
export const nothingAfter = (head: number): Run => ({ entries: [], head, ended: 'end' });
