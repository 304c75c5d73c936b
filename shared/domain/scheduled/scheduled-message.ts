import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import { uniqueSorted } from '../../lists.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { extractReferences } from '../../markdown/references.ts';
import { checkTopic } from '../../model/message/message.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { linkedTokens } from '../files/link.ts';
import { checkSize, type SendRequest } from '../send/request.ts';
import { type Due, dueKey } from './due.ts';

/** Where a message goes. */
export type ScheduledPlace =
  | { readonly kind: 'channel'; readonly channelId: number; readonly topic: string }
  | { readonly kind: 'direct'; readonly userIds: readonly number[] };

/** A message to be sent later, as stored under its user (companion facts 2.3). */
export interface ScheduledMessage {
  readonly scheduledId: number;
  readonly place: ScheduledPlace;
  readonly content: string;
  /** Its HTML as of the last change. */
  readonly rendered: string;
  /** When it is to be sent, in seconds since 1970. */
  readonly deliverAt: number;
  /** Whether it starts as read by its sender. */
  readonly readBySender: boolean;
  /** The name of the client program, and the base URL that it used. */
  readonly client: string;
  readonly baseUrl: string;
  /** It could not be sent. It stays until its user gives it another time or deletes it. */
  readonly failed?: true;
  /** Why not, for the notice to its user. */
  readonly problem?: string;
  /** Incremented by each change, for optimistic locking. */
  readonly version: number;
}

/** What a user decides about a message to be sent later. */
export type ScheduledInput = Pick<ScheduledMessage, 'place' | 'content' | 'deliverAt'>;

declare module '../../table/keys.ts' {
  interface ItemTypes {
    scheduled: ScheduledMessage;
  }
}

/** Most messages that one user has scheduled (docs/LIMITS.md): `POST /register` sends all of them. */
export const MAX_SCHEDULED = 100;

/** The parameters that say where a message goes. */
export interface PlaceParameters {
  readonly type: 'direct' | 'private' | 'channel' | 'stream';
  readonly to: number | readonly number[];
  readonly topic?: string | undefined;
}

/** Parses the place. Throws `BAD_REQUEST`. */
export function parsePlace({ type, to, topic }: PlaceParameters): ScheduledPlace {
  const ids = typeof to === 'number' ? [to] : to;
  if (type === 'channel' || type === 'stream') {
    const [channelId] = ids;
    if (channelId === undefined || ids.length > 1)
      throw badRequest('A channel message goes to exactly one channel.');
    if (topic === undefined) throw badRequest('A channel message needs a topic.');
    return { kind: 'channel', channelId, topic: checkTopic(topic) };
  }
  if (typeof to === 'number' || ids.length === 0)
    throw badRequest("'to' must be a list of at least one user ID.");
  const userIds = uniqueSorted(ids);
  checkSize(userIds.length);
  return { kind: 'direct', userIds };
}

/** The message as a request to send it now. */
export const asSendRequest = (
  { place, content }: Pick<ScheduledMessage, 'place' | 'content'>,
  readBySender: boolean | undefined,
): SendRequest => ({
  to:
    place.kind === 'channel'
      ? { kind: 'channel', id: place.channelId, topic: place.topic }
      : { kind: 'direct', ids: place.userIds },
  content,
  names: extractReferences(content),
  files: linkedTokens(content),
  token: undefined,
  readBySender,
});

/** All messages that a user has scheduled, the next one first. One round trip. */
export async function loadScheduled(
  table: Table,
  realm: string,
  userId: number,
): Promise<ScheduledMessage[]> {
  const all = await table.all('scheduled', { realm, userId });
  return all.sort((a, b) => a.deliverAt - b.deliverAt || a.scheduledId - b.scheduledId);
}

/** A message that a user has scheduled, or undefined if they have none with this id. One round trip. */
export const loadScheduledMessage = async (
  table: Table,
  realm: string,
  userId: number,
  scheduledId: number,
): Promise<ScheduledMessage | undefined> =>
  isId(scheduledId) ? table.get('scheduled', { realm, userId, scheduledId }) : undefined;

/** The message. An unknown one, one that was sent, and another user's are 404 alike. */
export function accessScheduled(message: ScheduledMessage | undefined): ScheduledMessage {
  if (message === undefined) throw refusal('scheduledDoesNotExist');
  return message;
}

