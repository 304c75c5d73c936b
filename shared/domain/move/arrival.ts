import { folded } from '../../kernel/folding.ts';
import { ConflictError } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import type { ChannelCount } from '../../model/channel/channel.ts';
import { areNewer, forgetFirst, holdFirst } from '../../model/channel/first-message.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Condition, Write } from '../../table/write.ts';
import type { Move, StepSnapshot } from './move.ts';
import { isWhole, MAX_JOINING, sendersOf } from './senders.ts';

/** The notice that is posted with the move, as the newest message of the target. */
export interface NoticeArrival {
  readonly id: number;
  /** Milliseconds. */
  readonly now: number;
}

/** What one step of a move adds to a topic. */
export interface Arriving {
  readonly messages: readonly MessageHead[];
  readonly notice: NoticeArrival | undefined;
  /** The job that moves the other messages. */
  readonly moving: string | undefined;
}

const mark = (moving: string | undefined): { readonly moving?: string } =>
  moving === undefined ? {} : { moving };

/** If only the case of the topic changes, the messages stay in it. The topic is spelled as in its newest message. */
export function spellingWrites(
  update: Key,
  topic: string,
  { messages, notice, moving }: Arriving,
  { topic: seen }: StepSnapshot,
): Write[] {
  if (seen === undefined) throw new ConflictError([]);
  const isNewest = messages.some(({ id }) => id === seen.maxId);
  if (!notice) {
    const when = { equals: { maxId: seen.maxId } };
    const set = { ...(isNewest && { topic }), ...mark(moving) };
    return Object.keys(set).length > 0 ? [{ update, change: { set }, when }] : [];
  }
  const when = { equals: { arrived: seen.arrived, left: seen.left } };
  const set = { topic, maxId: notice.id, day: Math.floor(notice.now / 86_400_000) };
  return [{ update, change: { set, add: { arrived: 1 } }, when }];
}

/** The change of a channel's counts when messages arrive or topics vanish. */
export interface Arrivals {
  readonly channelId: number;
  /** How many named topics are added (or removed, if negative). */
  readonly namedTopics: number;
  /** These messages start a new named topic. */
  readonly begins: boolean;
}

/** Fails if the channel is concurrently restricted to its empty topic (specification 3). */
const freeFor = (begins: boolean): Condition => (begins ? { equals: { onlyEmptyTopic: undefined } } : {});

/** Changes the counts for a move within one channel. Its oldest message stays the same. */
export function countsWrites(realm: string, { channelId, namedTopics, begins }: Arrivals): Write[] {
  const at = key('channelCount', { realm, channelId });
  const when = freeFor(begins);
  if (namedTopics !== 0) return [{ update: at, change: { add: { namedTopics } }, when }];
  return begins ? [{ check: at, when }] : [];
}

/**
 * Changes the counts of a channel that messages move to, and forgets its oldest message if one of them may be older.
 *
 * @param number the log number of the transaction
 */
export function doComeToChannel(
  realm: string,
  { channelId, namedTopics, begins }: Arrivals,
  ids: readonly number[],
  count: ChannelCount | undefined,
  number: number,
): Write {
  const change = namedTopics === 0 ? {} : { add: { namedTopics } };
  const counts = { realm, channelId, change, when: freeFor(begins) };
  return areNewer(count, ids) ? holdFirst(counts, count) : forgetFirst(counts, number);
}

/** Adds the messages to the target topic. Fails if the topic has changed since it was read. */
export function arrivalWrites(
  realm: string,
  { channelId, topic }: Move['to'],
  { messages, notice, moving }: Arriving,
  { topic: seen, taking }: StepSnapshot,
): Write[] {
  const place = { realm, channelId, topic: folded(topic) };
  const ids = [...messages.map(({ id }) => id), ...(notice ? [notice.id] : [])];
  const maxId = Math.max(...ids);
  // Some message was sent at this time: were a later day stored, the channel would miss that it is alive then.
  const sent =
    notice?.now ?? 1000 * Math.max(0, ...messages.filter(isWhole).map(({ timestamp }) => timestamp));
  const day = Math.floor(sent / 86_400_000);
  const joining = sendersOf(messages)
    .slice(0, MAX_JOINING)
    .filter((userId) => !taking.has(userId));
  const joined = joining.map(
    (userId): Write => ({
      put: key('participant', { ...place, userId }),
      item: { userId },
      when: { absent: true },
    }),
  );
  if (seen === undefined) {
    const item: Topic = {
      topic,
      maxId,
      arrived: ids.length,
      left: 0,
      participants: joining.length,
      day,
      ...mark(moving),
    };
    return [
      { put: topicKey(realm, { channelId, topic }), item: { ...item }, when: { absent: true } },
      ...joined,
    ];
  }
  const set = {
    ...(maxId > seen.maxId ? { maxId, topic, day } : { late: maxId }),
    ...mark(moving),
  };
  const add = { arrived: ids.length, ...(joining.length > 0 && { participants: joining.length }) };
  const when = { equals: { arrived: seen.arrived, left: seen.left } };
  return [{ update: topicKey(realm, { channelId, topic }), change: { set, add }, when }, ...joined];
}
