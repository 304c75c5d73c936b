import { badRequest, refusal } from '../../kernel/errors.ts';
import { ConflictError } from '../../log/commit.ts';
import { KEPT, LONGEST_IDLE } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import { isRefused } from '../../table/outcome.ts';
import type { Table } from '../../table/table.ts';
import type { Condition } from '../../table/write.ts';
import type { EventNarrowTerm } from './narrow.ts';

/** Capabilities that a client can declare (wire facts 14.1). Events are adapted to them. */
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

/** Which events a client gets, and in which form. Fixed at registration. */
export interface QueueOptions {
  /** The types of events; absent means all. */
  readonly eventTypes?: readonly string[];
  /** Messages must match all of these. */
  readonly narrow: readonly EventNarrowTerm[];
  /** Messages of all public channels, subscribed or not. */
  readonly allPublicChannels: boolean;
  readonly applyMarkdown: boolean;
  /** The client computes Gravatar URLs itself. */
  readonly clientGravatar: boolean;
  /** The client matches presences by user id, so that events need no address. Absent means no. */
  readonly slimPresence?: true;
  /** Channels in events come with their subscribers. */
  readonly includeSubscribers: boolean;
  readonly capabilities: readonly Capability[];
}

/**
 * Whether the client gets the list of muted topics in place of `user_topic` events, as before there were other policies
 * (companion facts 3.7): it asked for the one type and not for the other.
 */
export const wantsMutedTopics = ({ eventTypes = [] }: Pick<QueueOptions, 'eventTypes'>): boolean =>
  eventTypes.includes('muted_topics') && !eventTypes.includes('user_topic');

/** At the time `at` (ms) a poll found the end of the log at `head`: later entries are younger than that. */
interface Mark {
  readonly head: number;
  readonly at: number;
}

/** An event queue, as stored. It has no events, only its owner, options and cursor (DESIGN 5). */
export interface EventQueue extends QueueOptions {
  readonly queueId: string;
  readonly userId: number;
  /** The cursor at registration. */
  readonly start: number;
  /** When that was, ms. Absent in queues of earlier releases. */
  readonly registered?: number;
  /** Idle timeout, seconds. */
  readonly idle: number;
  /** When a poll was last noted, ms. */
  readonly polledAt: number;
  /** At most two: the last one that the client has acknowledged, and the newest. */
  readonly marks: readonly Mark[];
  /** When DynamoDB may delete it, seconds. */
  readonly expires: number;
  /** The poll that waits, or waited last. */
  readonly waiting?: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    queue: EventQueue;
  }
}

/** Idle timeouts, seconds (wire facts 2). */
const IDLE = { default: 600, mobile: 12 * 3600, max: LONGEST_IDLE } as const;

/** The idle timeout (seconds) for the parameters: a number of seconds, or `mobile`. Throws `BAD_REQUEST`. */
export function checkIdleTimeout(timeout: string | undefined, lifespan: number | undefined): number {
  if (timeout === undefined || timeout === 'null') return Math.min(lifespan || IDLE.default, IDLE.max);
  if (timeout === 'mobile' || timeout === '"mobile"') return IDLE.mobile;
  const seconds = /^\d{1,15}$/.test(timeout) ? Number(timeout) : 0;
  if (seconds === 0)
    throw badRequest("'idle_queue_timeout' must be a positive number of seconds or 'mobile'.");
  return Math.min(seconds, IDLE.max);
}

/** A new queue that begins after `start`. `now` is in milliseconds. */
export const newQueue = (
  options: Pick<EventQueue, 'queueId' | 'userId' | 'start' | 'idle'> & QueueOptions,
  now: number,
): EventQueue => ({
  ...options,
  registered: now,
  polledAt: now,
  marks: [{ head: options.start, at: now }],
  expires: expiryOf({ ...options, registered: now }, now),
});

/** Longest time (ms) for which a registration reads its state: the timeout of its function, and some clock skew. */
const REGISTRATION_MS = 30_000;

/** Interval (ms) at which polls are noted: long enough to cost little, short enough for the idle timeout. */
const noteInterval = ({ idle }: Pick<EventQueue, 'idle'>): number => Math.min(60_000, idle * 100);

/**
 * When (ms) the queue expires without another poll. Neither the interval between notes nor the duration of the
 * registration shortens its life.
 */
const endOf = (queue: Pick<EventQueue, 'idle' | 'registered'>, polledAt: number): number =>
  polledAt + queue.idle * 1000 + noteInterval(queue) + (polledAt === queue.registered ? REGISTRATION_MS : 0);

/** When DynamoDB may delete the queue, seconds: a little later. */
const expiryOf = (queue: Pick<EventQueue, 'idle' | 'registered'>, polledAt: number): number =>
  Math.ceil(endOf(queue, polledAt) / 1000) + 60;

/** Most queues of one account. The last two hexadecimal digits of a queue's id choose its slot. */
export const MAX_QUEUES = 64;

/** The slot of a queue id. Undefined for an invalid id. */
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

/** Names the place in a waiting room where the poll of a queue waits. */
export const placeOf = (realm: string, queueId: string): string => `${queueId}/${realm}`;

