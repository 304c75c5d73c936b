import type { Message } from '../log/message.ts';

/**
 * What the indexes tell of a message without its text: enough to decide whether somebody may read it, whether it is
 * in a narrow, and whether it is unread. A whole message is a head too.
 */
export type MessageHead = Pick<
  Message,
  | 'id'
  | 'senderId'
  | 'conversation'
  | 'channelId'
  | 'topic'
  | 'people'
  | 'readBySender'
  | 'readIn'
  | 'mentions'
>;

/** The conversation in whose read states a message stands: a move does not change it. */
export const readPlaceOf = ({ conversation, readIn }: Pick<MessageHead, 'conversation' | 'readIn'>): string =>
  readIn ?? conversation;
