import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';

/** People who come to take part in the target in one step. */
export const MAX_JOINING = 15;

/** A message of which more than the head was read. */
export const isWhole = (message: MessageHead): message is MessageSlot => 'kind' in message;

/** Those who take part in a topic because they sent one of these messages. */
export const sendersOf = (messages: readonly MessageHead[]): number[] => [
  ...new Set(messages.map(({ senderId }) => senderId)),
];

/**
 * Whether people take part because of these messages who do not come along with them in one step: who reacted is only
 * read afterwards. `reacted`: somebody did, or that is not known.
 */
export const leavesPeople = (messages: readonly MessageHead[], reacted: boolean): boolean =>
  reacted || sendersOf(messages).length > MAX_JOINING;
