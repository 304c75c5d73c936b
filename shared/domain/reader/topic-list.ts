import { type ChannelWithSubscription, mayReadMessage } from '../../model/channel/access.ts';
import type { Topic } from '../../model/message/topic.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { EMPTY_TOPIC_NAME } from '../../model/realm/realm.ts';
import type { Table } from '../../table/table.ts';

/** All topics of a channel, in no useful order. One round trip. */
export const loadTopics = (table: Table, realm: string, channelId: number): Promise<Topic[]> =>
  table.all('topic', { realm, channelId });

/**
 * The topics with messages that the caller can read, the one with the newest message first. If the history is
 * protected, these are the topics with a message since the caller subscribed.
 */
export const listTopics = (
  who: Standing,
  seen: ChannelWithSubscription,
  topics: readonly Topic[],
  allowEmptyName: boolean,
): { readonly name: string; readonly max_id: number }[] =>
  topics
    .filter(({ maxId }) => mayReadMessage(who, seen, maxId))
    .sort((a, b) => b.maxId - a.maxId)
    .map(({ topic, maxId }) => ({
      name: topic === '' && !allowEmptyName ? EMPTY_TOPIC_NAME : topic,
      max_id: maxId,
    }));
