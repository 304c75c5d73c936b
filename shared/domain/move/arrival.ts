import { folded } from '../../kernel/text.ts';
import { ConflictError } from '../../log/commit.ts';
import type { MessageHead } from '../../log/message.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import type { ChannelTopic } from '../../model/message/user-topic.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

/** What a step of a move adds to a topic. */
export interface Arriving {
  readonly messages: readonly MessageHead[];
  /** The notice that is posted with the move, as the newest message of the topic. `now` is in milliseconds. */
  readonly notice: { readonly id: number; readonly now: number } | undefined;
  /** The job that moves the other messages. */
  readonly moving: string | undefined;
}

const dayOf = (ms: number): number => Math.floor(ms / 86_400_000);

/** If only the case of the topic changes, the messages stay in it. The topic is spelled as in its newest message. */
export function spellingWrites(
  realm: string,
  to: ChannelTopic,
  { messages, notice, moving }: Arriving,
  seen: Topic | undefined,
): Write[] {
  if (seen === undefined) throw new ConflictError([]);
  const { maxId } = seen;
  const isNewest = notice !== undefined || messages.some(({ id }) => id === maxId);
  const set = {
    ...(isNewest && { topic: to.topic }),
    ...(notice && { maxId: notice.id, day: dayOf(notice.now) }),
    ...(moving !== undefined && { moving }),
  };
  if (Object.keys(set).length === 0) return [];
  const change = { set, ...(notice && { add: { arrived: 1 } }) };
  return [{ update: topicKey(realm, to), change, when: { equals: { maxId } } }];
}

/** Most participants that one step adds. */
const MAX_JOINING = 15;

/**
 * Adds the messages and their senders to the target topic. Fails if the topic has changed since it was read. A job adds
 * the other participants (`people.ts`).
 */
export function arrivalWrites(
  realm: string,
  to: ChannelTopic,
  { messages, notice, moving }: Arriving,
  seen: Topic | undefined,
  taking: ReadonlySet<number> | undefined,
): Write[] {
  const senders = [...new Set(messages.map(({ senderId }) => senderId))];
  const joining = taking ? senders.filter((userId) => !taking.has(userId)).slice(0, MAX_JOINING) : [];
  const participants = joining.length;
  const place = { realm, channelId: to.channelId, topic: folded(to.topic) };
  const joined = joining.map(
    (userId): Write => ({
      put: key('participant', { ...place, userId }),
      item: { userId },
      when: { absent: true },
    }),
  );
  const ids = [...messages.map(({ id }) => id), ...(notice ? [notice.id] : [])];
  const maxId = Math.max(...ids);
  // A message was sent at this time: if a later day were stored, the channel would not be marked as active on that day.
  const times = messages.map((message) => ('timestamp' in message ? Number(message.timestamp) : 0));
  const day = dayOf(notice?.now ?? 1000 * Math.max(...times));
  const { topic } = to;
  const mark = moving === undefined ? {} : { moving };
  if (seen === undefined) {
    const item: Topic = { topic, maxId, arrived: ids.length, left: 0, participants, day, ...mark };
    return [{ put: topicKey(realm, to), item: { ...item }, when: { absent: true } }, ...joined];
  }
  const set = { ...(maxId > seen.maxId ? { maxId, topic, day } : { late: maxId }), ...mark };
  const when = { equals: { arrived: seen.arrived, left: seen.left } };
  const add = { arrived: ids.length, ...(participants > 0 && { participants }) };
  return [{ update: topicKey(realm, to), change: { set, add }, when }, ...joined];
}
