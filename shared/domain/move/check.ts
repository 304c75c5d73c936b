import { badRequest } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { MessageSlot } from '../../log/slot.ts';
import {
  accessContent,
  administersChannel,
  type ChannelWithSubscription,
  checkPosting,
  checkTopicCreation,
  checkTopicsPolicy,
  loadChannel,
} from '../../model/channel/access.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import { checkTopic, isResolved, RESOLVED_PREFIX } from '../../model/message/message.ts';
import type { Topic } from '../../model/message/topic.ts';
import { holds, roles, type Standing } from '../../model/permission/permission.ts';
import type { RealmSettings } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Table } from '../../table/table.ts';
import { LEEWAY } from '../edit/rewrite.ts';

/** Whether a new name for a topic only marks it as resolved, or takes the mark away. */
export const isResolution = (from: string, to: string): boolean =>
  isResolved(from)
    ? from.slice(RESOLVED_PREFIX.length) === to
    : isResolved(to) && checkTopic(RESOLVED_PREFIX + from) === to;

/** The target channel, with the subscriptions that decide. */
export interface TargetChannel {
  readonly seen: ChannelWithSubscription | undefined;
  readonly ownerSubscription: Subscription | undefined;
}

/** Reads it. One round trip. */
export async function loadTargetChannel(
  table: Table,
  realm: string,
  channelId: number,
  { userId, ownerId }: { readonly userId: number; readonly ownerId?: number },
): Promise<TargetChannel> {
  const [seen, ownerSubscription] = await Promise.all([
    loadChannel(table, realm, channelId, userId),
    ownerId === undefined || !isId(channelId)
      ? undefined
      : table.get('subscription', { realm, userId: ownerId, channelId }),
  ]);
  return { seen, ownerSubscription };
}

/** A requested move. */
export interface AskedMove {
  readonly from: { readonly channel: Channel; readonly topic: string };
  readonly to: { readonly channelId: number; readonly topic: string };
}

/**
 * Checks that the caller may move messages, and returns the target channel (specification 4.2:
 * `can_move_messages_within_channel_group`, `can_move_messages_out_of_channel_group`, `can_resolve_topics_group`).
 * Access to the source was checked with the message.
 */
export function checkMove(
  caller: Caller,
  { from, to }: AskedMove,
  target: TargetChannel,
  targetTopic: Topic | undefined,
): Channel {
  const { standing, realm } = caller;
  const { settings } = realm;
  const staysInChannel = from.channel.channelId === to.channelId;
  if (from.topic !== to.topic) checkRename(standing, settings, from, to.topic, staysInChannel);
  if (staysInChannel) {
    if (targetTopic === undefined && !isResolution(from.topic, to.topic)) {
      checkPosting(caller, postingIn(accessContent(standing, target.seen), target));
      checkTopicCreation(caller, from.channel, targetTopic);
    }
    checkTopicsPolicy(from.channel, settings, to.topic);
    return from.channel;
  }
  const { can_move_messages_out_of_channel_group: mayLeave } = from.channel.groups;
  if (
    !holds(standing, settings.can_move_messages_between_channels_group) &&
    !holds(standing, mayLeave) &&
    !administersChannel(standing, from.channel)
  ) {
    throw badRequest('You do not have permission to move messages out of this channel.');
  }
  const seen = accessContent(standing, target.seen);
  checkPosting(caller, postingIn(seen, target));
  checkTopicCreation(caller, seen.channel, targetTopic);
  checkTopicsPolicy(seen.channel, settings, to.topic);
  return seen.channel;
}

const postingIn = (seen: ChannelWithSubscription, { ownerSubscription }: TargetChannel) => ({
  ...seen,
  ownerSubscription,
});

function checkRename(
  standing: Standing,
  settings: RealmSettings,
  { channel, topic }: AskedMove['from'],
  to: string,
  staysInChannel: boolean,
): void {
  const { can_resolve_topics_group, can_move_messages_within_channel_group } = channel.groups;
  if (staysInChannel && isResolution(topic, to)) {
    if (holds(standing, settings.can_resolve_topics_group) || holds(standing, can_resolve_topics_group))
      return;
    throw badRequest('You do not have permission to resolve topics in this channel.');
  }
  if (
    !holds(standing, settings.can_move_messages_between_topics_group) &&
    !holds(standing, can_move_messages_within_channel_group) &&
    !administersChannel(standing, channel)
  ) {
    throw badRequest('You do not have permission to move messages to another topic in this channel.');
  }
}

/**
 * How old (seconds) a message may be for this move; undefined if there is no limit. Moderators have no limit, nor has
 * resolving a topic. If both limits apply, the stricter one counts.
 */
export function moveLimit(
  { standing, realm: { settings } }: Caller,
  { from, to }: AskedMove,
): number | undefined {
  if (standing.role <= roles.moderator) return undefined;
  const staysInChannel = from.channel.channelId === to.channelId;
  const renames = from.topic !== to.topic && !(staysInChannel && isResolution(from.topic, to.topic));
  const limits = [
    renames ? settings.move_messages_within_stream_limit_seconds : null,
    staysInChannel ? null : settings.move_messages_between_streams_limit_seconds,
  ].filter((limit) => limit !== null);
  return limits.length === 0 ? undefined : Math.min(...limits) + LEEWAY;
}

/** Whether a message is older than `limit` (seconds). `now` is in milliseconds. */
export const isTooOld = ({ timestamp }: MessageSlot, limit: number, now: number): boolean =>
  now / 1000 - timestamp > limit;

/** Refuses to move a message that is too old. `now`: milliseconds. */
export function checkMoveTime(message: MessageSlot, limit: number, now: number): void {
  if (isTooOld(message, limit, now)) throw badRequest('This message is too old for you to move.');
}
