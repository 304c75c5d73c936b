import type { MessageHead } from '../../log/message.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import type { Standing } from '../permission/permission.ts';

/** What is known of a person who wants to read. `domain/reader` reads it when it is asked for. */
interface Facts {
  readonly userId: number;
  subscription(channelId: number): Promise<Subscription | undefined>;
  seen(channelId: number): Promise<ChannelWithSubscription | undefined>;
}

/**
 * Whether a message came to the reader: it is a direct one between them and others, or one of a channel that they
 * have been subscribed to since before it.
 */
export async function cameTo(reader: Facts, { id, channelId, people }: MessageHead): Promise<boolean> {
  if (channelId === undefined) return people?.includes(reader.userId) === true;
  const subscription = await reader.subscription(channelId);
  return subscription !== undefined && id > subscription.since;
}

/**
 * Whether the reader may read a message, as things are now: what came to them, and the history of channels that
 * they can read. Who administers the organization may read no more than others.
 */
export async function mayRead(reader: Facts, standing: Standing, head: MessageHead): Promise<boolean> {
  if (await cameTo(reader, head)) return true;
  const seen = head.channelId === undefined ? undefined : await reader.seen(head.channelId);
  return seen !== undefined && mayReadMessage(standing, seen, head.id);
}
