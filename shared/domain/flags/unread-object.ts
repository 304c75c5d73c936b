import type { MessageHead } from '../../log/message.ts';
import { isMentioned } from '../../model/message/message.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import type { Unread, UnreadMessage } from './unread.ts';

/** Which unread messages to return, and how. */
export interface UnreadTelling {
  /** Messages up to this number only: the client gets later ones as events. */
  readonly upTo: number;
  /** Without messages of these channels. */
  readonly hidden?: ReadonlySet<number>;
  /** The client supports the empty topic name. */
  readonly emptyTopicName: boolean;
}

/** `unread_msgs` of `POST /register`. Ids are in rising order. */
export function unreadObject(
  unread: Unread,
  reader: Standing,
  { upTo, hidden, emptyTopicName }: UnreadTelling,
) {
  const messages = unread.messages
    .filter(({ id, channelId }) => id <= upTo && !(channelId !== undefined && hidden?.has(channelId)))
    .sort((a, b) => a.id - b.id);
  const directs = grouped(messages.filter(({ channelId }) => channelId === undefined));
  const topics = grouped(messages.filter(({ channelId }) => channelId !== undefined));
  return {
    count: messages.filter(({ isMuted }) => !isMuted).length,
    pms: directs.filter(isPair).map((group) => ({
      other_user_id: otherOf(group.newest, reader.userId),
      sender_id: otherOf(group.newest, reader.userId),
      unread_message_ids: group.ids,
    })),
    streams: topics.map(({ newest: { channelId = 0, topic = '' }, ids }) => ({
      stream_id: channelId,
      topic: topic === '' && !emptyTopicName ? EMPTY_TOPIC_NAME : topic,
      unread_message_ids: ids,
    })),
    huddles: directs
      .filter((group) => !isPair(group))
      .map(({ newest, ids }) => ({
        user_ids_string: (newest.people ?? []).join(','),
        unread_message_ids: ids,
      })),
    mentions: messages.filter((message) => addresses(message, reader)).map(({ id }) => id),
    old_unreads_missing: unread.missing,
  };
}

/** Unread messages of one conversation. */
interface Group {
  readonly newest: MessageHead;
  readonly ids: readonly number[];
}

function grouped(messages: readonly UnreadMessage[]): Group[] {
  const groups = Map.groupBy(messages, ({ conversation }) => conversation);
  return [...groups.values()].flatMap((group) => {
    const newest = group.at(-1);
    return newest ? [{ newest, ids: group.map(({ id }) => id) }] : [];
  });
}

/** Whether a direct conversation has two people, or only the reader. */
const isPair = ({ newest }: Group): boolean => (newest.people ?? []).length <= 2;

const otherOf = ({ people = [] }: MessageHead, userId: number): number =>
  people.find((id) => id !== userId) ?? userId;

/** Whether the message mentions the reader. Wildcards do not count in a muted topic. */
const addresses = (message: UnreadMessage, reader: Standing): boolean => {
  const { mentions, isMuted, takesPart } = message;
  const byWildcard = mentions?.channel === true || (mentions?.topic === true && takesPart);
  return isMentioned(message, reader) || (byWildcard && !isMuted);
};
