import { refusal } from '../../kernel/errors.ts';
import { type FirstSeen, type Log, type Run, readRun, skipNumber } from '../../log/log.ts';
import { Looks, nothingAfter, type Reached } from '../../log/looks.ts';
import type { Stay } from '../../log/stay.ts';
import type { WaitingRoom } from '../../log/waiting-room.ts';
import { isPassing, isThrottled } from '../../table/outcome.ts';
import type { Listener } from './listener.ts';
import { heartbeat, type WireEvent } from './object.ts';
import { heartbeatId, placeOf } from './queue.ts';
import { endReplaced, TURN, Turn } from './turn.ts';
import { visibleEvents } from './visible-events.ts';

/** How long (ms) a poll is held by a function: the gateway would end it after 29 s. */
const HOLD_MS = 24_000;

/** How long (ms) a poll that does not block waits for a hole or an entry to settle. */
const SETTLE_TIMEOUT_MS = { hole: 300, settling: 2_000 } as const;

/** Seconds after which a client tries again that found no room to wait: by then polls have ended. */
const FULL_SECONDS = 2;

/** Even a poll that does not block gets a heartbeat if this many numbers had nothing for it. */
const MIN_ACKNOWLEDGED = 200;

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

/** A poll that waits in a room: its events come later, or at once when it is ended. */
export interface HeldPoll {
  readonly later: Promise<readonly WireEvent[]>;
  readonly end: () => void;
}

/** What is kept of a poll while it waits. */
interface Search {
  readonly listener: Listener;
  readonly log: Log;
  readonly last: number;
  readonly cursor: number;
  readonly reached: Reached;
  readonly firstSeen: FirstSeen;
  readonly isBlocking: boolean;
  readonly turn: Turn;
  /** When it ends without news, ms. */
  readonly until: number;
}

/** How a poll waits. */
interface Way {
  /** Waits for what follows in the log, at most until the poll must end. */
  readonly next: (reached: Reached) => Promise<Run>;
  /** Called where the store had no room. */
  readonly slowDown: () => void;
  /** Whether the poll must end at once. */
  readonly isOver: () => boolean;
}

/**
 * Waits for events that the listener may see, and notes the poll in its queue. Returns events or a heartbeat. A poll
 * that does not block may return nothing. Where polls wait in a room, one without news at once is held there.
 *
 * At most one poll of a queue waits (`Turn`).
 *
 * Throws `RATE_LIMIT_HIT` if this process has no room for another poll.
 */
export async function pollEvents(
  listener: Listener,
  log: Log,
  { first, ...poll }: Poll,
): Promise<readonly WireEvent[] | HeldPoll> {
  const { outside, realm, queue } = listener;
  const { started, cursor, isBlocking } = poll;
  const room = isBlocking ? outside.waitingRoom : undefined;
  const place = placeOf(realm, queue.queueId);
  const stay = room?.enter(place);
  if (room !== undefined && stay === undefined) throw refusal('tooMuchAtOnce', { seconds: FULL_SECONDS });
  const { head, ended } = first;
  const turn = new Turn({
    ...{ table: outside.table, realm, queue, started, cursor, stay },
    ...{ claimant: room?.id ?? outside.uuid(), claims: room?.claims, now: outside.now },
    end: ended === 'page' ? undefined : head,
  });
  const until = started + (room?.holdMs ?? HOLD_MS);
  const search = { ...poll, listener, log, reached: { head, ended }, turn, until };
  let isHeld = false;
  try {
    const [events] = await Promise.all([visibleEvents(listener, first.entries), turn.tryToNote(started)]);
    if (events.length > 0) {
      await turn.noteIfDue(log.now());
      return events;
    }
    if (room === undefined || stay === undefined) return await waitAlone(search);
    isHeld = true;
    return { later: waitInRoom(search, room, stay), end: () => stay.end() };
  } finally {
    if (stay !== undefined && !isHeld) room?.leave(place, stay);
  }
}

/** A poll in a function looks for itself. */
async function waitAlone(search: Search): Promise<readonly WireEvent[]> {
  const { log, firstSeen, turn, until } = search;
  const looks = new Looks(log, firstSeen);
  const events = await laterEvents(search, {
    next: (reached) => looks.next(reached, until - log.now()),
    slowDown: () => looks.slowDown(),
    isOver: () => false,
  });
  await turn.noteIfDue(log.now());
  return events;
}

/** A poll in a room waits at the follower that it shares with others. */
async function waitInRoom(search: Search, room: WaitingRoom, stay: Stay): Promise<readonly WireEvent[]> {
  const { listener, log, firstSeen, turn, until } = search;
  const follower = room.follower(log, { every: TURN, work: (since) => endReplaced(room, log, since) });
  try {
    const events = await laterEvents(search, {
      next: (reached) => follower.next(reached, firstSeen, Math.min(until, turn.next), stay),
      slowDown: () => {},
      isOver: () => stay.isOver,
    });
    // A queue with an idle timeout shorter than a poll must know that its client was here until now.
    await turn.noteIfDue(log.now());
    turn.checkClaim();
    return events;
  } finally {
    room.leave(placeOf(listener.realm, listener.queue.queueId), stay);
  }
}

/** Reads until there are events to return, or the time is up: then a heartbeat acknowledges what was read. */
async function laterEvents(search: Search, way: Way): Promise<readonly WireEvent[]> {
  const { listener, log, cursor, isBlocking, turn, until } = search;
  const started = log.now();
  let { reached } = search;
  for (;;) {
    const { head, ended } = reached;
    const now = log.now();
    if (now >= until || way.isOver()) break;
    const mayEnd = ended === 'end' || (ended !== 'page' && now - started >= SETTLE_TIMEOUT_MS[ended]);
    if (!isBlocking && mayEnd) {
      if (head - cursor < MIN_ACKNOWLEDGED) return [];
      break;
    }
    if (!(await turn.mayGoOn(now))) break;
    let run: Run;
    try {
      run = await way.next(reached);
    } catch (error) {
      if (!isBlocking || !isPassing(error)) throw error;
      // A lost reply has used up seconds of the remaining time: the client polls again.
      if (!isThrottled(error)) break;
      // Waiting polls make room for other requests: the client loses nothing, news only arrives a little later.
      way.slowDown();
      run = nothingAfter(head);
    }
    const events = await visibleEvents(listener, run.entries);
    if (events.length > 0) return events;
    reached = { head: run.head, ended: run.ended };
  }
  return nextHeartbeat(search, reached.head);
}

/**
 * The heartbeat for a client that acknowledged `last`, after reading the log up to `head`. If a quiet log has no id left
 * for one, its end moves by one number, once for all who wait there; events written meanwhile are returned instead.
 * Throws `RATE_LIMIT_HIT` in the rare case that the new end is not visible yet.
 */
async function nextHeartbeat(
  { listener, log, last, firstSeen }: Search,
  head: number,
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
