import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { reactionsOf } from '../reaction/reaction.ts';

/** People who come to take part in the target in one step. */
export const MOST_JOINING = 15;

/** A message of which more than the head was read. */
export const isWhole = (message: MessageHead): message is MessageSlot => 'kind' in message;

/** Those who take part in a topic because of a message: its sender, and who reacted to it, if it was read whole. */
export const peopleOf = (message: MessageHead): number[] => [
  message.senderId,
  ...reactionsOf(message).map(({ userId }) => userId),
];

/** Those who take part because of any of these messages. */
export const peopleOfAll = (messages: readonly MessageHead[]): number[] => [
  ...new Set(messages.flatMap(peopleOf)),
];

/** Whether people take part because of these messages who do not come along with them in one step. */
export const leavesPeople = (messages: readonly MessageHead[]): boolean =>
  !messages.every(isWhole) || peopleOfAll(messages).length > MOST_JOINING;
