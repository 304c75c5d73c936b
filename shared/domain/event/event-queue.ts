import { badRequest, refusal } from '../../kernel/errors.ts';
import { ConflictError } from '../../log/commit.ts';
import { KEPT, LONGEST_IDLE } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import { isPassing, isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Condition } from '../../table/write.ts';
import { numberOf } from './event-id.ts';
import type { EventNarrowTerm } from './event-narrow.ts';

/** What a client says it can handle (wire facts 14.1); events are told accordingly. */
export const capabilityNames = [
  'archived_channels',
  'bulk_message_deletion',
  'empty_topic_name',
  'include_deactivated_groups',
  'individual_emoji_changes',
  'linkifier_url_template',
  'notification_settings_null',
  'simplified_presence_events',
  'stream_typing_notifications',
  'user_avatar_url_field_optional',
  'user_list_incomplete',
  'user_settings_object',
] as const;
export type Capability = (typeof capabilityNames)[number];

/** What a client wants to hear, and how. It stays as it was at registration. */
export interface Listening {
  /** The only types of events that are wanted; absent means all. */
  readonly eventTypes?: readonly string[];
  /** Messages must match all of these. */
  readonly narrow: readonly EventNarrowTerm[];
  /** Messages of all public channels, subscribed or not. */
  readonly allPublicChannels: boolean;
  readonly applyMarkdown: boolean;
  /** The client works out Gravatar's addresses itself. */
  readonly clientGravatar: boolean;
  /** Channels that the client hears of come with their subscribers. */
  readonly includeSubscribers: boolean;
  readonly capabilities: readonly Capability[];
}

/**
 * What is known of the log at some time: a poll had examined it to its end, which was `head`. So what comes after
 * `head` is younger than `at` (ms).
 */
interface Mark {
  readonly head: number;
  readonly at: number;
}

/** An event queue, as stored: no events, only who listens to what and from where (DESIGN 5). */
export interface EventQueue extends Listening {
  readonly queueId: string;
  readonly userId: number;
  /** The cursor that registration fixed. */
  readonly start: number;
  /** When that was, ms; unknown of queues that are older than this note of it. */
  readonly registered?: number;
  /** Seconds without a poll after which the queue is gone. */
  readonly idle: number;
  /** When a poll was noted last, ms. */
  readonly polledAt: number;
  /** At most two: the last one that the client has acknowledged, and the last one. */
  readonly marks: readonly Mark[];
  /** When DynamoDB may delete it, seconds. */
  readonly expires: number;
  /** The poll that waits for it, or did so last. */
  readonly waiting?: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    queue: EventQueue;
  }
}

/** Seconds without a poll that a queue survives: by default, for mobile clients, at most (wire facts 2). */
const IDLE = { usual: 600, mobile: 12 * 3600, longest: LONGEST_IDLE } as const;

/** How long a queue may be idle, from what the client asks for: a number of seconds, or `mobile`. */
export function checkIdleTimeout(asked: string | undefined, lifespan: number | undefined): number {
  if (asked === undefined || asked === 'null') return Math.min(lifespan || IDLE.usual, IDLE.longest);
  if (asked === 'mobile' || asked === '"mobile"') return IDLE.mobile;
  const seconds = /^\d{1,15}$/.test(asked) ? Number(asked) : 0;
  if (seconds === 0)
    throw badRequest("'idle_queue_timeout' must be a positive number of seconds or 'mobile'.");
  return Math.min(seconds, IDLE.longest);
}

/** A new queue that begins after `start`. `now` is in milliseconds. */
export const newQueue = (
  given: Pick<EventQueue, 'queueId' | 'userId' | 'start' | 'idle'> & Listening,
  now: number,
): EventQueue => ({
  ...given,
  registered: now,
  polledAt: now,
  marks: [{ head: given.start, at: now }],
  expires: expiryOf({ ...given, registered: now }, now),
});

/** The longest (ms) that a registration reads its state: its function runs no longer, and clocks differ a little. */
const REGISTERING = 30_000;

/** Whether the state of the queue's registration may have been read while this was written, at `at` (ms). */
export const isWhileRegistering = ({ registered }: EventQueue, at: number): boolean =>
  registered !== undefined && at - registered <= REGISTERING;

/** How often (ms) a poll is noted, at most: so seldom costs little, so often is precise enough for the idle time. */
const noteEvery = ({ idle }: Pick<EventQueue, 'idle'>): number => Math.min(60_000, idle * 100);

/**
 * When (ms) the queue is gone unless a poll comes. Polls are noted now and then, which must not shorten it, nor must the
 * time that its registration took after it was made.
 */
const endOf = (queue: Pick<EventQueue, 'idle' | 'registered'>, polledAt: number): number =>
  polledAt + queue.idle * 1000 + noteEvery(queue) + (polledAt === queue.registered ? REGISTERING : 0);

/** DynamoDB deletes in no hurry and by whole seconds, so it is told a little later. */
const expiryOf = (queue: Pick<EventQueue, 'idle' | 'registered'>, polledAt: number): number =>
  Math.ceil(endOf(queue, polledAt) / 1000) + 60;

/** Most queues of one account: an id says in its last two hexadecimal digits in which of its owner's slots the queue is. */
export const MAX_QUEUES = 64;

/** The slot of a queue with this id; undefined for text that is no id of a queue. */
function slotOf(queueId: string): number | undefined {
  const digits = /^[0-9a-f-]{34}([0-9a-f]{2})$/.exec(queueId)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16) % MAX_QUEUES;
}

/** The same id, but for another slot. */
const idInSlot = (queueId: string, slot: number): string =>
  queueId.slice(0, -2) + slot.toString(16).padStart(2, '0');

const keyInSlot = (realm: string, userId: number, slot: number): Key<'queue'> =>
  key('queue', { realm, userId, slot });

