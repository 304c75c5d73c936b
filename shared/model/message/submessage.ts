import type { Message } from '../../log/message.ts';

/*
 * Submessages carry the state of widgets (polls and to-do lists). They are attributes of the message, so that a fetch
 * reads nothing more and two people who vote at once do not overwrite each other. The first one of a poll or list is
 * stored with the send (`widget`). Each later one is an attribute named by the log number of its event. The name has a
 * slash, so a deleted message that late clients still get has none of these: their events follow it.
 */

/** Data that somebody attached to a message: JSON text. */
export interface Submessage {
  /** The log number of its event; of the first one of a widget, that of the message. */
  readonly id: number;
  readonly senderId: number;
  readonly content: string;
}

/** The stored value of a later submessage. */
type StoredSubmessage = Omit<Submessage, 'id'>;

const PREFIX = 'submessage/';

/** The attribute of a message that holds the submessage with this log number. */
export const submessageAttribute = (id: number): string => `${PREFIX}${id}`;

/** The submessage that was stored with the send, if the message is a poll or a to-do list. */
export const submessagesOnSend = ({ id, senderId, widget }: Message): Submessage[] =>
  widget === undefined ? [] : [{ id, senderId, content: widget }];

/** The submessages that came after the send, oldest first. */
export const laterSubmessages = (message: Message): Submessage[] =>
  Object.entries(message)
    .filter(([attribute]) => attribute.startsWith(PREFIX))
    .map(([attribute, value]) => ({
      ...(value as StoredSubmessage),
      id: Number(attribute.slice(PREFIX.length)),
    }))
    .sort((a, b) => a.id - b.id);

/** All submessages of a message, oldest first. */
export const allSubmessages = (message: Message): Submessage[] => [
  ...submessagesOnSend(message),
  ...laterSubmessages(message),
];

/** A submessage as clients and archives see it (companion facts 4.8). */
export const submessageObject = (messageId: number, { id, senderId, content }: Submessage) => ({
  id,
  message_id: messageId,
  sender_id: senderId,
  msg_type: 'widget' as const,
  content,
});
