import { badRequest, type Refusal } from '../../kernel/errors.ts';
import { holds, isForEveryone, isGuest, type Standing } from '../permission/permission.ts';
import { EMPTY_TOPIC_NAME, type RealmSettings, type TopicsPolicy } from '../realm/realm.ts';
import type { Caller } from '../user/caller.ts';
import type { Channel, Subscription } from './channel.ts';

/** A channel as its sender sees it, with the subscription of a bot's owner. */
export interface Posting {
  readonly channel: Channel;
  readonly subscription: Subscription | undefined;
  readonly ownerSubscription: Subscription | undefined;
}

/** Whether the caller, or the owner in whose name a bot acts, holds the setting. */
const mayAs = (caller: Pick<Caller, 'standing' | 'owner'>, test: (who: Standing) => boolean): boolean =>
  test(caller.standing) || (caller.owner !== undefined && test(caller.owner));

/** The refusal of wire facts 3.5, step 11. */
export const noAccess = (channel: string): Refusal =>
  badRequest(`You do not have access to the channel '${channel}'.`);

/**
 * Decides whether the caller may post in the channel: the steps of wire facts 3.5, in their order. Administrators
 * have no way around any of them.
 */
export function checkPosting(caller: Pick<Caller, 'standing' | 'owner'>, posting: Posting): void {
  const { channel, subscription, ownerSubscription } = posting;
  const maySend = channel.groups.can_send_message_group;
  if (!isForEveryone(maySend) && !mayAs(caller, (who) => holds(who, maySend))) {
    throw badRequest(`You do not have permission to post in the channel '${channel.name}'.`);
  }
  if (channel.isArchived) throw badRequest(`The channel '${channel.name}' is archived.`);
  const guest = isGuest(caller.standing);
  if (channel.isWebPublic || (!channel.isPrivate && !guest)) return;
  if (subscription !== undefined) return;
  // A deactivated owner lends no rights.
  if (caller.owner !== undefined && ownerSubscription !== undefined) return;
  const { can_subscribe_group, can_add_subscribers_group } = channel.groups;
  const mayJoin =
    holds(caller.standing, can_subscribe_group) || holds(caller.standing, can_add_subscribers_group);
  if (!guest && channel.historyPublicToSubscribers && mayJoin) return;
  throw noAccess(channel.name);
}

/** Decides whether the caller may begin this topic, if it is a new one (wire facts 3.6). */
export function checkTopicCreation(
  caller: Pick<Caller, 'standing' | 'owner'>,
  channel: Channel,
  topic: object | undefined,
): void {
  const setting = channel.groups.can_create_topic_group;
  if (topic !== undefined || isForEveryone(setting)) return;
  if (!mayAs(caller, (who) => holds(who, setting))) {
    throw badRequest(`You do not have permission to start new topics in the channel '${channel.name}'.`);
  }
}

/** The policy that holds in a channel: its own, or the organization's where it says so (specification 3). */
export const effectiveTopicsPolicy = (
  channel: Pick<Channel, 'topicsPolicy'>,
  settings: RealmSettings,
): TopicsPolicy => (channel.topicsPolicy === 'inherit' ? settings.topics_policy : channel.topicsPolicy);

/** Decides whether the channel takes this topic, empty or named (specification 3, wire facts 3.6). */
export function checkTopicsPolicy(channel: Channel, settings: RealmSettings, topic: string): void {
  const policy = effectiveTopicsPolicy(channel, settings);
  if (policy === 'disable_empty_topic' && topic === '') {
    throw badRequest(`Messages here need a topic other than '${EMPTY_TOPIC_NAME}'.`);
  }
  if (policy === 'empty_topic_only' && topic !== '') {
    throw badRequest(`In this channel only the topic '${EMPTY_TOPIC_NAME}' is allowed.`);
  }
}