/** Refuses one more message of a user who has scheduled so many. */
export function checkRoomForScheduled(scheduled: readonly ScheduledMessage[]): void {
  if (scheduled.length >= MAX_SCHEDULED)
    throw badRequest(`You have scheduled ${MAX_SCHEDULED} messages: delete one of them first.`);
}

/** A scheduled message on the wire, for its user. */
export function scheduledObject(
  { scheduledId, place, content, rendered, deliverAt, failed }: ScheduledMessage,
  userId: number,
) {
  const object = {
    scheduled_message_id: scheduledId,
    content,
    rendered_content: rendered,
    scheduled_delivery_timestamp: deliverAt,
    failed: failed ?? false,
  };
  if (place.kind === 'channel')
    return { ...object, type: 'stream' as const, to: place.channelId, topic: place.topic };
  const others = place.userIds.filter((id) => id !== userId);
  return { ...object, type: 'private' as const, to: others.length === 0 ? [userId] : others };
}

const dueOf = (realm: string, userId: number, { scheduledId, deliverAt }: ScheduledMessage): Due => ({
  realm,
  userId,
  what: 'message',
  id: scheduledId,
  at: deliverAt,
});

const scheduledKey = (realm: string, userId: number, scheduledId: number): Key<'scheduled'> =>
  key('scheduled', { realm, userId, scheduledId });

const scheduledEvent = (userId: number, op: string, fields: object): EventEntry =>
  eventFor({ users: [userId] }, { type: 'scheduled_messages', op, ...fields });

/** Schedules a message. Its id is the number of its event. */
export function doSchedule(
  realm: string,
  userId: number,
  given: Omit<ScheduledMessage, 'scheduledId' | 'version'>,
  [scheduledId = 0]: readonly number[],
): Change<Due> {
  const message: ScheduledMessage = { ...given, scheduledId, version: 1 };
  const due = dueOf(realm, userId, message);
  return {
    writes: [
      { put: scheduledKey(realm, userId, scheduledId), item: { ...message }, when: { absent: true } },
      { put: dueKey(due), item: { ...due } },
    ],
    entries: [scheduledEvent(userId, 'add', { scheduled_messages: [scheduledObject(message, userId)] })],
    result: due,
  };
}

/** Changes a scheduled message, which then has not failed any more. Fails if it has changed since it was read. */
export function doReschedule(
  realm: string,
  userId: number,
  before: ScheduledMessage,
  change: ScheduledInput & Pick<ScheduledMessage, 'rendered'>,
): Change<Due> {
  const { failed, problem, ...kept } = before;
  const after: ScheduledMessage = { ...kept, ...change, version: before.version + 1 };
  const due = dueOf(realm, userId, after);
  return {
    writes: [
      {
        put: scheduledKey(realm, userId, after.scheduledId),
        item: { ...after },
        when: hasVersion(before.version),
      },
      ...(after.deliverAt === before.deliverAt
        ? []
        : [{ delete: dueKey(dueOf(realm, userId, before)) } satisfies Write]),
      { put: dueKey(due), item: { ...due } },
    ],
    entries: [scheduledEvent(userId, 'update', { scheduled_message: scheduledObject(after, userId) })],
    result: due,
  };
}

/** Deletes a scheduled message, because its user says so or because it is sent. Fails if it has changed. */
export const doUnschedule = (realm: string, userId: number, message: ScheduledMessage): Change<void> => ({
  writes: [
    {
      delete: scheduledKey(realm, userId, message.scheduledId),
      when: hasVersion(message.version),
    },
    { delete: dueKey(dueOf(realm, userId, message)) },
  ],
  entries: [scheduledEvent(userId, 'remove', { scheduled_message_id: message.scheduledId })],
  result: undefined,
});

/**
 * Notes that a scheduled message could not be sent. It stays among what is due until its user has the notice about it, if
 * they get one. Fails if it has changed since it was read.
 */
export function doFail(
  realm: string,
  userId: number,
  message: ScheduledMessage,
  problem: string | undefined,
): Change<void> {
  const version = message.version + 1;
  const failed: ScheduledMessage = { ...message, failed: true, ...(problem && { problem }), version };
  return {
    writes: [
      {
        put: scheduledKey(realm, userId, message.scheduledId),
        item: { ...failed },
        when: hasVersion(message.version),
      },
      ...(problem === undefined ? [{ delete: dueKey(dueOf(realm, userId, message)) } satisfies Write] : []),
    ],
    entries: [scheduledEvent(userId, 'update', { scheduled_message: scheduledObject(failed, userId) })],
    result: undefined,
  };
}
