import { folded } from '../../kernel/folding.ts';
import type { EventEntry } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { type Visibility, visibility } from './visibility.ts';

/** A user's policy for one topic, as stored. */
export interface UserTopic {
  readonly channelId: number;
  readonly topic: string;
  readonly policy: Visibility;
  /** Seconds since 1970. */
  readonly updated: number;
  /** The number of the log under which it was changed last. */
  readonly changed?: number;
  /**
   * Where it followed a topic some time after that had moved: the number of the move. It counts as chosen before
   * whatever came after the move.
   */
  readonly asOf?: number;
}

/** The same from the side of the topic, so that the policies can follow it when it moves. */
export interface Holder {
  readonly userId: number;
  readonly policy: Visibility;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    userTopic: UserTopic;
    topicPolicy: Holder;
  }
}

/** A topic of a channel, by its id. */
export interface TopicPlace {
  readonly channelId: number;
  readonly topic: string;
}

/** Sets somebody's policy for a topic, held to the one that was seen, and tells their clients. */
export function doSetVisibility(
  realm: string,
  userId: number,
  set: UserTopic,
  seen: UserTopic | undefined,
): { readonly writes: readonly Write[]; readonly entries: readonly EventEntry[] } {
  const { policy } = set;
  const inverse = holderKey(realm, set, userId);
  return {
    writes: [
      {
        put: userTopicKey(realm, set, userId),
        item: { ...set },
        when: seen === undefined ? { absent: true } : { equals: { policy: seen.policy } },
        lastWriterWins: true,
      },
      policy === visibility.inherit ? { delete: inverse } : { put: inverse, item: { userId, policy } },
    ],
    entries: [{ kind: 'event', hearers: { users: [userId] }, payload: userTopicEvent(set) }],
  };
}

/** The key of somebody's policy, under them. */
export const userTopicKey = (
  realm: string,
  { channelId, topic }: TopicPlace,
  userId: number,
): Key<'userTopic'> => key('userTopic', { realm, userId, channelId, topic: folded(topic) });

/** The key of its inverse, under the topic. */
export const holderKey = (
  realm: string,
  { channelId, topic }: TopicPlace,
  userId: number,
): Key<'topicPolicy'> => key('topicPolicy', { realm, channelId, topic: folded(topic), userId });

/** Everybody who has a policy for the topic. */
export const loadHolders = (
  table: Table,
  realm: string,
  { channelId, topic }: TopicPlace,
): Promise<Holder[]> => table.all('topicPolicy', { realm, channelId, topic: folded(topic) });

/** The `user_topic` event (wire facts 14.5). */
export const userTopicEvent = ({ channelId, topic, policy, updated }: UserTopic) => ({
  type: 'user_topic',
  stream_id: channelId,
  topic_name: topic,
  visibility_policy: policy,
  last_updated: updated,
});
