import { type Refusal, refusal } from '../../kernel/errors.ts';
import { isId, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import {
  checkPosting,
  checkTopicCreation,
  checkTopicsPolicy,
  hasMetadataAccess,
  type Posting,
} from '../../model/channel/access.ts';
import {
  type Channel,
  type ChannelCount,
  checkChannelName,
  type Subscription,
} from '../../model/channel/channel.ts';
import { topicConversation } from '../../model/message/message.ts';
import { doAddToTopic, type Topic } from '../../model/message/topic.ts';
import {
  automaticPolicy,
  doSetVisibility,
  type UserTopic,
  type Visibility,
  visibility,
} from '../../model/message/user-topic.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf, type UserSettings } from '../../model/user/user.ts';
import {
  checkGroupMentions,
  checkWildcards,
  followersOf,
  type LoadedReferences,
  loadMentionable,
  type Mentionable,
  mentionableUserIds,
  resolveReferences,
  type WildcardCounts,
} from '../mention/references.ts';
import type { ChannelRecipient } from './request.ts';
import type { Delivery, Draft } from './send.ts';

/** The state of a channel and a topic that a send to it depends on. */
export interface ChannelSendSnapshot {
  readonly channel: Channel;
  readonly subscription: Subscription | undefined;
  readonly ownerSubscription: Subscription | undefined;
  readonly count: ChannelCount | undefined;
  readonly topic: Topic | undefined;
  readonly takesPart: boolean;
  readonly userTopic: UserTopic | undefined;
  readonly settings: UserSettings;
  readonly mentionable: readonly Mentionable[];
}

/** The sender, and the owner of a bot. */
export interface Sender {
  readonly userId: number;
  readonly ownerId?: number;
}

/** Loads it in one round trip; undefined if the channel does not exist. */
export async function loadChannelSend(
  outside: Outside,
  { userId, ownerId }: Sender,
  recipient: ChannelRecipient,
  topic: string,
  names: LoadedReferences['names'],
  resolved: Resolved,
): Promise<ChannelSendSnapshot | undefined> {
  const channelId =
    'id' in recipient
      ? recipient.id
      : resolved.follow({ kind: 'channelName', name: recipient.name })?.channelId;
  if (channelId === undefined || !isId(channelId)) return undefined;
  const { table } = outside;
  const { realm } = resolved;
  const inTopic = { realm, channelId, topic: folded(topic) };
  const [
    channel,
    subscription,
    ownerSubscription,
    count,
    stored,
    participant,
    userTopic,
    settings,
    mentionable,
  ] = await Promise.all([
    table.get('channel', { realm, channelId }),
    table.get('subscription', { realm, userId, channelId }),
    ownerId === undefined ? undefined : table.get('subscription', { realm, userId: ownerId, channelId }),
    table.get('channelCount', { realm, channelId }),
    table.get('topic', inTopic),
    table.get('participant', { ...inTopic, userId }),
    table.get('userTopic', { ...inTopic, userId }),
    table.get('settings', { realm, userId }),
    loadMentionable(outside, realm, channelId, topic, mentionableUserIds(names, resolved)),
  ]);
  if (channel === undefined) return undefined;
  return {
    channel,
    subscription,
    ownerSubscription,
    count,
    topic: stored,
    takesPart: participant !== undefined,
    userTopic,
    settings: settingsOf(settings),
    mentionable,
  };
}

/**
 * The error for a channel that does not exist, with the name in the request (specification 7, wire facts 3.5). An invalid
 * name is refused as such.
 */
export const missingChannelError = (recipient: ChannelRecipient): Refusal =>
  'id' in recipient
    ? refusal('channelIdDoesNotExist', { id: recipient.id })
    : refusal('channelDoesNotExist', { name: escapedHtml(checkChannelName(recipient.name)) });

/**
 * Whether the sender, or the owner of a bot, may see the channel. Others learn that it exists (wire facts 3.5, step 11),
 * but nothing else: `noAccess` has the name in their request.
 */
export const maySeeChannel = (
  { standing, owner }: Pick<Caller, 'standing' | 'owner'>,
  { channel, subscription, ownerSubscription }: Posting,
): boolean =>
  hasMetadataAccess(standing, { channel, subscription }) ||
  (owner !== undefined && hasMetadataAccess(owner, { channel, subscription: ownerSubscription }));

/** Zulip's clients show the name in the error as HTML. */
const escapedHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');

/** A channel message that passed all checks. */
interface CheckedChannelMessage {
  readonly rendered: Rendered;
  /** The sender's new policy for the topic. */
  readonly policy: Visibility | undefined;
  /** The mentioned users who start to follow the topic. */
  readonly followers: readonly Mentionable[];
}

/** Checks a channel message from posting on, in the order of wire facts 3.3, and renders it. */
export function checkChannelMessage(
  caller: Caller,
  { content, senderId }: Draft,
  destination: ChannelSendSnapshot,
  topic: string,
  named: LoadedReferences,
): CheckedChannelMessage {
  const { channel, mentionable } = destination;
  checkPosting(caller, destination);
  checkTopicCreation(caller, channel, destination.topic);
  checkTopicsPolicy(channel, caller.realm.settings, topic);
  const rendered = render(content, resolveReferences(caller.standing, named));
  checkWildcards(caller, rendered, wildcardCounts(destination));
  checkGroupMentions(caller, named.groups, rendered.mentionedGroupIds);
  const policy = policyFor(caller, destination);
  const followers = followersOf(mentionable, rendered.mentionedUserIds, named.users).filter(
    ({ userId }) => policy === undefined || userId !== senderId,
  );
  return { rendered, policy, followers };
}

/** The delivery of a checked channel message. */
export function channelDelivery(
  realm: string,
  { senderId, now }: Draft,
  destination: ChannelSendSnapshot,
  topic: string,
  { rendered, policy, followers }: CheckedChannelMessage,
): Delivery {
  const { channelId } = destination.channel;
  const updated = Math.floor(now / 1000);
  const change = (userId: number, policy: Visibility, seen: UserTopic | undefined) =>
    doSetVisibility(realm, userId, { channelId, topic, policy, updated }, seen);
  const changes = [
    ...(policy === undefined ? [] : [change(senderId, policy, destination.userTopic)]),
    ...followers.map(({ userId, seen }) => change(userId, visibility.followed, seen)),
  ];
  const arrival = { channelId, topic, senderId, day: Math.floor(now / 86_400_000) };
  return {
    place: { channelId, topic, conversation: topicConversation(channelId, topic) },
    recipientId: channelId,
    rendered,
    before: changes.flatMap(({ entries }) => entries),
    writesFor: (messageId) => [
      ...doAddToTopic(realm, { ...arrival, messageId }, destination),
      ...changes.flatMap(({ writes }) => writes),
    ],
    ...(policy !== undefined && { policy }),
  };
}

/** How many people wildcards would notify. The sender counts as a participant (wire facts 3.7). */
const wildcardCounts = ({ count, topic, takesPart }: ChannelSendSnapshot): WildcardCounts => ({
  subscribers: count?.subscribers ?? 0,
  participants: (topic?.participants ?? 0) + (takesPart ? 0 : 1),
});

/** The sender's automatic policy for the topic. Bots have none (wire facts 3.10). */
function policyFor(caller: Caller, destination: ChannelSendSnapshot): Visibility | undefined {
  if (caller.user.isBot) return undefined;
  const { channel, subscription, topic, userTopic, settings } = destination;
  const readableFrom = channel.historyPublicToSubscribers ? 0 : (subscription?.since ?? 0);
  return automaticPolicy({
    settings,
    current: userTopic?.policy ?? visibility.inherit,
    channelMuted: subscription?.isMuted === true,
    startsTopic: topic === undefined || topic.maxId <= readableFrom,
  });
}
