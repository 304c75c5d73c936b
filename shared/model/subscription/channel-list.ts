import { hasContentAccess, hasMetadataAccess } from '../channel/access.ts';
import type { Channel, Subscription } from '../channel/channel.ts';
import { isGuest } from '../permission/permission.ts';
import type { Caller } from '../user/caller.ts';
import { byName, type CountedChannel } from './object.ts';

/** Which channels a listing is about, as `GET /streams` has it. What is absent takes its default. */
export interface ChannelFilter {
  readonly include_public?: boolean;
  readonly include_web_public?: boolean;
  readonly include_subscribed?: boolean;
  readonly exclude_archived?: boolean;
  readonly include_all?: boolean;
  readonly include_owner_subscribed?: boolean;
  readonly include_can_access_content?: boolean;
}

const idsOf = (subscriptions: readonly Subscription[]): ReadonlyMap<number, Subscription> =>
  new Map(subscriptions.map((subscription) => [subscription.channelId, subscription]));

/**
 * The channels that a listing shows, in the order of their names. Each kind that is asked for adds to the list;
 * whatever is asked for, nothing is shown that the caller may not know of, except to a bot what its owner is in.
 */
export function selectChannels(
  { standing }: Caller,
  filter: ChannelFilter,
  channels: readonly CountedChannel[],
  own: readonly Subscription[],
  owners: readonly Subscription[],
): CountedChannel[] {
  const ownById = idsOf(own);
  const ownersById = idsOf(owners);
  const isShown = (channel: Channel): boolean => {
    if (channel.isArchived && (filter.exclude_archived ?? true)) return false;
    const seen = { channel, subscription: ownById.get(channel.channelId) };
    if (filter.include_all) return hasMetadataAccess(standing, seen);
    return (
      (filter.include_can_access_content && hasContentAccess(standing, seen)) ||
      ((filter.include_subscribed ?? true) && seen.subscription !== undefined) ||
      ((filter.include_public ?? true) && !channel.isPrivate && !isGuest(standing)) ||
      (filter.include_web_public && channel.isWebPublic && !channel.isArchived) ||
      (filter.include_owner_subscribed && ownersById.has(channel.channelId)) ||
      false
    );
  };
  return byName(channels.filter(({ channel }) => isShown(channel)));
}
