import { refusal } from '../../kernel/errors.ts';
import { type FirstSeen, isAnythingAfter, type Log, type Run, readRun, skipNumber } from '../../log/log.ts';
import { isPassing, isThrottled } from '../../table/write.ts';
import { heartbeat, type WireEvent } from './object.ts';
import { heartbeatId, isNoteDue, loadQueue, notePoll } from './queue.ts';
import { type Listener, visibleEvents } from './visible-events.ts';

/** How long (ms) a poll is held: the gateway would end it after 29 s. */
const HOLD_MS = 24_000;

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

/** How long (ms) a poll that does not block waits for a hole or an entry to settle. */
const SETTLE_TIMEOUT_MS = { hole: 300, settling: 2_000 } as const;

/** Even a poll that does not block gets a heartbeat if this many numbers had nothing for it. */
const MIN_ACKNOWLEDGED = 200;

/**
 * How often (ms) a waiting poll checks that no newer poll has replaced it. A newer poll ends an older one within twice
 * this time: it stores its claim within the first interval, and the older poll reads it within the second. This bounds
 * the functions that one queue can occupy, and shorter polls cost no write.
 */
export const TURN = 5_000;

/** A poll that has read the log once. */
export interface Poll {
  /** The id of the last event that the client has. */
  readonly last: number;
  /** The number of the log behind which reading began. */
  readonly cursor: number;
  readonly first: Run;
  readonly firstSeen: FirstSeen;
  /** When it began, ms. */
  readonly started: number;
  readonly isBlocking: boolean;
}

/** How long a poll may wait. */
interface Hold {
  /** When the poll ends without news, ms. */
  readonly until: number;
  /** Called before each pause with the time (ms): whether the poll may go on waiting. */
  readonly mayGoOn: (now: number) => Promise<boolean>;
}

/**
 * Waits for events that the listener may see, and notes the poll in its queue. Returns events or a heartbeat. A poll
 * that does not block may return nothing.
 *
 * At most one poll of a queue waits, so that a client that polls again occupies one function and not two (companion
 * facts 6.1: a second poll ends the first). The order of their writes decides which one is newer, not a clock.
 */
export async function pollEvents(listener: Listener, log: Log, poll: Poll): Promise<readonly WireEvent[]> {
  const { outside, realm } = listener;
  const { cursor, first, started } = poll;
  const pollId = outside.uuid();
  let queue = listener.queue;
  const note = async (waiting?: { readonly waiting: string }): Promise<void> => {
    const end = first.ended === 'page' ? undefined : first.head;
    queue = await notePoll(outside.table, realm, queue, { cursor, end, ...waiting }, outside.now());
  };
  const mayGoOn = turnOf(listener, pollId, started, async () => {
    await note({ waiting: pollId });
    return queue.waiting === pollId;
  });
  const [events] = await Promise.all([
    waitForEvents(listener, log, poll, { until: started + HOLD_MS, mayGoOn }),
    isNoteDue(queue, started) ? note() : undefined,
  ]);
  // A queue with an idle timeout shorter than a poll must know that its client was here until now.
  if (isNoteDue(queue, outside.now())) await note();
  return events;
}

/**
 * Returns a function that says whether a poll may go on waiting at a time (ms). It may not if a newer poll has claimed
 * the queue, or the queue is deleted. `claim` stores the claim and returns whether that succeeded. After a passing error
 * of the store it tries again later.
 */
function turnOf(
  { outside: { table }, realm, userId, queue: { queueId } }: Listener,
  pollId: string,
  started: number,
  claim: () => Promise<boolean>,
): Hold['mayGoOn'] {
  let next = started + TURN;
  let isClaimed = false;
  return async (now) => {
    if (now < next) return true;
    next = now + TURN;
    try {
      if (isClaimed) return (await loadQueue(table, realm, userId, queueId))?.waiting === pollId;
      isClaimed = await claim();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    return true;
  };
}

/** Reads until there are events to return, or the time is up: then a heartbeat acknowledges what was read. */
async function waitForEvents(
  listener: Listener,
  log: Log,
  { last, cursor, first, firstSeen, isBlocking }: Poll,
  hold: Hold,
): Promise<readonly WireEvent[]> {
  const started = log.now();
  let pause = PROBE_MS;
  let retries = 0;
  for (let run = first; ; ) {
    const events = await visibleEvents(listener, run.entries);
    if (events.length > 0) return events;
    const { head, ended } = run;
    const beat = () => nextHeartbeat(listener, log, last, head, firstSeen);
    retries = ended === 'hole' || ended === 'settling' ? retries + 1 : 0;
    const isRetry = retries > 0 && retries <= MAX_RETRIES;
    const now = log.now();
    if (now >= hold.until) return beat();
    const mayEnd = ended === 'end' || (ended !== 'page' && now - started >= SETTLE_TIMEOUT_MS[ended]);
    if (!isBlocking && mayEnd) return head - cursor >= MIN_ACKNOWLEDGED ? beat() : [];
    if (!(await hold.mayGoOn(now))) return beat();
    const rest = Math.min(isRetry ? RETRY_MS : pause, hold.until - now);
    try {
      run = await nextRun(log, head, ended, firstSeen, rest);
      pause = pauseAfter(pause, BACKOFF_FACTOR * (log.now() - now - rest));
    } catch (error) {
      if (!isBlocking || !isPassing(error)) throw error;
      // A lost reply has used up seconds of the remaining time: the client polls again.
      if (!isThrottled(error)) return beat();
      // Waiting polls make room for other requests: the client loses nothing, news only arrives a little later.
      pause = pauseAfter(pause, MAX_PROBE_MS);
      run = { entries: [], head, ended: 'end' };
    }
  }
}

/**
 * The heartbeat for a client that acknowledged `last`, after reading the log up to `head`. If a quiet log has no id left
 * for one, its end moves by one number, once for all who wait there; events written meanwhile are returned instead.
 * Throws `RATE_LIMIT_HIT` in the rare case that the new end is not visible yet.
 */
async function nextHeartbeat(
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
  const events = await visibleEvents(listener, run.entries);
  if (events.length > 0) return events;
  const next = heartbeatId(last, run.head);
  if (next === undefined) throw refusal('tooMuchAtOnce', { seconds: 2 });
  return [heartbeat(next)];
}

/** The next pause (ms). It at most doubles or halves, so that one slow probe does not delay news much. */
const pauseAfter = (pause: number, target: number): number =>
  Math.max(PROBE_MS, pause / 2, Math.min(2 * pause, target, MAX_PROBE_MS));

/** The next run: at once after a full page, else after `pause` (ms), and at the end of the log only if there is news. */
async function nextRun(
  log: Log,
  head: number,
  ended: Run['ended'],
  firstSeen: FirstSeen,
  pause: number,
): Promise<Run> {
  if (ended !== 'page') await log.wait(pause);
  if (ended === 'end' && !(await isAnythingAfter(log, head))) return { entries: [], head, ended };
  return readRun(log, head, firstSeen, ended === 'hole' ? HOLE_LIMIT : undefined);
}
