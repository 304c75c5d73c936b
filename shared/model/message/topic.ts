import { folded } from '../../kernel/text.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Changes, Condition, Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { areNewer, forgetFirst, holdFirst } from '../channel/first-message.ts';

/** A topic as stored. It exists while it has messages. */
export interface Topic {
  /** In the spelling of the newest message. */
  readonly topic: string;
  readonly maxId: number;
  /**
   * The last message that was added below the newest one: it was sent a moment earlier, or moved here. Removing the
   * newest message considers it too, since the log may have been read before it was added.
   */
  readonly late?: number;
  /** How many messages were ever added, and how many removed. The topic is empty when they are equal. */
  readonly arrived: number;
  readonly left: number;
  /** How many people sent to it or reacted in it. */
  readonly participants: number;
  /** Day of the newest message (days since 1970), so that the channel's `lastActiveDay` is written once a day. */
  readonly day: number;
  /** The outbox job that is moving messages from or to this topic. It means nothing once that job is done. */
  readonly moving?: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    topic: Topic;
  }
}

/** The key of a topic; case does not matter. */
export const topicKey = (
  realm: string,
  { channelId, topic }: { readonly channelId: number; readonly topic: string },
): Key<'topic'> => key('topic', { realm, channelId, topic: folded(topic) });

/** The state of a topic and its channel before a message is added. */
export interface TopicState {
  readonly topic: Topic | undefined;
  /** The sender already takes part. */
  readonly takesPart: boolean;
  readonly count: ChannelCount | undefined;
}

/** A message that is added to a topic. */
export interface Arrival {
  readonly channelId: number;
  readonly topic: string;
  readonly messageId: number;
  /** The first of several messages; `messageId` is then the last one. */
  readonly firstId?: number;
  /** How many messages are added; one if absent. */
  readonly count?: number;
  readonly senderId: number;
  readonly day: number;
  /** A notice of the service, whose sender does not become a participant. */
  readonly isNotice?: true;
}

/** Other changes of the channel's counts in the same transaction, which may write each item only once. */
export interface CountChange {
  readonly set?: Pick<ChannelCount, 'onlyEmptyTopic'>;
  readonly remove?: readonly (keyof ChannelCount)[];
  readonly when?: Condition;
}

/**
 * Updates the topic, its participants and the channel's counts when a message is added. Conditions check that the topic is
 * still new, and the sender still not a participant.
 */
export function doAddToTopic(
  realm: string,
  arrival: Arrival,
  state: TopicState,
  beside?: CountChange,
): Write[] {
  const { channelId, topic, senderId, isNotice } = arrival;
  const participant: Write = {
    put: key('participant', { realm, channelId, topic: folded(topic), userId: senderId }),
    item: { userId: senderId },
    when: { absent: true },
  };
  return [
    topicWrite(realm, arrival, state),
    ...(state.takesPart || isNotice ? [] : [participant]),
    ...channelWrites(realm, arrival, state, beside),
  ];
}

function topicWrite(realm: string, arrival: Arrival, { topic: seen, takesPart }: TopicState): Write {
  const { topic, messageId: id, count: arrived = 1, day, isNotice } = arrival;
  const update = topicKey(realm, arrival);
  if (seen === undefined) {
    const item: Topic = { topic, maxId: id, arrived, left: 0, participants: isNotice ? 0 : 1, day };
    return { put: update, item: { ...item }, when: { absent: true } };
  }
  const joins = !takesPart && isNotice === undefined;
  return arrivalWrite(update, id, { arrived, ...(joins && { participants: 1 }) }, { topic, day });
}

/**
 * Adds a message to a topic or direct conversation that exists. `set` is changed only if it becomes the newest one:
 * messages do not always commit in the order of their ids.
 */
export function arrivalWrite(update: Key, id: number, add: Changes['add'] & {}, set: object = {}): Write {
  const newer: Write = {
    update,
    change: { set: { ...set, maxId: id }, add },
    when: { absent: false, below: { maxId: id } },
  };
  // The newest one may be removed between two attempts. Then this one is the newest.
  const older: Write = {
    update,
    change: { set: { late: id }, add },
    when: { absent: false, above: { maxId: id } },
    fallback: newer,
  };
  return { ...newer, fallback: older };
}

/** Updates the channel's counts, which most messages do not change. */
function channelWrites(
  realm: string,
  arrival: Arrival,
  { topic: seen, count }: TopicState,
  beside?: CountChange,
): Write[] {
  const { channelId, topic, messageId, firstId = messageId, day } = arrival;
  if (seen?.day === day && beside === undefined) return [];
  const isNew = seen === undefined;
  const namesTopic = isNew && topic !== '';
  const isFreed = beside?.remove?.includes('onlyEmptyTopic') === true;
  const counts = {
    realm,
    channelId,
    change: {
      set: { ...beside?.set, lastActiveDay: day },
      ...(beside?.remove && { remove: beside.remove }),
      ...(namesTopic && { add: { namedTopics: 1 } }),
    },
    when: {
      ...beside?.when,
      // The channel may be restricted to its empty topic concurrently (specification 3).
      ...(namesTopic && !isFreed && { equals: { ...beside?.when?.equals, onlyEmptyTopic: undefined } }),
    },
  };
  if (!isNew) {
    const { change, when } = counts;
    return [{ update: key('channelCount', { realm, channelId }), change, when }];
  }
  const forgetting = forgetFirst(counts, messageId);
  if (!areNewer(count, [firstId])) return [forgetting];
  return [{ ...holdFirst(counts, count), fallback: forgetting }];
}
