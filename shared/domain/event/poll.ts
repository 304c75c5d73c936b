import { refusal } from '../../kernel/errors.ts';
import { type FirstSeen, type Log, type Run, readRun, skipNumber } from '../../log/log.ts';
import { Looks, nothingAfter, type Reached } from '../../log/looks.ts';
import type { Stay, WaitingRoom } from '../../log/waiting-room.ts';
import { isPassing, isThrottled } from '../../table/write.ts';
import { heartbeat, type WireEvent } from './object.ts';
import { heartbeatId, isNoteDue, loadQueue, notePoll, placeOf } from './queue.ts';
import { type Listener, visibleEvents } from './visible-events.ts';

/** How long (ms) a poll is held by a function: the gateway would end it after 29 s. */
const HOLD_MS = 24_000;

/** How long (ms) a poll that does not block waits for a hole or an entry to settle. */
const SETTLE_TIMEOUT_MS = { hole: 300, settling: 2_000 } as const;

/** Seconds after which a client tries again that found no room to wait: by then polls have ended. */
const FULL_SECONDS = 2;

/** Even a poll that does not block gets a heartbeat if this many numbers had nothing for it. */
const MIN_ACKNOWLEDGED = 200;

/**
 * How often (ms) a waiting poll checks that no newer poll has replaced it. A newer poll ends an older one within twice
 * this time: it stores its claim within the first interval, and the older poll reads it within the second. This bounds
 * what one queue can occupy, and shorter polls cost no write.
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
  /** Aborted when the client has gone, where that is known. */
  readonly gone?: AbortSignal | undefined;
}

/** How long a poll may wait. */
interface Hold {
  /** When the poll ends without news, ms. */
  readonly until: number;
  /** Called before each pause with the time (ms): whether the poll may go on waiting. */
  readonly mayGoOn: (now: number) => Promise<boolean>;
  /** Waits for what follows in the log, at most until `until` (ms). */
  readonly next: (reached: Reached, until: number) => Promise<Run>;
  /** Called where the store had no room. */
  readonly slowDown: () => void;
  /** Aborted when the poll must end at once. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for events that the listener may see, and notes the poll in its queue. Returns events or a heartbeat. A poll
 * that does not block may return nothing.
 *
 * At most one poll of a queue waits, so that a client that polls again occupies one place and not two (companion facts
 * 6.1: a second poll ends the first). In one process a newer poll ends the older one at once. Between processes the order
 * of their writes decides which one is newer, not a clock.
 *
 * Throws `RATE_LIMIT_HIT` if this process has no room for another poll.
 */
export async function pollEvents(listener: Listener, log: Log, poll: Poll): Promise<readonly WireEvent[]> {
  const { outside, realm, queue } = listener;
  const room = poll.isBlocking ? outside.waitingRoom : undefined;
  const stay = room?.enter(placeOf(realm, queue.queueId), poll.gone);
  if (room !== undefined && stay === undefined) throw refusal('tooMuchAtOnce', { seconds: FULL_SECONDS });
  try {
    return await heldPoll(listener, log, poll, room && stay && { room, stay });
  } finally {
    stay?.leave();
  }
}

async function heldPoll(
  listener: Listener,
  log: Log,
  poll: Poll,
  place: { readonly room: WaitingRoom; readonly stay: Stay } | undefined,
): Promise<readonly WireEvent[]> {
  const { outside, realm } = listener;
  const { cursor, first, started } = poll;
  const claimant = place?.room.id ?? outside.uuid();
  let { queue } = listener;
  const note = async (waiting?: { readonly waiting: string }): Promise<void> => {
    const end = first.ended === 'page' ? undefined : first.head;
    queue = await notePoll(outside.table, realm, queue, { cursor, end, ...waiting }, outside.now());
  };
  const mayGoOn = turnOf(listener, claimant, started, async () => {
    await note({ waiting: claimant });
    return queue.waiting === claimant;
  });
  const until = started + (place?.room.holdMs ?? HOLD_MS);
  const [events] = await Promise.all([
    waitForEvents(listener, log, poll, { until, mayGoOn, ...waysOf(log, poll, place) }),
    isNoteDue(queue, started) ? note() : undefined,
  ]);
  // A queue with an idle timeout shorter than a poll must know that its client was here until now.
  if (isNoteDue(queue, outside.now())) await note();
  return events;
}

/** How a poll waits: at the follower that it shares with others, or by looking for itself. */
function waysOf(
  log: Log,
  { firstSeen }: Poll,
  place: { readonly room: WaitingRoom; readonly stay: Stay } | undefined,
): Pick<Hold, 'next' | 'slowDown' | 'signal'> {
  if (place === undefined) {
    let looks: Looks | undefined;
    // Most polls find news with their first read, and look no further.
    const own = (): Looks => {
      looks ??= new Looks(log, firstSeen);
      return looks;
    };
    return {
      next: (reached, until) => own().next(reached, until - log.now()),
      slowDown: () => own().slowDown(),
    };
  }
  const { signal } = place.stay;
  const follower = place.room.follower(log);
  return {
    next: (reached, until) => follower.next(reached, firstSeen, Math.min(until, log.now() + TURN), signal),
    slowDown: () => {},
    signal,
  };
}

/**
 * Returns a function that says whether a poll may go on waiting at a time (ms). It may not if a newer poll has claimed
 * the queue for another `claimant`, or the queue is deleted. `claim` stores the claim and returns whether that succeeded.
 * After a passing error of the store it tries again later.
 */
function turnOf(
  { outside: { table }, realm, userId, queue: { queueId, waiting } }: Listener,
  claimant: string,
  started: number,
  claim: () => Promise<boolean>,
): Hold['mayGoOn'] {
  let next = started + TURN;
  // A process that has claimed the queue need not do so for each poll.
  let isClaimed = waiting === claimant;
  return async (now) => {
    if (now < next) return true;
    next = now + TURN;
    try {
      if (isClaimed) return (await loadQueue(table, realm, userId, queueId))?.waiting === claimant;
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
  for (let run = first; ; ) {
    const events = await visibleEvents(listener, run.entries);
    if (events.length > 0) return events;
    const { head, ended } = run;
    const beat = () => nextHeartbeat(listener, log, last, head, firstSeen);
    const now = log.now();
    if (now >= hold.until || hold.signal?.aborted) return beat();
    const mayEnd = ended === 'end' || (ended !== 'page' && now - started >= SETTLE_TIMEOUT_MS[ended]);
    if (!isBlocking && mayEnd) return head - cursor >= MIN_ACKNOWLEDGED ? beat() : [];
    if (!(await hold.mayGoOn(now))) return beat();
    try {
      run = await hold.next(run, hold.until);
    } catch (error) {
      if (!isBlocking || !isPassing(error)) throw error;
      // A lost reply has used up seconds of the remaining time: the client polls again.
      if (!isThrottled(error)) return beat();
      // Waiting polls make room for other requests: the client loses nothing, news only arrives a little later.
      hold.slowDown();
      run = nothingAfter(head);
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