/** A queue of this user. One round trip. */
export async function loadQueue(
  table: Table,
  realm: string,
  userId: number,
  queueId: string,
): Promise<EventQueue | undefined> {
  const slot = slotOf(queueId);
  if (slot === undefined) return undefined;
  const queue = await table.get(keyInSlot(realm, userId, slot));
  return queue?.queueId === queueId ? inOneShape(queue) : undefined;
}

/**
 * The store returns attributes in any order. In one order all queues share one hidden class of V8; else the queue of each
 * poll that waits has classes of its own, of 1.5 KB.
 */
const inOneShape = (queue: EventQueue): EventQueue =>
  Object.fromEntries(Object.entries(queue).sort(([a], [b]) => (a < b ? -1 : 1))) as unknown as EventQueue;

/**
 * Stores a new queue and returns it. Its random id chooses the slot. If an active queue is there, the owner's queues are
 * read: the new one takes a free slot, or replaces the one with the oldest poll, whose client then registers again. So a
 * client in a loop uses bounded space and locks nobody out.
 *
 * One round trip, and two more if the slot was taken.
 *
 * @throws ConflictError if another registration takes the second slot too
 */
export async function putQueue(
  table: Table,
  realm: string,
  queue: EventQueue,
  now: number,
): Promise<EventQueue> {
  const put = async (item: EventQueue, when: Condition): Promise<EventQueue | undefined> => {
    try {
      await table.put(queueKey(realm, item), { ...item }, when);
      return item;
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
  // It was stored, and only the reply was lost.
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

/** The queue, for its owner. An unknown, an expired and another user's queue get the same error (wire facts 14.2). */
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
 * The log number after which to read for a client that has everything up to `lastEventId`. Ids from before the
 * registration count as its start. Throws `BAD_REQUEST` for a number beyond `newest`, the last allocated one, and
 * `BAD_EVENT_QUEUE_ID` if later events may be deleted already: the client has to register again. Any id between two
 * numbers is accepted, because heartbeats are not stored.
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

/** Whether a poll of this queue should be noted. */
export const isNoteDue = (queue: EventQueue, now: number): boolean =>
  now - queue.polledAt >= noteInterval(queue);

/** What a queue stores about a poll. */
interface NotedPoll {
  /** The number that its client has acknowledged. */
  readonly cursor: number;
  /** The end of the log, if the poll read that far. */
  readonly end: number | undefined;
}

/** What a queue stores about a poll at `now` (ms). */
function noteOf(queue: EventQueue, { cursor, end }: NotedPoll, now: number) {
  const acknowledged = queue.marks.findLast(({ head }) => head <= cursor);
  const marks =
    end === undefined || acknowledged === undefined ? queue.marks : [acknowledged, { head: end, at: now }];
  return { polledAt: now, expires: expiryOf(queue, now), marks };
}

/**
 * Stores in the queue that it was polled at `now` (ms). A queue that was deleted meanwhile stays deleted. Returns the
 * queue with these changes.
 */
export async function notePoll(
  table: Table,
  realm: string,
  queue: EventQueue,
  poll: NotedPoll,
  now: number,
): Promise<EventQueue> {
  const set = noteOf(queue, poll, now);
  try {
    await table.update(queueKey(realm, queue), { set }, { equals: { queueId: queue.queueId } });
  } catch (error) {
    // The queue is deleted.
    if (!isRefused(error)) throw error;
  }
  return { ...queue, ...set };
}

/**
 * Stores that `waiting` waits for the queue now, and when (`now`, ms). Returns the queue as it is then, and who waited
 * before; undefined if the queue is deleted. One round trip, and two more each time that another poll was faster.
 */
export async function claimQueue(
  table: Table,
  realm: string,
  queue: EventQueue,
  { waiting, ...poll }: NotedPoll & { readonly waiting: string },
  now: number,
): Promise<{ readonly queue: EventQueue; readonly former: string | undefined } | undefined> {
  const { userId, queueId, waiting: former } = queue;
  const set = { ...noteOf(queue, poll, now), waiting };
  try {
    await table.update(queueKey(realm, queue), { set }, { equals: { queueId, waiting: former } });
    return { queue: { ...queue, ...set }, former };
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const stored = await loadQueue(table, realm, userId, queueId);
  return stored && claimQueue(table, realm, stored, { waiting, ...poll }, now);
}

/** Deletes a queue of this user. Returns whether there was one. */
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

/**
 * An event's id is the number of its log entry times this (wire facts 14.2; companion facts 6.1: ids only grow). The ids
 * in between belong to heartbeats, which have no entry. The rest of the domain uses numbers of the log only.
 */
const IDS_PER_NUMBER = 1_000;

/** The id of the event with this log number. */
export const eventIdOf = (seq: number): number => seq * IDS_PER_NUMBER;

/** The log number that a client acknowledges with an event id. Negative for a negative id. */
export const numberOf = (eventId: number): number => Math.floor(eventId / IDS_PER_NUMBER);

/**
 * The id of a heartbeat for a client that acknowledged `last`, after reading the log up to `head`. Undefined after 999
 * heartbeats without a new number (about seven hours): then no id is left before the next event's.
 */
export function heartbeatId(last: number, head: number): number | undefined {
  const id = Math.max(last, eventIdOf(head)) + 1;
  return numberOf(id) === head ? id : undefined;
}
