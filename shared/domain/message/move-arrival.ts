import { Stale } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { folded } from '../folding.ts';
import { type Topic, topicKey } from '../topic/topic.ts';
import { isWhole, MOST_JOINING, sendersOf } from './move-people.ts';
import type { Move, StepGround } from './move-step.ts';

/** A notice that arrives with the messages, as the newest message of the target. */
export interface NoticeArrival {
  readonly id: number;
  /** Milliseconds. */
  readonly now: number;
}

/** What comes to a topic in one step of a move. */
export interface Arriving {
  readonly messages: readonly MessageHead[];
  readonly notice: NoticeArrival | undefined;
  /** The job of the outbox in which others follow. */
  readonly moving: string | undefined;
}

const mark = (moving: string | undefined): { readonly moving?: string } =>
  moving === undefined ? {} : { moving };

/** Where only the spelling changes, the messages stay in their topic, which is spelled as its newest message. */
export function spellingWrites(
  update: Key,
  topic: string,
  { messages, notice, moving }: Arriving,
  { topic: seen }: StepGround,
): Write[] {
  if (seen === undefined) throw new Stale([]);
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

/** What changes of the counts of a channel in which messages arrive, or topics vanish. */
export interface CountsChange {
  readonly channelId: number;
  /** How many named topics there are more, or fewer. */
  readonly namedTopics: number;
  /** The target topic begins with these messages. */
  readonly begins: boolean;
  /** The oldest message of the channel, where it becomes another one. */
  readonly first?: number | undefined;
  /** The message with which the target topic begins or becomes older (`ChannelCount.opened`). */
  readonly opened?: number | undefined;
}

/** Changes them; `seen` is the oldest message of the channel as it was read. */
export function countsWrites(
  realm: string,
  { channelId, namedTopics, begins, first, opened }: CountsChange,
  seen: number | undefined,
): Write[] {
  const at = key('channelCount', { realm, channelId });
  // The channel may be restricted to its empty topic at this very moment (specification 3).
  const free = begins ? { equals: { onlyEmptyTopic: undefined } } : {};
  const add = namedTopics === 0 ? {} : { add: { namedTopics } };
  if (first !== undefined) {
    const set = { set: { firstMessageId: first, ...(opened !== undefined && { opened }) } };
    return [{ update: at, change: { ...set, ...add }, when: { ...free, above: { firstMessageId: first } } }];
  }
  if (opened !== undefined) {
    const held = { equals: { ...free.equals, firstMessageId: seen } };
    return [{ update: at, change: { set: { opened }, ...add }, when: held }];
  }
  if (namedTopics !== 0) return [{ update: at, change: add, when: free }];
  return begins ? [{ check: at, when: free }] : [];
}

/** The target topic with the messages that arrive in it, held to how it was seen. */
export function arrivalWrites(
  realm: string,
  { channelId, topic }: Move['to'],
  { messages, notice, moving }: Arriving,
  { topic: seen, taking }: StepGround,
): Write[] {
  const place = { realm, channelId, topic: folded(topic) };
  const ids = [...messages.map(({ id }) => id), ...(notice ? [notice.id] : [])];
  const [minId, maxId] = [Math.min(...ids), Math.max(...ids)];
  // Some message was sent at this time: were a later day stored, the channel would miss that it is alive then.
  const sent =
    notice?.now ?? 1000 * Math.max(0, ...messages.filter(isWhole).map(({ timestamp }) => timestamp));
  const day = Math.floor(sent / 86_400_000);
  const joining = sendersOf(messages)
    .slice(0, MOST_JOINING)
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
      minId,
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
    ...(minId < seen.minId && { minId }),
    ...(maxId > seen.maxId && { maxId, topic, day }),
    ...mark(moving),
  };
  const add = { arrived: ids.length, ...(joining.length > 0 && { participants: joining.length }) };
  const when = { equals: { arrived: seen.arrived, left: seen.left } };
  return [{ update: topicKey(realm, { channelId, topic }), change: { set, add }, when }, ...joined];
}
