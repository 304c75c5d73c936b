import { isPassing } from '../table/outcome.ts';
import { type FirstSeen, type Log, type Run, readRun, WHOLE } from './log.ts';
import { Looks, nothingAfter, type Reached } from './looks.ts';
import type { Stay } from './stay.ts';

/** A reader who waits at a follower. */
interface Waiter {
  readonly head: number;
  /** When it ends without news, ms. */
  readonly until: number;
  readonly stay: Stay;
  readonly done: PromiseWithResolvers<Run>;
}

/** What a follower does now and then while somebody waits. */
export interface Chore {
  /** Milliseconds from one time to the next. */
  readonly every: number;
  /** Gets the time (ms) at which it was done last, or at which somebody began to wait. */
  readonly work: (since: number) => Promise<void>;
}

/** Pause (ms) of a reader that is behind the follower and got no further. */
const CATCH_UP_MS = 50;

/**
 * Follows the log of one organization for everybody in this process who waits for it: one look at its end serves all of
 * them. It looks only while somebody waits.
 *
 * What it hands on keeps the rules of the log (`log.ts`): it stops at holes and at entries that must settle, and a reader
 * gets only what follows the number that it has reached itself.
 */
export class Follower {
  readonly #log: Log;
  readonly #chore: Chore;
  readonly #firstSeen: FirstSeen = new Map();
  readonly #waiters = new Set<Waiter>();
  #reached: Reached = { head: 0, ended: 'end' };
  #isLooking = false;
  /** When the chore was done last, ms. */
  #choreDone = 0;
  /** The last run with entries, and the number that it follows: for readers who come a little late. */
  #last: { readonly after: number; readonly run: Run } | undefined;

  constructor(log: Log, chore: Chore) {
    this.#log = log;
    this.#chore = chore;
  }

  /** Whether nobody waits. */
  get isIdle(): boolean {
    return !this.#isLooking;
  }

  /**
   * Waits for what follows in the log. Returns a run without entries at the time `until` (ms), or when the stay ends. A
   * reader that is behind reads for itself first.
   *
   * @param firstSeen what the reader has seen of the log, for holes that it knows of already
   */
  next(reached: Reached, firstSeen: FirstSeen, until: number, stay: Stay): Promise<Run> {
    if (stay.isOver) return Promise.resolve(nothingAfter(reached.head));
    const isBehind = this.#isLooking && reached.head < this.#reached.head;
    if (reached.ended === 'page' || isBehind) return this.#catchUp(reached.head);
    const waiter: Waiter = { head: reached.head, until, stay, done: Promise.withResolvers() };
    stay.onEnd = () => this.#settle(waiter, nothingAfter(waiter.head));
    this.#waiters.add(waiter);
    if (!this.#isLooking) void this.#follow(reached, firstSeen);
    return waiter.done.promise;
  }

  #settle(waiter: Waiter, run: Run): void {
    this.#leave(waiter);
    waiter.done.resolve(run);
  }

  #leave(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    waiter.stay.onEnd = undefined;
  }

  async #catchUp(head: number): Promise<Run> {
    const last = this.#last;
    if (last !== undefined && head >= last.after && head < last.run.head) return runAfter(last.run, head);
    const run = await readRun(this.#log, head, this.#firstSeen);
    // It can get no further only where the store showed the follower more than it shows now.
    if (run.head === head) await this.#log.wait(CATCH_UP_MS);
    return run;
  }

  async #follow(reached: Reached, firstSeen: FirstSeen): Promise<void> {
    this.#isLooking = true;
    this.#reached = reached;
    this.#choreDone = this.#log.now();
    for (const [seq, at] of firstSeen) this.#firstSeen.set(seq, at);
    const looks = new Looks(this.#log, this.#firstSeen);
    try {
      while (this.#waiters.size > 0) {
        this.#tell(await this.#look(looks));
        await this.#doChore();
      }
    } catch (error) {
      for (const waiter of this.#waiters) {
        this.#leave(waiter);
        waiter.done.reject(error);
      }
    } finally {
      this.#isLooking = false;
      this.#firstSeen.clear();
      this.#last = undefined;
    }
  }

  /** The next run. A passing error of the store only makes it later. */
  async #look(looks: Looks): Promise<Run> {
    try {
      return await looks.next(this.#reached);
    } catch (error) {
      if (!isPassing(error)) throw error;
      looks.slowDown();
      return nothingAfter(this.#reached.head);
    }
  }

  /** Does the chore if it is time. After a passing error of the store it is tried again with the next look. */
  async #doChore(): Promise<void> {
    const now = this.#log.now();
    if (now - this.#choreDone < this.#chore.every) return;
    try {
      await this.#chore.work(this.#choreDone);
      this.#choreDone = now;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }

  /** Wakes those for whom something follows, and those whose time is up. Those who were equally far get the same run. */
  #tell(run: Run): void {
    const now = this.#log.now();
    const runs = new Map<number, Run>();
    if (run.entries.length > 0) this.#last = { after: this.#reached.head, run };
    this.#reached = { head: run.head, ended: run.ended };
    for (const [seq, at] of this.#firstSeen) if (now - at > WHOLE) this.#firstSeen.delete(seq);
    for (const waiter of this.#waiters) {
      if (run.head > waiter.head) {
        const news = runs.get(waiter.head) ?? runAfter(run, waiter.head);
        runs.set(waiter.head, news);
        this.#settle(waiter, news);
      } else if (now >= waiter.until) this.#settle(waiter, nothingAfter(waiter.head));
    }
  }
}

/** What of a run follows a number that was reached within it. Its reader need not look for the rest: the follower does. */
const runAfter = ({ entries, head }: Run, after: number): Run => ({
  entries: entries.filter(({ seq }) => seq > after),
  head,
  ended: 'end',
});
