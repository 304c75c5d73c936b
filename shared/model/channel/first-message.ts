import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Changes, Condition, Write } from '../../table/write.ts';
import type { ChannelCount } from './channel.ts';

/*
 * The oldest message of a channel is found by looking for it (`first-messages.ts`); `firstMessageId` only remembers
 * what was found, because every registration tells it of every channel.
 *
 * - Whatever may make it wrong forgets it in its own transaction: a removal or move of the remembered message, a move
 *   into the channel, and the first message of a topic. The number of that transaction is noted (`firstForgotten`).
 * - While it is forgotten, every removal, move and new topic notes its number as well.
 * - Only a registration remembers it: what it found up to its cursor, if the number that is noted is not behind that
 *   cursor and still the same. So nothing left the channel since, nothing came but messages to topics that were there,
 *   and of those all up to the cursor were seen, since every number up to it is decided.
 * - A message to a topic that is there then has a higher number than the one that is remembered, whenever it commits,
 *   so a send need not look at any of this. In a channel that is remembered to be empty there is no such topic.
 */

type Remembered = Pick<ChannelCount, 'firstMessageId' | 'firstForgotten'>;

/** The oldest message of a channel as it is remembered: null where there is none, undefined where it is forgotten. */
export const rememberedFirst = (count: Remembered | undefined): number | null | undefined =>
  count?.firstForgotten === undefined ? (count?.firstMessageId ?? null) : undefined;

/** Whether these messages of a channel, or some that come to it, are certainly newer than its oldest one. */
export function areNewer(count: Remembered | undefined, ids: readonly number[]): boolean {
  const first = rememberedFirst(count);
  return first !== undefined && first !== null && first < Math.min(...ids);
}

/** A change of a channel's counts, apart from its oldest message. */
export interface CountsChange {
  readonly realm: string;
  readonly channelId: number;
  readonly change: Changes;
  readonly when?: Condition;
}

/** Changes the counts if the oldest message is still the one that was seen; with nothing to change that is checked. */
export function holdFirst(
  { realm, channelId, change, when }: CountsChange,
  seen: Remembered | undefined,
): Write {
  const at = key('channelCount', { realm, channelId });
  const held = { ...when, equals: { ...when?.equals, firstMessageId: seen?.firstMessageId } };
  return Object.keys(change).length === 0 ? { check: at, when: held } : { update: at, change, when: held };
}

/**
 * Changes the counts and forgets the oldest message.
 *
 * @param number of the log, of the transaction that does it
 */
export function forgetFirst({ realm, channelId, change, when }: CountsChange, number: number): Write {
  const at = key('channelCount', { realm, channelId });
  // A later transaction has forgotten it: nobody remembers it before that one, and so this one, is in the log.
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

/** The property of a channel that tells its oldest message. */
export const FIRST_MESSAGE = 'first_message_id';

/**
 * Tells that another message may be the oldest of a channel now, or that there is none. It is looked for when the event
 * is told; the stored value is for functions of an older release. Clients find out by themselves where the first message
 * is sent.
 */
export const firstMessageEvent = (channelId: number): EventEntry => ({
  kind: 'event',
  hearers: { channel: channelId },
  payload: { type: 'stream', op: 'update', stream_id: channelId, property: FIRST_MESSAGE, value: null },
  fill: 'name',
});
