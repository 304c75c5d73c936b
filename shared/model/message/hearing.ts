import type { Audience } from '../../log/slot.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../channel/access.ts';
import type { Standing } from '../permission/permission.ts';

type OfMessage = Extract<Audience, { readonly message: number; readonly channel: number }>;

/** The channels that decide who hears of something. */
export function channelsOf(hearers: Audience): number[] {
  if (!('channel' in hearers)) return [];
  if ('movedTo' in hearers) return [hearers.channel, hearers.movedTo];
  if ('goneTo' in hearers) return [hearers.channel, hearers.goneTo];
  return [hearers.channel];
}

/**
 * Whether a listener hears what happens to a message of a channel: who is subscribed, and may read it. When it
 * leaves for another channel, those hear of that who may read it there; the others only that it is gone.
 */
export function hearsOfMessage(
  who: Standing,
  hearers: OfMessage,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
  seq: number,
): boolean {
  const seen = channels.get(hearers.channel);
  const mayReadIn = (channelId: number): boolean => {
    const place = channels.get(channelId);
    return place !== undefined && mayReadMessage(who, place, hearers.message);
  };
  if ('movedTo' in hearers) {
    return (
      (isSubscribedBefore(seen, seq) || isSubscribedBefore(channels.get(hearers.movedTo), seq)) &&
      mayReadIn(hearers.movedTo)
    );
  }
  const hears =
    isSubscribedBefore(seen, seq) &&
    (seen?.channel.historyPublicToSubscribers === true || isSubscribedBefore(seen, hearers.message));
  return hears && !('goneTo' in hearers && mayReadIn(hearers.goneTo));
}

/**
 * Whether an event tells a listener who hears of it where a message came from that they could not read there: what it
 * says of that place is not for them.
 */
export function comesFromHidden(
  who: Standing,
  hearers: Audience,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
): boolean {
  if (!('movedTo' in hearers)) return false;
  const seen = channels.get(hearers.channel);
  return seen === undefined || !mayReadMessage(who, seen, hearers.message);
}

/** Whether the listener's subscription began before this number. */
export const isSubscribedBefore = (seen: ChannelWithSubscription | undefined, seq: number): boolean =>
  seen?.subscription !== undefined && seen.subscription.since < seq;
