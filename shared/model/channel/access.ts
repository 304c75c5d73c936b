import { refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { ChannelVisibility } from '../../log/slot.ts';
import type { Table } from '../../table/table.ts';
import {
  holds,
  holdsUnlessGuest,
  isAdministrator,
  isGuest,
  type Standing,
} from '../permission/permission.ts';
import type { Channel, Subscription } from './channel.ts';

/** A channel with what one person has to do with it. */
export interface ChannelWithSubscription {
  readonly channel: Channel;
  readonly subscription: Subscription | undefined;
}

/** The same, as far as it decides who may know of the channel and read it. */
export interface Visible {
  readonly channel: ChannelVisibility;
  readonly subscription: Subscription | undefined;
}

/** Reads a channel and one person's subscription to it; undefined when there is no such channel. */
export async function loadChannel(
  table: Table,
  realm: string,
  channelId: number,
  userId: number,
): Promise<ChannelWithSubscription | undefined> {
  if (!isId(channelId)) return undefined;
  const [channel, subscription] = await Promise.all([
    table.get('channel', { realm, channelId }),
    table.get('subscription', { realm, userId, channelId }),
  ]);
  return channel && { channel, subscription };
}

/**
 * Whether someone may know that the channel exists and how it is set up (wire facts 4.1). Administrators may,
 * without being able to read it.
 */
export const hasMetadataAccess = (who: Standing, { channel, subscription }: Visible): boolean =>
  hasContentAccess(who, { channel, subscription }) ||
  isAdministrator(who) ||
  holdsUnlessGuest(who, channel.groups.can_administer_channel_group);

/** Whether someone may read the channel. A role alone never opens a private one (wire facts 4.1). */
export const hasContentAccess = (who: Standing, { channel, subscription }: Visible): boolean =>
  channel.isWebPublic ||
  subscription !== undefined ||
  (!isGuest(who) &&
    (!channel.isPrivate ||
      holds(who, channel.groups.can_subscribe_group) ||
      holds(who, channel.groups.can_add_subscribers_group)));

/**
 * Whether someone may read this message of a channel. Protected history begins with the subscription; those who
 * are not subscribed have no history then.
 */
export const mayReadMessage = (who: Standing, seen: ChannelWithSubscription, messageId: number): boolean =>
  hasContentAccess(who, seen) &&
  (seen.channel.historyPublicToSubscribers ||
    (seen.subscription !== undefined && messageId > seen.subscription.since));

/** Whether someone administers the channel: organization administrators and members of its group. */
export const administersChannel = (who: Standing, channel: Channel): boolean =>
  isAdministrator(who) || holdsUnlessGuest(who, channel.groups.can_administer_channel_group);

/**
 * The channel, for someone who may know of it; everything else is one and the same refusal, so that it never
 * tells whether a hidden channel exists.
 */
export function accessMetadata(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
): ChannelWithSubscription {
  if (seen === undefined || !hasMetadataAccess(who, seen)) throw refusal('invalidChannelId');
  return seen;
}

/** The same for someone who may read the channel. */
export function accessContent(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
): ChannelWithSubscription {
  if (seen === undefined || !hasContentAccess(who, seen)) throw refusal('invalidChannelId');
  return seen;
}
