import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Changes, Condition, Write } from '../../table/write.ts';
import type { ChannelCount } from './channel.ts';

/*
 * The oldest message of a channel is found by a search (`first-messages.ts`). `firstMessageId` is a cache of the result,
 * because every registration needs it for every channel.
 *
 * - A change that may make it wrong invalidates it in its own transaction: removing or moving the cached message, moving
 *   messages into the channel, the first message of a topic. `firstForgotten` is the log number of that transaction.
 * - While it is invalid, every removal, move and new topic updates `firstForgotten`.
 * - Only a registration fills the cache: with what it found up to its cursor, if `firstForgotten` is not after the
 *   cursor and unchanged. So nothing left the channel since, only messages to existing topics came, and the search saw
 *   all of those up to the cursor, because every log number up to it is decided.
 * - A message to an existing topic always has a higher id than the cached one, so a send need not check any of this. A
 *   channel that is cached as empty has no topics.
 */

type Remembered = Pick<ChannelCount, 'firstMessageId' | 'firstForgotten'>;

/** The cached oldest message of a channel: null if there is none, undefined if the cache is invalid. */
export const rememberedFirst = (count: Remembered | undefined): number | null | undefined =>
  count?.firstForgotten === undefined ? (count?.firstMessageId ?? null) : undefined;

/** Whether these messages are certainly newer than the oldest one of the channel. */
export function areNewer(count: Remembered | undefined, ids: readonly number[]): boolean {
  const first = rememberedFirst(count);
  return first !== undefined && first !== null && first < Math.min(...ids);
}

/** A change of a channel's counters, except its oldest message. */
export interface CountsChange {
  readonly realm: string;
  readonly channelId: number;
  readonly change: Changes;
  readonly when?: Condition;
}

/** Changes the counters, and fails if the cached oldest message is no longer `seen`. A check if nothing changes. */
export function holdFirst(
  { realm, channelId, change, when }: CountsChange,
  seen: Remembered | undefined,
): Write {
  const at = key('channelCount', { realm, channelId });
  const held = { ...when, equals: { ...when?.equals, firstMessageId: seen?.firstMessageId } };
  return Object.keys(change).length === 0 ? { check: at, when: held } : { update: at, change, when: held };
}

/** Changes the counters and invalidates the oldest message. `number` is the log number of the transaction. */
export function forgetFirst({ realm, channelId, change, when }: CountsChange, number: number): Write {
  const at = key('channelCount', { realm, channelId });
  // A later transaction invalidated it already. The cache is not filled before that one, and so this one, is in the log.
  const laterNoted = { ...when, above: { ...when?.above, firstForgotten: number } };
  return {
    update: at,
    change: {
      ...change,
      set: { ...change.set, firstForgotten: number },
      remove: [...(change.remove ?? []), 'firstMessageId'],
    },
    when: { ...when, below: { ...when?.below, firstForgotten: number } },
    fallback:
      Object.keys(change).length === 0
        ? { check: at, when: laterNoted }
        : { update: at, change, when: laterNoted },
  };
}

/** The change of a channel's counters when messages come or leave. */
export interface TopicsChange {
  readonly channelId: number;
  /** How many named topics are added (or removed, if negative). */
  readonly namedTopics: number;
  /** A new named topic begins. Then the channel must not be restricted to its empty topic (specification 3). */
  readonly begins?: boolean;
}

export const freeFor = (begins: boolean): Condition =>
  begins ? { equals: { onlyEmptyTopic: undefined } } : {};

/**
 * Changes the counters of a channel to which these messages come, or which they leave, and forgets its oldest message if
 * that may be one of them.
 *
 * @param number the log number of the transaction
 */
export function doCountTopics(
  realm: string,
  { channelId, namedTopics, begins = false }: TopicsChange,
  ids: readonly number[],
  seen: Remembered | undefined,
  number: number,
): Write {
  const change = namedTopics === 0 ? {} : { add: { namedTopics } };
  const counts = { realm, channelId, change, when: freeFor(begins) };
  return areNewer(seen, ids) ? holdFirst(counts, seen) : forgetFirst(counts, number);
}

export const FIRST_MESSAGE = 'first_message_id';

/**
 * The oldest message of a channel may have changed. The search runs when the event is delivered. The stored null is for
 * functions of an older release. Clients notice the first message of a channel themselves.
 */
export const firstMessageEvent = (channelId: number): EventEntry => ({
  kind: 'event',
  hearers: { channel: channelId },
  payload: { type: 'stream', op: 'update', stream_id: channelId, property: FIRST_MESSAGE, value: null },
  fill: 'name',
});
