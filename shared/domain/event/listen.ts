import type { Log } from '../../log/log.ts';
import { isAnythingAfter, type Run, readRun, type Sights } from '../../log/run.ts';
import { heartbeat, type WireEvent } from './event-object.ts';
import { hear, type Listener } from './hearing.ts';

/** Between two cheap looks for news (ms): half of it is what news waits on average. */
const PROBE = 150;

/** Between two looks at something that will pass: a hole, an entry that settles (ms). */
const SOON = 50;

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
}

/**
 * Waits for events that the listener may hear, beginning with a run that was read already. Ends with some, or when
 * the time is up with a heartbeat whose id is the examined head. Without blocking it may end with none.
 */
export async function listen(
  listener: Listener,
  log: Log,
  cursor: number,
  first: Run,
  sights: Sights,
  hold: Hold,
): Promise<readonly WireEvent[]> {
  const started = log.now();
  for (let run = first; ; ) {
    const events = await hear(listener, run.entries);
    if (events.length > 0) return events;
    const { head, ended } = run;
    const now = log.now();
    if (now >= hold.until) return [heartbeat(head)];
    const mayEnd = ended === 'end' || (ended !== 'page' && now - started >= PATIENCE[ended]);
    if (!hold.isBlocking && mayEnd) return head - cursor >= FAR ? [heartbeat(head)] : [];
    run = await next(log, head, ended, sights, hold.until - now);
  }
}

/** The next run that may hold something: at once after a page, soon after something that passes, else with news. */
async function next(log: Log, head: number, ended: Run['ended'], sights: Sights, left: number): Promise<Run> {
  if (ended === 'end') {
    await log.wait(Math.min(PROBE, left));
    if (!(await isAnythingAfter(log, head))) return { entries: [], head, ended };
  } else if (ended !== 'page') await log.wait(Math.min(SOON, left));
  return readRun(log, head, sights, ended === 'hole' ? GLANCE : undefined);
}
