import type { Message } from '../../log/message.ts';
import type { Payload } from '../../log/slot.ts';
import { type MessageNames, messageObject } from '../../model/message/object.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import { isGravatar } from '../../model/user/object.ts';
import { eventIdOf } from './event-id.ts';
import type { EventQueue } from './event-queue.ts';

/** An event as clients get it (wire facts 14). */
export interface WireEvent extends Payload {
  readonly id: number;
}

/** The event with this number of the log, in the words that the queue's client understands. */
export const eventOf = (payload: Payload, seq: number, queue: EventQueue): WireEvent => ({
  ...spelled(payload, queue),
  id: eventIdOf(seq),
});

/** Ends a poll without news. The client acknowledges with its id what was examined and was not for it. */
export const heartbeat = (id: number): WireEvent => ({ type: 'heartbeat', id });

/**
 * The `message` event (wire facts 14.3), without the name that the sender's client gave it. Reactions are left out:
 * each has an event of its own behind this one, and clients would count it twice.
 */
export const messagePayload = (
  message: Message,
  names: MessageNames,
  flags: readonly string[],
  queue: EventQueue,
): Payload => ({
  type: 'message',
  flags,
  message: messageObject(
    message,
    names,
    {
      applyMarkdown: queue.applyMarkdown,
      emptyTopicName: queue.capabilities.includes('empty_topic_name'),
      clientGravatar: queue.clientGravatar,
    },
    [],
  ),
});

/**
 * Two deletions in the same place in one, under the number of the second, for clients that take lists; undefined where
 * these two stay apart.
 */
export function deletionOfBoth(first: WireEvent | undefined, second: WireEvent): WireEvent | undefined {
  if (first === undefined || !isListOfDeleted(first) || !isListOfDeleted(second)) return undefined;
  const { id, message_ids, ...place } = second;
  const isSame = Object.entries(place).every(([field, value]) => first[field] === value);
  return isSame ? { ...second, message_ids: [...first.message_ids, ...message_ids] } : undefined;
}

const isListOfDeleted = (
  event: WireEvent,
): event is WireEvent & { readonly message_ids: readonly number[] } =>
  event.type === 'delete_message' && Array.isArray(event.message_ids);

/** Adapts an event to what the client said of itself. */
function spelled(payload: Payload, queue: EventQueue): Payload {
  switch (payload.type) {
    case 'user_topic':
      return topicsNamed(payload, ['topic_name'], queue);
    case 'update_message':
      return topicsNamed(payload, ['subject', 'orig_subject'], queue);
    case 'update_message_flags':
      return detailsSpelled(payload, queue);
    case 'delete_message':
      return deletionSpelled(topicsNamed(payload, ['topic'], queue), queue);
    case 'realm_user':
      return personSpelled(payload, queue);
    default:
      return payload;
  }
}

/** The empty topic gets a name for clients that do not know it. */
function topicsNamed(payload: Payload, fields: readonly string[], { capabilities }: EventQueue): Payload {
  if (capabilities.includes('empty_topic_name')) return payload;
  const empty = fields.filter((field) => payload[field] === '');
  return { ...payload, ...Object.fromEntries(empty.map((field) => [field, EMPTY_TOPIC_NAME])) };
}

/** The same for the topics of messages that are unread again. */
function detailsSpelled(payload: Payload, { capabilities }: EventQueue): Payload {
  const { message_details: details } = payload as { message_details?: Record<string, { topic?: string }> };
  if (details === undefined || capabilities.includes('empty_topic_name')) return payload;
  const named = Object.entries(details).map(([id, detail]) => [
    id,
    detail.topic === '' ? { ...detail, topic: EMPTY_TOPIC_NAME } : detail,
  ]);
  return { ...payload, message_details: Object.fromEntries(named) };
}

/** Clients that do not know of deletions of many messages are told of each by itself. */
function deletionSpelled({ message_ids, ...payload }: Payload, { capabilities }: EventQueue): Payload {
  if (capabilities.includes('bulk_message_deletion')) return { ...payload, message_ids };
  return { ...payload, message_id: (message_ids as readonly number[])[0] };
}

/** Clients that know how to find a picture at Gravatar are not told where it is. */
function personSpelled(payload: Payload, { clientGravatar }: EventQueue): Payload {
  const { person } = payload as { person?: { avatar_url?: string | null } };
  if (!clientGravatar || !isGravatar(person?.avatar_url)) return payload;
  return { ...payload, person: { ...person, avatar_url: null } };
}
