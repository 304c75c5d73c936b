import type { MessageHead } from '../../log/message.ts';

/** The conversation in whose read states a message stands: a move does not change it. */
export const readPlaceOf = ({ conversation, readIn }: Pick<MessageHead, 'conversation' | 'readIn'>): string =>
  readIn ?? conversation;
