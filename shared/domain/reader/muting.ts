import type { MessageHead } from '../../log/message.ts';
import { visibility } from '../../model/message/user-topic.ts';
import type { Reader } from './reader.ts';

/**
 * Whether a message is muted for the reader: its topic is, or its channel is and the topic is neither unmuted nor followed
 * (companion facts 1.14). Needs the reader's policies and their subscription to its channel.
 *
 * @param named a channel whose own muting does not count
 */
export async function isMuted(
  reader: Reader,
  { channelId, conversation }: Pick<MessageHead, 'channelId' | 'conversation'>,
  named?: number,
): Promise<boolean> {
  if (channelId === undefined) return false;
  const policy = (await reader.policies()).get(conversation) ?? visibility.inherit;
  if (policy !== visibility.inherit) return policy === visibility.muted;
  return channelId !== named && (await isChannelMuted(reader, channelId));
}

export const isChannelMuted = async (reader: Reader, channelId: number): Promise<boolean> =>
  (await reader.subscription(channelId))?.isMuted === true;
