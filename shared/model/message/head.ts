import type { MessageHead } from '../../log/message.ts';
import { channelOfConversation } from './conversation.ts';

/** The conversation in whose read states a message stands: a move does not change it. */
export const readPlaceOf = ({ conversation, readIn }: Pick<MessageHead, 'conversation' | 'readIn'>): string =>
  readIn ?? conversation;

/** The channel in whose topics a message stands in read states, where it moved to another one since. */
export function formerChannelOf({
  readIn,
  channelId,
}: Pick<MessageHead, 'readIn' | 'channelId'>): number | undefined {
  const former = readIn === undefined ? undefined : channelOfConversation(readIn);
  return former === channelId ? undefined : former;
}