const queueKey = (realm: string, { userId, queueId }: Pick<EventQueue, 'userId' | 'queueId'>): Key<'queue'> =>
  keyInSlot(realm, userId, slotOf(queueId) ?? 0);

/** Reads a queue of this person. */
export async function loadQueue(
  table: Table,
  realm: string,
  userId: number,
  queueId: string,
): Promise<EventQueue | undefined> {
  const slot = slotOf(queueId);
  if (slot === undefined) return undefined;
  const queue = await table.get(keyInSlot(realm, userId, slot));
  return queue?.queueId === queueId ? queue : undefined;
}

/**
 * Stores a new queue and returns it. Its random id chooses its slot. If a queue is there that may still be polled, the
 * owner's queues are read: the new one goes into a free slot, or replaces the one that was polled longest ago, whose
 * client then registers again. So a client in a loop takes no room for ever and locks nobody out.
 *
 * One round trip, and two more where the slot was taken.
 *
 * @throws ConflictError where another registration takes the second slot too
 */
export async function putQueue(
  table: Table,
  realm: string,
  queue: EventQueue,
  now: number,
): Promise<EventQueue> {
  const put = async (given: EventQueue, when: Condition): Promise<EventQueue | undefined> => {
    try {
      await table.put(queueKey(realm, given), { ...given }, when);
      return given;
    } catch (error) {
      if (!isRefused(error)) throw error;
      return undefined;
    }
  };
  const stored = await put(queue, { below: { expires: Math.floor(now / 1000) } });
  if (stored !== undefined) return stored;
  const slots = await Promise.all(
    Array.from({ length: MAX_QUEUES }, (_, slot) => table.get(keyInSlot(realm, queue.userId, slot))),
  );
  // A reply that was lost had stored it.
  if (slots.some((other) => other?.queueId === queue.queueId)) return queue;
  const lastUse = slots.map((other) =>
    other === undefined || now > endOf(other, other.polledAt) ? 0 : other.polledAt,
  );
  const slot = lastUse.indexOf(Math.min(...lastUse));
  const former = slots[slot];
  const unchanged =
    former === undefined
      ? { absent: true }
      : { equals: { queueId: former.queueId, polledAt: former.polledAt } };
  const moved = await put({ ...queue, queueId: idInSlot(queue.queueId, slot) }, unchanged);
  if (moved === undefined) throw new ConflictError([]);
  return moved;
}

/**
 * The queue, for its owner. Unknown, expired and foreign ones are one refusal (wire facts 14.2), so that
 * nobody learns of the queues of others.
 */
export function accessQueue(
  queue: EventQueue | undefined,
  queueId: string,
  userId: number,
  now: number,
): EventQueue {
  if (queue === undefined || queue.userId !== userId || now > endOf(queue, queue.polledAt)) {
    throw refusal('badQueue', { queueId });
  }
  return queue;
}

/**
 * The number of the log behind which reading goes on for a client that has seen everything up to `lastEventId`. Ids
 * from before the registration mean its beginning. Refuses an id of a number that was never handed out (`newest` is
 * the last one that was); which heartbeats were sent is not stored, so any id between two numbers is taken. Refuses an
 * id behind which events may have been deleted already: the client has to register anew.
 */
export function checkCursor(queue: EventQueue, lastEventId: number, newest: number, now: number): number {
  const number = numberOf(lastEventId);
  if (number > newest) throw badRequest("'last_event_id' is beyond the newest event.");
  const cursor = Math.max(number, queue.start);
  if (!queue.marks.some(({ head, at }) => head <= cursor && now - at < KEPT)) {
    throw refusal('badQueue', { queueId: queue.queueId });
  }
  return cursor;
}

/** Whether it is time to note a poll of this queue again. */
export const isNoteDue = (queue: EventQueue, now: number): boolean =>
  now - queue.polledAt >= noteEvery(queue);

/** A poll, as its queue notes it. */
export interface NotedPoll {
  /** Its client had acknowledged everything up to here. */
  readonly cursor: number;
  /** Where the log ended for it, if it was read that far. */
  readonly end: number | undefined;
  /** Its name, if it waits for the queue from now on. */
  readonly waiting?: string;
}

/**
 * Notes in the queue that it was polled at `now` (ms). A queue that was deleted meanwhile stays deleted. Returns the
 * queue as it is then, as far as is known.
 */
export async function notePoll(
  table: Table,
  realm: string,
  queue: EventQueue,
  { cursor, end, waiting }: NotedPoll,
  now: number,
): Promise<EventQueue> {
  const acknowledged = queue.marks.findLast(({ head }) => head <= cursor);
  const marks =
    end === undefined || acknowledged === undefined ? queue.marks : [acknowledged, { head: end, at: now }];
  const set = {
    polledAt: now,
    expires: expiryOf(queue, now),
    marks,
    ...(waiting !== undefined && { waiting }),
  };
  try {
    await table.update(queueKey(realm, queue), { set }, { equals: { queueId: queue.queueId } });
  } catch (error) {
    // The store is busy, so this poll is not noted yet.
    if (isPassing(error)) return queue;
    // The queue is deleted.
    if (!isRefused(error)) throw error;
  }
  return { ...queue, ...set };
}

/** Deletes a queue, if it is (still) this person's. Returns whether it was. */
export async function deleteQueue(
  table: Table,
  realm: string,
  queueId: string,
  userId: number,
  token: string,
): Promise<boolean> {
  if (slotOf(queueId) === undefined) return false;
  const write = { delete: queueKey(realm, { userId, queueId }), when: { equals: { queueId } } };
  const outcome = await table.transact([write], token);
  if (outcome.state === 'unsure') throw outcome.cause;
  return outcome.state === 'done';
}
