import type { Message } from '../../log/message.ts';
import type { Payload } from '../../log/slot.ts';
import { type MessageNames, messageObject, submessagesOnSend } from '../../model/message/object.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import { anonymized } from '../../model/subscription/user-access.ts';
import { isGravatar } from '../../model/user/object.ts';
import { presencePayload } from '../presence/event.ts';
import { type EventQueue, eventIdOf } from './queue.ts';

/** An event as clients get it (wire facts 14). */
export interface WireEvent extends Payload {
  readonly id: number;
}

/** The event with this log number, adapted to the capabilities of the queue's client. */
export const eventOf = (payload: Payload, seq: number, queue: EventQueue): WireEvent => ({
  ...adapted(payload, queue),
  id: eventIdOf(seq),
});

/** Ends a poll without news. Its id acknowledges the entries that were read and were not for the client. */
export const heartbeat = (id: number): WireEvent => ({ type: 'heartbeat', id });

/**
 * The `message` event (wire facts 14.3), without the sender's local id. Reactions and later submessages are left
 * out: each has an event of its own after this one, and clients would count it twice.
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
    submessagesOnSend(message),
  ),
});

/**
 * Merges two deletions in the same conversation into one event with the id of the second, and with message ids in ascending
 * order (companion facts 4.5), for clients that accept lists. Undefined if they cannot be merged.
 */
export function deletionOfBoth(first: WireEvent | undefined, second: WireEvent): WireEvent | undefined {
  if (first === undefined || !isListOfDeleted(first) || !isListOfDeleted(second)) return undefined;
  const { id, message_ids, ...rest } = second;
  const isSame = Object.entries(rest).every(([field, value]) => first[field] === value);
  if (!isSame) return undefined;
  return { ...second, message_ids: [...first.message_ids, ...message_ids].sort((a, b) => a - b) };
}

const isListOfDeleted = (
  event: WireEvent,
): event is WireEvent & { readonly message_ids: readonly number[] } =>
  event.type === 'delete_message' && Array.isArray(event.message_ids);

/** Adapts an event to the client's capabilities. */
function adapted(payload: Payload, queue: EventQueue): Payload {
  switch (payload.type) {
    case 'user_topic':
      return withTopicNames(payload, ['topic_name'], queue);
    case 'update_message':
      return withTopicNames(payload, ['subject', 'orig_subject'], queue);
    case 'update_message_flags':
      return withDetailNames(payload, queue);
    case 'typing':
      return withTopicNames(payload, ['topic'], queue);
    case 'typing_edit_message':
      return { ...payload, recipient: withTopicNames(payload.recipient as object, ['topic'], queue) };
    case 'delete_message':
      return deletionFor(withTopicNames(payload, ['topic'], queue), queue);
    case 'realm_user':
      return withoutGravatar(payload, queue);
    case 'presence':
      return presencePayload(payload, {
        isModern: queue.capabilities.includes('simplified_presence_events'),
        isSlim: queue.slimPresence === true,
      });
    default:
      return payload;
  }
}

/** Gives the empty topic a name for clients that cannot handle it. */
function withTopicNames<T extends object>(
  payload: T,
  fields: readonly string[],
  { capabilities }: EventQueue,
): T {
  if (capabilities.includes('empty_topic_name')) return payload;
  const empty = fields.filter((field) => (payload as Readonly<Record<string, unknown>>)[field] === '');
  return { ...payload, ...Object.fromEntries(empty.map((field) => [field, EMPTY_TOPIC_NAME])) };
}

/** The same in the details of messages that became unread. */
function withDetailNames(payload: Payload, { capabilities }: EventQueue): Payload {
  const { message_details: details } = payload as { message_details?: Record<string, { topic?: string }> };
  if (details === undefined || capabilities.includes('empty_topic_name')) return payload;
  const named = Object.entries(details).map(([id, detail]) => [
    id,
    detail.topic === '' ? { ...detail, topic: EMPTY_TOPIC_NAME } : detail,
  ]);
  return { ...payload, message_details: Object.fromEntries(named) };
}

/** Clients without `bulk_message_deletion` get the id of a single message. */
function deletionFor({ message_ids, ...payload }: Payload, { capabilities }: EventQueue): Payload {
  if (capabilities.includes('bulk_message_deletion')) return { ...payload, message_ids };
  return { ...payload, message_id: (message_ids as readonly number[])[0] };
}

/** Leaves out the Gravatar URL of a new user for clients that compute it. A change of an avatar keeps its addresses. */
function withoutGravatar(payload: Payload, { clientGravatar }: EventQueue): Payload {
  const { op, person } = payload as { op?: string; person?: { avatar_url?: string | null } };
  if (op !== 'add' || !clientGravatar || !isGravatar(person?.avatar_url)) return payload;
  return { ...payload, person: { ...person, avatar_url: null } };
}

/** A person in a `typing` event. */
interface TypingPerson {
  readonly user_id: number;
  readonly email: string;
}

/** Whether events of this type tell that somebody is typing a message or an edit. */
export const isTyping = (type: string): boolean => type === 'typing' || type === 'typing_edit_message';

/** The user who is typing, of such an event. */
export const typistIn = ({ sender, sender_id }: Payload): number =>
  (sender as TypingPerson | undefined)?.user_id ?? (sender_id as number);

/** The people of a direct conversation in which somebody is typing; none for any other event. */
const recipientsIn = ({ type, recipients }: Payload): readonly TypingPerson[] =>
  type === 'typing' && recipients !== undefined ? (recipients as readonly TypingPerson[]) : [];

export const recipientIdsIn = (payload: Payload): number[] =>
  recipientsIn(payload).map(({ user_id }) => user_id);

/** The event without the addresses of recipients whom the listener may not see. */
export function withoutHiddenRecipients(payload: Payload, hidden: ReadonlySet<number>): Payload {
  const people = recipientsIn(payload);
  if (!people.some(({ user_id }) => hidden.has(user_id))) return payload;
  const shown = ({ user_id, email }: TypingPerson): TypingPerson => ({
    user_id,
    email: hidden.has(user_id) ? anonymized(user_id).email : email,
  });
  return { ...payload, recipients: people.map(shown) };
}
