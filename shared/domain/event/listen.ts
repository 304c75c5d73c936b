import { refusal } from '../../kernel/errors.ts';
import { type Log, skipNumber } from '../../log/log.ts';
import { type FirstSeen, isAnythingAfter, type Run, readRun } from '../../log/run.ts';
import { isPassing, isThrottled } from '../../table/outcome.ts';
import { heartbeatId } from './event-id.ts';
import { heartbeat, type WireEvent } from './event-object.ts';
import { hear, type Listener } from './hearing.ts';

/** Between two cheap looks for news (ms): half of it is what news waits on average. */
const PROBE = 150;

/** The same (ms) at most, where the store is slow, or has no room for more looks: each such look doubles the time. */
const SLOWEST = 2_400;

/**
 * So many times as long as a look took (ms) pass before the next one, so that clients who wait leave room to whoever
 * has work to do: the slower the store, or the processor, the less is asked of it. Looks of up to 30 ms change nothing.
 */
const EASE = 5;

/** Between two looks at something that will pass: a hole, an entry that settles (ms). */
const SOON = 50;

/**
 * So often a poll looks soon after something that will pass; then as seldom as for news. Writers that are merely a
 * little slower than others are done by then.
 */
const SOON_LOOKS = 6;

/** So few slots are read to see whether a hole is closed: what stands behind it was read before, and is read again. */
const GLANCE = 5;

/**
 * How long (ms) a poll that does not block waits for such a thing, in front of what is already written. What settles
 * does so soon, however slow everything is.
 */
const PATIENCE = { hole: 300, settling: 2_000 } as const;

/** So many numbers that were not for this client are acknowledged even when it does not block. */
const FAR = 200;

export interface Hold {
  /** When the poll ends without news, ms. */
  readonly until: number;
  readonly isBlocking: boolean;
  /** Asked at each look with the time (ms): whether the poll may go on waiting. */
  readonly mayGoOn: (now: number) => Promise<boolean>;
}

/**
 * Waits for events that the listener may hear, beginning with a run that was read already. Ends with some, or with a
 * heartbeat when the time is up or it may not go on, by which the client acknowledges what was examined. Without
 * blocking it may end with none.
 *
 * `last` is the id of the last event that the client has, `cursor` the number of the log from which reading began.
 */
export async function listen(
  listener: Listener,
  log: Log,
  { last, cursor }: { readonly last: number; readonly cursor: number },
  first: Run,
  firstSeen: FirstSeen,
  hold: Hold,
): Promise<readonly WireEvent[]> {
  const started = log.now();
  let pause = PROBE;
  let looks = 0;
  for (let run = first; ; ) {
    const events = await hear(listener, run.entries);
    if (events.length > 0) return events;
    const { head, ended } = run;
    looks = ended === 'hole' || ended === 'settling' ? looks + 1 : 0;
    const isSoon = looks > 0 && looks <= SOON_LOOKS;
    const now = log.now();
    if (now >= hold.until) return beat(listener, log, last, head, firstSeen);
    const mayEnd = ended === 'end' || (ended !== 'page' && now - started >= PATIENCE[ended]);
    if (!hold.isBlocking && mayEnd) {
      return head - cursor >= FAR ? beat(listener, log, last, head, firstSeen) : [];
    }
    if (!(await hold.mayGoOn(now))) return beat(listener, log, last, head, firstSeen);
    const rest = Math.min(isSoon ? SOON : pause, hold.until - now);
    try {
      run = await next(log, head, ended, firstSeen, rest);
      pause = pauseAfter(pause, EASE * (log.now() - now - rest));
    } catch (error) {
      if (!hold.isBlocking || !isPassing(error)) throw error;
      // A reply that did not come has taken seconds of the time that is left: the client asks anew.
      if (!isThrottled(error)) return beat(listener, log, last, head, firstSeen);
      // Who waits anyway makes room for others: the client loses nothing, and hears of news a little later.
      pause = pauseAfter(pause, SLOWEST);
      run = { entries: [], head, ended: 'end' };
    }
  }
}

/**
 * The heartbeat for a client that acknowledged `last`, when the log was examined up to `head`. Where a quiet log has no
 * id left for one, its end is moved on, once for all who wait there; what was written meanwhile is told instead.
 * Refuses with `RATE_LIMIT_HIT` in the rare case that the new end cannot be seen yet.
 */
async function beat(
  listener: Listener,
  log: Log,
  last: number,
  head: number,
  firstSeen: FirstSeen,
): Promise<readonly WireEvent[]> {
  const id = heartbeatId(last, head);
  if (id !== undefined) return [heartbeat(id)];
  await skipNumber(log);
  const run = await readRun(log, head, firstSeen);
  const events = await hear(listener, run.entries);
  if (events.length > 0) return events;
  const next = heartbeatId(last, run.head);
  if (next === undefined) throw refusal('tooMuchAtOnce', { seconds: 2 });
  return [heartbeat(next)];
}

/**
 * How long (ms) to wait before the next look, from how long that was and what the last look asks for. It doubles or
 * halves at most, so that a single slow look does not keep news waiting.
 */
const pauseAfter = (pause: number, wanted: number): number =>
  Math.max(PROBE, pause / 2, Math.min(2 * pause, wanted, SLOWEST));

/** The next run that may hold something: at once after a page, else after `pause` (ms) and, from the end, with news. */
async function next(
  log: Log,
  head: number,
  ended: Run['ended'],
  firstSeen: FirstSeen,
  pause: number,
): Promise<Run> {
  if (ended !== 'page') await log.wait(pause);
  if (ended === 'end' && !(await isAnythingAfter(log, head))) return { entries: [], head, ended };
  return readRun(log, head, firstSeen, ended === 'hole' ? GLANCE : undefined);
}
