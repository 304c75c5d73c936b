import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { Audience, ChannelVisibility } from '../../log/slot.ts';
import type { Table } from '../../table/table.ts';
import {
  holds,
  holdsUnlessGuest,
  isAdministrator,
  isForEveryone,
  isGuest,
  type Standing,
  sameSetting,
} from '../permission/permission.ts';
import { EMPTY_TOPIC_NAME, type RealmSettings, type TopicsPolicy } from '../realm/realm.ts';
import type { Caller } from '../user/caller.ts';
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

/*
 * Who comes to know of a channel by a change of its settings, and who forgets it (wire facts 4.6). Nobody counts
 * these people when it is changed: the log keeps the settings from before and after, and each listener finds out
 * for themselves (DESIGN 5).
 */

/** On what of a channel it rests who may know of it. */
export const sightOf = ({ isPrivate, isWebPublic, groups }: Channel): ChannelVisibility => ({
  isPrivate,
  isWebPublic,
  groups: {
    can_add_subscribers_group: groups.can_add_subscribers_group,
    can_administer_channel_group: groups.can_administer_channel_group,
    can_subscribe_group: groups.can_subscribe_group,
  },
});

/** How many may know of a channel: some people, all but guests, everybody. In each step are all of the one before. */
const openness = ({ isPrivate, isWebPublic }: ChannelVisibility): number =>
  isWebPublic ? 2 : isPrivate ? 0 : 1;

const sightGroups = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
] as const;

/** Whether a change of the channel can show it to somebody, and whether it can hide it from somebody. */
export function changeOfSight(
  before: ChannelVisibility,
  after: ChannelVisibility,
): { readonly shows: boolean; readonly hides: boolean } {
  const more = openness(after) - openness(before);
  if (more !== 0) return { shows: more > 0, hides: more < 0 };
  const mayDiffer =
    before.isPrivate && sightGroups.some((name) => !sameSetting(before.groups[name], after.groups[name]));
  return { shows: mayDiffer, hides: mayDiffer };
}

type OfSight = Extract<Audience, { readonly sight: string }>;

/**
 * Whether someone hears of a change of sight that has this number. What they could see then follows from the
 * settings of that time, with their roles and groups as they are now. Only what they may see now is told, except
 * that they are to forget something, which tells no more than its id.
 */
export function hearsOfSight(
  who: Standing,
  hearers: OfSight,
  seen: ChannelWithSubscription,
  seq: number,
): boolean {
  const subscription = seen.subscription && seen.subscription.since < seq ? seen.subscription : undefined;
  const saw = (channel: ChannelVisibility): boolean => hasMetadataAccess(who, { channel, subscription });
  switch (hearers.sight) {
    case 'gained':
      return !saw(hearers.before) && saw(hearers.after) && hasMetadataAccess(who, seen);
    case 'kept':
      return saw(hearers.before) && saw(hearers.after) && hasMetadataAccess(who, seen);
    case 'lost':
      return saw(hearers.before) && !saw(hearers.after);
  }
}

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
