import type { MessageHead } from '../../log/message.ts';
import type { Subscription } from '../../model/channel/channel.ts';
import type { DirectMembership } from '../../model/message/direct.ts';
import type { MessageScope } from '../../model/message/load.ts';
import { RangeCache } from '../../model/message/load.ts';
import { floorOf, isUnread } from '../../model/message/read-state.ts';
import type { RecentChanges } from '../../model/message/recent.ts';
import { currentMessages } from '../../model/message/recent.ts';
import type { MessageStream } from './gather.ts';
import { amongListed } from './reach.ts';
import type { Reader } from './reader.ts';

/** A lane of one place. */
export interface PlaceLane extends MessageStream {
  readonly place: MessageScope;
}

/** The messages of a place. */
export const stripOf = (
  { table, realm }: Reader,
  place: MessageScope,
  recent: () => Promise<RecentChanges>,
): RangeCache => new RangeCache(currentMessages(table, realm, place, recent));

/** The lane of a channel for somebody who is subscribed: what came to them. */
export const channelLane = (
  reader: Reader,
  { channelId, since }: Subscription,
  recent: () => Promise<RecentChanges>,
): PlaceLane => ({
  place: { channelId },
  strip: stripOf(reader, { channelId }, recent),
  above: since,
});

/** The lane of a direct conversation. */
export const dialogueLane = (
  reader: Reader,
  { conversation, people }: DirectMembership,
  recent: () => Promise<RecentChanges>,
): PlaceLane => {
  const place = { conversation, people };
  return { place, strip: stripOf(reader, place, recent), above: 0 };
};

/** The lane of messages with these ids. */
export const listedLane = (reader: Reader, ids: readonly number[]): MessageStream => ({
  strip: new RangeCache(amongListed(reader, ids)),
  above: 0,
});

/**
 * The lane without what the reader has read for certain: everything up to a floor. Undefined where nothing can be
 * unread, because nothing of the channel comes to them. The floor of a topic does not count here, since messages
 * that moved into it are noted elsewhere; that of its channel holds for all.
 */
export async function aboveFloor<L extends PlaceLane>(reader: Reader, lane: L): Promise<L | undefined> {
  const { channelId, conversation = '' } = lane.place;
  if (channelId === undefined) {
    const state = await reader.state(conversation);
    return { ...lane, above: floorOf(undefined, state) };
  }
  const subscription = await reader.subscription(channelId);
  return subscription && { ...lane, above: Math.max(lane.above, floorOf(subscription, undefined)) };
}

/** What is asked of a reader about what they have read. */
type Facts = Pick<Reader, 'userId' | 'subscription' | 'stateFor'>;

/** Whether a message is unread for the reader. */
export async function isUnreadBy(reader: Facts, head: MessageHead): Promise<boolean> {
  const [subscription, state] = await Promise.all([
    head.channelId === undefined ? undefined : reader.subscription(head.channelId),
    reader.stateFor(head),
  ]);
  return isUnread(head, reader.userId, subscription, state);
}

/** Which messages the reader has not read. */
export const unreadOf =
  (reader: Facts) =>
  async (heads: readonly MessageHead[]): Promise<ReadonlySet<number>> => {
    const unread = await Promise.all(heads.map((head) => isUnreadBy(reader, head)));
    return new Set(heads.filter((_, i) => unread[i]).map(({ id }) => id));
  };
