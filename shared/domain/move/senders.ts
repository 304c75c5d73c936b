import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';

/** Most participants that one step adds to the target topic. */
export const MAX_JOINING = 15;

/** Whether more than the head was read. */
export const isWhole = (message: MessageHead): message is MessageSlot => 'kind' in message;

export const sendersOf = (messages: readonly MessageHead[]): number[] => [
  ...new Set(messages.map(({ senderId }) => senderId)),
];

/**
 * Whether one step does not add all participants: it adds only some senders, and nobody who reacted. `reacted`:
 * someone reacted, or this is not known.
 */
export const leavesPeople = (messages: readonly MessageHead[], reacted: boolean): boolean =>
  reacted || sendersOf(messages).length > MAX_JOINING;
