import { accessContent, type ChannelWithSubscription } from '../channel/access.ts';
import type { Standing } from '../permission/permission.ts';
import type { UserTopic } from './user-topic.ts';
import { type Visibility, visibility } from './visibility.ts';

/**
 * Lets someone set their policy for a topic of a channel that they can read, whether the topic exists or not. A
 * policy of one's own can also be taken back where the channel cannot be read any more; in every other case a
 * channel out of sight is refused as one that does not exist.
 */
export function accessUserTopic(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
  stored: UserTopic | undefined,
  policy: Visibility,
): void {
  const hasPolicy = stored !== undefined && stored.policy !== visibility.inherit;
  if (policy === visibility.inherit && hasPolicy) return;
  accessContent(who, seen);
}
