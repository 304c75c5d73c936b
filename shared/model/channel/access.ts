import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
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

/** A channel with one person's subscription to it. */
export interface ChannelWithSubscription {
  readonly channel: Channel;
  readonly subscription: Subscription | undefined;
}

/** The part that decides who can see and read the channel. */
export interface AccessFacts {
  readonly channel: ChannelVisibility;
  readonly subscription: Subscription | undefined;
}

/** Reads a channel and one person's subscription to it; undefined if there is no such channel. One round trip. */
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

/** Whether someone can see the channel and its settings (wire facts 4.1). Administrators can, even if they cannot read it. */
export const hasMetadataAccess = (who: Standing, { channel, subscription }: AccessFacts): boolean =>
  hasContentAccess(who, { channel, subscription }) ||
  isAdministrator(who) ||
  holdsUnlessGuest(who, channel.groups.can_administer_channel_group);

/** Whether someone can read the channel. A role alone never gives access to a private one (wire facts 4.1). */
export const hasContentAccess = (who: Standing, { channel, subscription }: AccessFacts): boolean =>
  channel.isWebPublic ||
  subscription !== undefined ||
  (!isGuest(who) &&
    (!channel.isPrivate ||
      holds(who, channel.groups.can_subscribe_group) ||
      holds(who, channel.groups.can_add_subscribers_group)));

/** Whether someone can read this message. With protected history, only subscribers can, from their subscription on. */
export const mayReadMessage = (who: Standing, seen: ChannelWithSubscription, messageId: number): boolean =>
  hasContentAccess(who, seen) &&
  (seen.channel.historyPublicToSubscribers ||
    (seen.subscription !== undefined && messageId > seen.subscription.since));

export const administersChannel = (who: Standing, channel: Channel): boolean =>
  isAdministrator(who) || holdsUnlessGuest(who, channel.groups.can_administer_channel_group);

/** The channel, if the person can see it. A hidden and a missing channel get the same refusal. */
export function accessMetadata(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
): ChannelWithSubscription {
  if (seen === undefined || !hasMetadataAccess(who, seen)) throw refusal('invalidChannelId');
  return seen;
}

/** The channel, if the person can read it. */
export function accessContent(
  who: Standing,
  seen: ChannelWithSubscription | undefined,
): ChannelWithSubscription {
  if (seen === undefined || !hasContentAccess(who, seen)) throw refusal('invalidChannelId');
  return seen;
}

/*
 * Who gains or loses sight of a channel when its settings change (wire facts 4.6). The writer does not list these
 * people. The log stores the settings before and after, and each reader of the log decides for itself (DESIGN 5).
 */

/** The fields of a channel that decide who can see it. */
export const visibilityOf = ({ isPrivate, isWebPublic, groups }: Channel): ChannelVisibility => ({
  isPrivate,
  isWebPublic,
  groups: {
    can_add_subscribers_group: groups.can_add_subscribers_group,
    can_administer_channel_group: groups.can_administer_channel_group,
    can_subscribe_group: groups.can_subscribe_group,
  },
});

/** Who can see a channel: 0 chosen people, 1 everyone except guests, 2 everyone. Each level includes the one before. */
const openness = ({ isPrivate, isWebPublic }: ChannelVisibility): number =>
  isWebPublic ? 2 : isPrivate ? 0 : 1;

const visibilityGroups = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
] as const;

/** Whether a change can show the channel to more people, and whether it can hide it from some. */
export function compareVisibility(
  before: ChannelVisibility,
  after: ChannelVisibility,
): { readonly shows: boolean; readonly hides: boolean } {
  const more = openness(after) - openness(before);
  if (more !== 0) return { shows: more > 0, hides: more < 0 };
  const mayDiffer =
    before.isPrivate &&
    visibilityGroups.some((name) => !sameSetting(before.groups[name], after.groups[name]));
  return { shows: mayDiffer, hides: mayDiffer };
}

/**
 * Whether someone gets the event about a visibility change with this log number. What they could see at that time
 * follows from the settings of that time, with their present role and groups. They must be able to see the channel now,
 * except for `lost`, which carries only its id.
 */
export function isInVisibilityAudience(
  who: Standing,
  audience: Extract<Audience, { readonly sight: string }>,
  seen: ChannelWithSubscription,
  seq: number,
): boolean {
  const subscription = seen.subscription && seen.subscription.since < seq ? seen.subscription : undefined;
  const could = (channel: ChannelVisibility): boolean => hasMetadataAccess(who, { channel, subscription });
  switch (audience.sight) {
    case 'gained':
      return !could(audience.before) && could(audience.after) && hasMetadataAccess(who, seen);
    case 'kept':
      return could(audience.before) && could(audience.after) && hasMetadataAccess(who, seen);
    case 'lost':
      return could(audience.before) && !could(audience.after);
  }
}

/** What decides whether someone may post in a channel; for a bot, with its owner's subscription. */
export interface Posting {
  readonly channel: Channel;
  readonly subscription: Subscription | undefined;
  readonly ownerSubscription: Subscription | undefined;
}

/** Whether the caller, or the owner of a bot, passes the test. */
const mayAs = (caller: Pick<Caller, 'standing' | 'owner'>, test: (who: Standing) => boolean): boolean =>
  test(caller.standing) || (caller.owner !== undefined && test(caller.owner));

/** The refusal of wire facts 3.5, step 11. */
export const noAccess = (channel: string): Refusal =>
  badRequest(`You do not have access to the channel '${channel}'.`);

/** Refuses a caller who may not post in the channel: the steps of wire facts 3.5, in order. They bind administrators too. */
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
  // A deactivated owner gives the bot no rights.
  if (caller.owner !== undefined && ownerSubscription !== undefined) return;
  const { can_subscribe_group, can_add_subscribers_group } = channel.groups;
  const mayJoin =
    holds(caller.standing, can_subscribe_group) || holds(caller.standing, can_add_subscribers_group);
  if (!guest && channel.historyPublicToSubscribers && mayJoin) return;
  throw noAccess(channel.name);
}

/** Refuses a new topic if the caller may not start one (wire facts 3.6). */
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

/** The topics policy in force: the channel's, or the organization's if it inherits (specification 3). */
export const effectiveTopicsPolicy = (
  channel: Pick<Channel, 'topicsPolicy'>,
  settings: RealmSettings,
): TopicsPolicy => (channel.topicsPolicy === 'inherit' ? settings.topics_policy : channel.topicsPolicy);

/** Refuses a topic that the channel's policy does not allow (specification 3, wire facts 3.6). */
export function checkTopicsPolicy(channel: Channel, settings: RealmSettings, topic: string): void {
  const policy = effectiveTopicsPolicy(channel, settings);
  if (policy === 'disable_empty_topic' && topic === '') {
    throw badRequest(`Messages here need a topic other than '${EMPTY_TOPIC_NAME}'.`);
  }
  if (policy === 'empty_topic_only' && topic !== '') {
    throw badRequest(`In this channel only the topic '${EMPTY_TOPIC_NAME}' is allowed.`);
  }
}

/** Whether someone who can read the channel may add others (specification 4.2, wire facts 4.1). */
export const mayAddSubscribers = ({ standing, realm }: Caller, channel: Channel): boolean =>
  administersChannel(standing, channel) ||
  holdsUnlessGuest(standing, realm.settings.can_add_subscribers_group) ||
  holdsUnlessGuest(standing, channel.groups.can_add_subscribers_group);
