import type { EventEntry } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { folded } from '../folding.ts';
import type { Visibility } from './visibility.ts';

/** A user's policy for one topic, as stored. */
export interface UserTopic {
  readonly channelId: number;
  readonly topic: string;
  readonly policy: Visibility;
  /** Seconds since 1970. */
  readonly updated: number;
}

/** Sets somebody's policy for a topic, held to the one that was seen, and tells their clients. */
export function doSetVisibility(
  realm: string,
  userId: number,
  set: UserTopic,
  seen: UserTopic | undefined,
): { readonly writes: readonly Write[]; readonly entries: readonly EventEntry[] } {
  const { channelId, topic } = set;
  return {
    writes: [
      {
        put: key('userTopic', { realm, userId, channelId, topic: folded(topic) }),
        item: { ...set },
        when: seen === undefined ? { absent: true } : { equals: { policy: seen.policy } },
        inOrder: true,
      },
    ],
    entries: [{ kind: 'event', hearers: { users: [userId] }, payload: userTopicEvent(set) }],
  };
}

/** The `user_topic` event (wire facts 14.5). */
export const userTopicEvent = ({ channelId, topic, policy, updated }: UserTopic) => ({
  type: 'user_topic',
  stream_id: channelId,
  topic_name: topic,
  visibility_policy: policy,
  last_updated: updated,
});
