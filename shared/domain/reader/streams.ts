import { isId } from '../../kernel/lookup.ts';
import type { MessageHead } from '../../log/message.ts';
import {
  isMessage,
  loadMessages,
  MAX_MESSAGES_AT_ONCE,
  type MessageScope,
  RangeCache,
  type RangeReader,
  type RangeResult,
  rangeOf,
} from '../../model/message/load.ts';
import { isReceived } from '../../model/message/message.ts';
import { floorOf, isUnread } from '../../model/message/read-state.ts';
import { currentMessages } from '../../model/message/recent.ts';
import type { Reader } from './reader.ts';

/**
 * The message heads of one place in id order, read on demand, and the part of them that the reader has access to or
 * that a search is about: ids greater than `above` and less than `below`.
 */
export interface MessageStream {
  readonly cache: RangeCache;
  readonly above: number;
  readonly below?: number;
}

/** The stream of a channel or conversation. */
export interface PlaceStream extends MessageStream {
  readonly place: MessageScope;
}

export const placeCache = (reader: Reader, place: MessageScope): RangeCache =>
  new RangeCache(currentMessages(reader.table, reader.realm, place, () => reader.recent()));

/** The messages with these ids. They are read when they are first needed. */
export const listedStream = (reader: Reader, ids: readonly number[]): MessageStream => ({
  cache: new RangeCache(allAtOnce(() => readAndKeep(reader, ids))),
  above: 0,
});

/** The same, with all that serializing them needs. Two round trips. */
export const listedWithContext = (reader: Reader, ids: readonly number[]): RangeReader =>
  allAtOnce(async () => {
    const valid = ids.filter(isId);
    const [heads] = await Promise.all([
      readAndKeep(reader, valid),
      ...valid.map((id) => reader.reactions(id)),
      valid.length > 0 && reader.stars(Math.min(...valid), Math.max(...valid)),
    ]);
    await Promise.all(heads.map((head) => reader.loadContext(head)));
    return heads;
  });

function allAtOnce(read: () => Promise<readonly MessageHead[]>): RangeReader {
  let reading: Promise<readonly MessageHead[]> | undefined;
  return async () => {
    reading ??= read();
    return { heads: await reading, until: undefined };
  };
}

async function readAndKeep(reader: Reader, ids: readonly number[]): Promise<readonly MessageHead[]> {
  const messages = await loadMessages(reader.table, reader.realm, ids);
  reader.keep(messages);
  return messages;
}

/**
 * All messages of the organization, with or without access, from the log itself: a consistent read.
 *
 * @param onSlots gets the numbers of all slots that were read, also of those that are no messages
 */
export const inLog =
  (reader: Reader, onSlots: (numbers: readonly number[]) => void): RangeReader =>
  async (reach) => {
    const { items, more } = await reader.table.page('slot', { realm: reader.realm }, rangeOf(reach));
    onSlots(items.map(({ seq }) => seq));
    reader.keepSlots(items);
    return { heads: items.filter(isMessage), until: more ? items.at(-1)?.seq : undefined };
  };

/**
 * The messages that the reader starred, with or without access. A star holds a copy of the message's head, so that the
 * context is read in parallel with the messages. Two round trips.
 */
export function starredBy(reader: Reader): RangeReader {
  const { realm, userId, table } = reader;
  const pages: Promise<unknown>[] = [];
  return async ({ from, to, side, limit }): Promise<RangeResult> => {
    const page = table.page(
      'star',
      { realm, userId },
      {
        from: { messageId: from },
        to: { messageId: to },
        descending: side === 'older',
        limit: Math.min(limit, MAX_MESSAGES_AT_ONCE),
      },
    );
    pages.push(page);
    const { items, more } = await page;
    // Both sides of a window are read at once: wait, so that their messages share the next round trip.
    await Promise.all(pages);
    const until = more ? items.at(-1)?.messageId : undefined;
    const stars = items.filter(({ removed }) => removed !== true);
    const ids = stars.map(({ messageId }) => messageId);
    const [heads] = await Promise.all([
      readAndKeep(reader, ids),
      ...ids.map((id) => reader.reactions(id)),
      ...stars.map(({ head }) => head && reader.loadContext(head)),
    ]);
    // A message that moved since it was starred has another context.
    await Promise.all(heads.map((head) => reader.loadContext(head)));
    return { heads, until };
  };
}

/**
 * The stream without the messages at or below the read floor, which are read for certain. Undefined if nothing can be
 * unread because the reader is not subscribed. Uses the floor of the channel only: messages that moved into a topic
 * are not covered by the floor of the topic.
 */
export async function aboveReadFloor<S extends PlaceStream>(
  reader: Reader,
  stream: S,
): Promise<S | undefined> {
  const { channelId, conversation = '' } = stream.place;
  if (channelId === undefined) {
    const state = await reader.state(conversation);
    return { ...stream, above: floorOf(undefined, state) };
  }
  const subscription = await reader.subscription(channelId);
  return subscription && { ...stream, above: Math.max(stream.above, floorOf(subscription, undefined)) };
}

export async function isUnreadBy(reader: Reader, head: MessageHead): Promise<boolean> {
  const [self, subscription, state] = await Promise.all([
    reader.self(),
    head.channelId === undefined ? undefined : reader.subscription(head.channelId),
    reader.stateFor(head),
  ]);
  return isUnread(head, self, subscription, state);
}

/** Returns the ids of those messages that the reader has not read. */
export const unreadAmong =
  (reader: Reader) =>
  (heads: readonly MessageHead[]): Promise<ReadonlySet<number>> =>
    idsWhere(heads, (head) => isUnreadBy(reader, head));

/** Returns the ids of those messages that the reader has received. */
export async function receivedAmong(
  reader: Reader,
  heads: readonly MessageHead[],
): Promise<ReadonlySet<number>> {
  const channels = [...new Set(heads.flatMap(({ channelId }) => channelId ?? []))];
  const loaded = await Promise.all(channels.map(async (id) => [id, await reader.subscription(id)] as const));
  const subscriptions = new Map(loaded);
  const received = heads.filter((head) =>
    isReceived(reader.userId, head, subscriptions.get(head.channelId ?? 0)),
  );
  return new Set(received.map(({ id }) => id));
}

/** The ids of the messages for which a test holds. */
export async function idsWhere(
  heads: readonly MessageHead[],
  test: (head: MessageHead) => Promise<boolean>,
): Promise<ReadonlySet<number>> {
  const results = await Promise.all(heads.map(test));
  return new Set(heads.filter((_, i) => results[i]).map(({ id }) => id));
}
