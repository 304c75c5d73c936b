import { folded } from '../../kernel/folding.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Changes, Condition, Write } from '../../table/write.ts';
import type { ChannelCount } from '../channel/channel.ts';
import { areNewer, forgetFirst, holdFirst } from '../channel/first-message.ts';

/** A topic of a channel, as stored: it exists while it has messages. */
export interface Topic {
  /** As the newest message spells it. */
  readonly topic: string;
  readonly maxId: number;
  /**
   * The message that came last below the newest one: it was sent a moment before that, or moved here. Whoever takes the
   * newest away looks at it as well, since they may have read the log before it came.
   */
  readonly late?: number;
  /** How many messages ever arrived in it, and how many left it: together they tell whether one is left. */
  readonly arrived: number;
  readonly left: number;
  /** How many people sent to it or reacted in it. */
  readonly participants: number;
  /** Day of the newest message (days since 1970), so that the channel's own day is written once a day. */
  readonly day: number;
  /**
   * The job of the outbox by which messages are on their way from here or to here. Once that job is done or given up
   * the mark means nothing.
   */
  readonly moving?: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    topic: Topic;
  }
}

/** Where a topic is stored, whatever the case of its spelling. */
export const topicKey = (
  realm: string,
  { channelId, topic }: { readonly channelId: number; readonly topic: string },
): Key<'topic'> => key('topic', { realm, channelId, topic: folded(topic) });

/** What of a topic and its channel matters to a message that arrives there. */
export interface TopicState {
  readonly topic: Topic | undefined;
  /** The sender already takes part. */
  readonly takesPart: boolean;
  readonly count: ChannelCount | undefined;
}

/** A message that arrives in a topic. */
export interface Arrival {
  readonly channelId: number;
  readonly topic: string;
  readonly messageId: number;
  /** The first of several messages that arrive together; `messageId` is the last one then. */
  readonly firstId?: number;
  /** How many messages arrive; one if absent. */
  readonly count?: number;
  readonly senderId: number;
  readonly day: number;
  /** It is a notice of the service, whose sender is nobody that takes part. */
  readonly isNotice?: true;
}

/** What the same transaction changes of the channel's counts besides: a transaction has one write an item. */
export interface CountChange {
  readonly set?: Pick<ChannelCount, 'onlyEmptyTopic'>;
  readonly remove?: readonly (keyof ChannelCount)[];
  readonly when?: Condition;
}

/**
 * Keeps the topic, its participants and the channel's counts right when a message arrives. The decision that the
 * topic is new, or that the sender takes part already, is held by conditions.
 *
 * Messages do not always commit in the order of their ids, so the newest id is compared in the store, never just set.
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
    const item: Topic = {
      topic,
      maxId: id,
      arrived,
      left: 0,
      participants: isNotice ? 0 : 1,
      day,
    };
    return { put: update, item: { ...item }, when: { absent: true } };
  }
  const joins = !takesPart && isNotice === undefined;
  const joined: Changes = { add: { arrived, ...(joins && { participants: 1 }) } };
  const newer: Write = {
    update,
    change: { set: { topic, maxId: id, day }, ...joined },
    when: { absent: false, below: { maxId: id } },
  };
  // The newest one may leave between two tries, and this one is the newest then.
  const older: Write = {
    update,
    change: { set: { late: id }, ...joined },
    when: { absent: false, above: { maxId: id } },
    fallback: newer,
  };
  return { ...newer, fallback: older };
}

/** The channel's counts, which most messages leave as they are. */
function channelWrites(
  realm: string,
  arrival: Arrival,
  { topic: seen, count }: TopicState,
  beside?: CountChange,
): Write[] {
  const { channelId, topic, messageId, firstId = messageId, day } = arrival;
  if (seen?.day === day && beside === undefined) return [];
  const begins = seen === undefined;
  const namesTopic = begins && topic !== '';
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
      // The channel may be restricted to its empty topic at this very moment (specification 3).
      ...(namesTopic && !isFreed && { equals: { ...beside?.when?.equals, onlyEmptyTopic: undefined } }),
    },
  };
  if (!begins) {
    const { change, when } = counts;
    return [{ update: key('channelCount', { realm, channelId }), change, when }];
  }
  const forgetting = forgetFirst(counts, messageId);
  if (!areNewer(count, [firstId])) return [forgetting];
  return [{ ...holdFirst(counts, count), fallback: forgetting }];
}
