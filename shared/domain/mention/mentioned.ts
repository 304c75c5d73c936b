import { folded } from '../../kernel/folding.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { UserTopic } from '../../model/message/user-topic.ts';
import { visibility } from '../../model/message/visibility.ts';
import { settingsOf } from '../../model/user/settings.ts';
import type { User } from '../../model/user/user.ts';

/** What must be known of somebody who may be mentioned, to let them follow the topic. */
export interface Mentionable {
  readonly userId: number;
  /** They want to follow topics in which they are mentioned. */
  readonly follows: boolean;
  /** Their own policy for the topic. */
  readonly seen: UserTopic | undefined;
  readonly isSubscribed: boolean;
}

/** Reads what decides whether people who are mentioned start to follow the topic. */
export const loadMentionable = (
  { table }: Outside,
  realm: string,
  channelId: number,
  topic: string,
  userIds: readonly number[],
): Promise<Mentionable[]> =>
  Promise.all(
    userIds.map(async (userId) => {
      const [settings, seen, subscription] = await Promise.all([
        table.get('settings', { realm, userId }),
        table.get('userTopic', { realm, userId, channelId, topic: folded(topic) }),
        table.get('subscription', { realm, userId, channelId }),
      ]);
      const follows = settingsOf(settings).automatically_follow_topics_where_mentioned;
      return { userId, follows, seen, isSubscribed: subscription !== undefined };
    }),
  );

/** Most people whom one message makes follow its topic: each takes two writes of its one transaction. */
const MAX_FOLLOWING = 40;

/**
 * People who are mentioned by name begin to follow the topic, if they want that and have neither muted nor followed
 * it (wire facts 3.10). Bots follow nothing.
 */
export const followersOf = (
  mentionable: readonly Mentionable[],
  mentioned: readonly number[],
  users: ReadonlyMap<number, User>,
): Mentionable[] =>
  mentionable
    .filter(
      ({ userId, follows, seen, isSubscribed }) =>
        follows &&
        isSubscribed &&
        mentioned.includes(userId) &&
        users.get(userId)?.isBot === false &&
        seen?.policy !== visibility.muted &&
        seen?.policy !== visibility.followed,
    )
    .slice(0, MAX_FOLLOWING);
