import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { bytesOf } from '../../kernel/quota.ts';
import { codePoints, firstCodePoints, unprintableProblem } from '../../kernel/text.ts';
import {
  forGuests,
  forMembers,
  type GroupSetting,
  holds,
  holdsUnlessGuest,
  isForEveryone,
  type Standing,
  settingRules,
  systemGroups,
} from '../permission/permission.ts';
import { limits, type RealmSettings, type TopicsPolicy } from '../realm/realm.ts';

/** A channel, as stored. */
export interface Channel {
  readonly channelId: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  /** Seconds since 1970. */
  readonly dateCreated: number;
  readonly creatorId?: number;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly historyPublicToSubscribers: boolean;
  readonly isDefault: boolean;
  readonly isArchived: boolean;
  /** Days; -1 is unlimited; absent follows the organization. */
  readonly messageRetentionDays?: number;
  readonly folderId?: number;
  readonly topicsPolicy: TopicsPolicy;
  readonly groups: ChannelGroups;
  /** Grows with each change, for optimistic locking. */
  readonly version: number;
}

const { nobody, administrators, everyone } = systemGroups;

/** The eleven group settings of a channel (specification 2.4, 4.2, wire facts 4.5). */
export const channelGroupRules = settingRules({
  can_add_subscribers_group: { ...forMembers, initial: nobody.id, needsContentAccess: true },
  can_administer_channel_group: { ...forMembers, initial: 'creator' },
  can_create_topic_group: { ...forGuests, initial: everyone.id },
  can_delete_any_message_group: { ...forGuests, initial: nobody.id },
  can_delete_own_message_group: { ...forGuests, initial: nobody.id },
  can_move_messages_out_of_channel_group: { ...forGuests, initial: nobody.id },
  can_move_messages_within_channel_group: { ...forGuests, initial: nobody.id },
  can_remove_subscribers_group: { ...forGuests, initial: administrators.id },
  can_resolve_topics_group: { ...forGuests, initial: nobody.id },
  can_send_message_group: { ...forGuests, initial: everyone.id },
  can_subscribe_group: { ...forMembers, initial: nobody.id, needsContentAccess: true },
});

export type ChannelGroupName = keyof typeof channelGroupRules;
export const channelGroupNames = Object.keys(channelGroupRules) as ChannelGroupName[];

/** The values of these settings in a channel. */
export type ChannelGroups = Readonly<Record<ChannelGroupName, GroupSetting>>;

/** How many bytes of the quota a channel uses: its texts and the lists in its settings. */
export const channelBytes = ({
  name,
  description,
  renderedDescription,
  groups,
}: Pick<Channel, 'name' | 'description' | 'renderedDescription' | 'groups'>): number =>
  bytesOf(name, description, renderedDescription, Object.values(groups));

/** The counters of a channel. A separate item, so that busy counters never block an edit. */
export interface ChannelCount {
  readonly channelId: number;
  readonly subscribers: number;
  /** The oldest message as remembered; absent if there is none. `first-message.ts` explains when it is valid. */
  readonly firstMessageId?: number;
  /** Log number of the last change that may have changed the oldest message. While present, `firstMessageId` is invalid. */
  readonly firstForgotten?: number;
  /** How many named topics exist; `empty_topic_only` needs 0 (specification 3). */
  readonly namedTopics?: number;
  /** The channel's policy is `empty_topic_only`. Repeated here, so that a send can check it in its transaction. */
  readonly onlyEmptyTopic?: true;
  /** Day (days since 1970) of a recent message. */
  readonly lastActiveDay?: number;
}

/** A subscriber's own settings for a channel. They survive unsubscribing and subscribing again. */
export interface SubscriptionSettings {
  readonly color: string;
  readonly isMuted: boolean;
  readonly pinToTop: boolean;
  readonly desktopNotifications?: boolean;
  readonly audibleNotifications?: boolean;
  readonly pushNotifications?: boolean;
  readonly emailNotifications?: boolean;
  readonly wildcardMentionsNotify?: boolean;
}

/** A subscription, stored under the user; its inverse under the channel carries the ids only. */
export interface Subscription extends SubscriptionSettings {
  readonly channelId: number;
  readonly userId: number;
  /** Log number at which the subscription began. Protected history starts after it. */
  readonly since: number;
  /** Messages up to this id are read, or older than the subscription. */
  readonly readFloor: number;
  /** Its user is deactivated: kept for their return, but not counted and without its inverse. */
  readonly dormant?: true;
}

/** A subscription that ended. Clients list such channels apart from those never subscribed to. */
export interface FormerSubscription extends SubscriptionSettings {
  readonly channelId: number;
  readonly userId: number;
  /** Log number at which it ended. */
  readonly ended: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    channel: Channel;
    channelCount: ChannelCount;
    subscription: Subscription;
    former: FormerSubscription;
  }
}

/** Why trimmed text cannot be a channel name (wire facts 4.4, 3.5), as a sentence; undefined if it can. */
export function channelNameProblem(name: string): string | undefined {
  if (name === '') return 'A channel needs a name.';
  if (codePoints(name) > limits.channelName) {
    return `A channel name has at most ${limits.channelName} characters.`;
  }
  return unprintableProblem('The channel name', name);
}

/** Trims a channel name and refuses an invalid one. */
export function checkChannelName(text: string): string {
  const name = text.trim();
  const problem = channelNameProblem(name);
  if (problem !== undefined) throw badRequest(problem);
  return name;
}

/** Refuses a channel description that is too long, and turns newlines into spaces (wire facts 4.4). */
export function checkChannelDescription(text: string): string {
  if (codePoints(text) > limits.channelDescription) {
    throw badRequest(`A channel description has at most ${limits.channelDescription} characters.`);
  }
  return text.replace(/\r\n|[\r\n]/g, ' ');
}

/** The posting permission as older clients know it, before it was a group: 1 everyone ... 4 moderators. */
export function legacyPostPolicy(channel: Channel): 1 | 2 | 3 | 4 {
  const setting = channel.groups.can_send_message_group;
  if (isForEveryone(setting)) return 1;
  if (setting === systemGroups.administrators.id) return 2;
  if (setting === systemGroups.fullMembers.id) return 3;
  if (setting === systemGroups.moderators.id) return 4;
  return 1;
}

/** Who can see a channel and its history. */
export type Privacy = Pick<Channel, 'isPrivate' | 'isWebPublic' | 'historyPublicToSubscribers' | 'isDefault'>;

/**
 * Refuses privacy settings that contradict each other (wire facts 4.3) or other settings (specification 4.2), whatever
 * they were before. Permissions of the caller are checked elsewhere.
 */
export function checkPrivacyState(
  { isPrivate, isWebPublic, historyPublicToSubscribers, isDefault }: Privacy,
  {
    topicCreators,
    isForModeration,
  }: { readonly topicCreators: GroupSetting; readonly isForModeration: boolean },
): void {
  if (isWebPublic && !historyPublicToSubscribers) {
    throw badRequest('Invalid parameters: the history of a web-public channel is public.');
  }
  if (isWebPublic && isPrivate) {
    throw badRequest('Invalid parameters: a channel cannot be web-public and private.');
  }
  if (!isPrivate && !historyPublicToSubscribers) {
    throw badRequest('Invalid parameters: the history of a public channel is public.');
  }
  if (isPrivate && isDefault) throw badRequest('A default channel cannot be private.');
  if (!isPrivate && isForModeration) {
    throw badRequest('The channel for moderation requests must be private.');
  }
  // If you cannot read the history, you cannot tell an old topic from a new one.
  if (!historyPublicToSubscribers && topicCreators !== systemGroups.everyone.id) {
    throw refusal('incompatibleParameters', {
      parameters: ['history_public_to_subscribers', 'can_create_topic_group'],
    });
  }
}

/** Whether someone may create private or public channels, or convert channels to that kind (wire facts 4.3). */
export const mayCreateChannels = (who: Standing, settings: RealmSettings, isPrivate: boolean): boolean =>
  holdsUnlessGuest(
    who,
    isPrivate ? settings.can_create_private_channel_group : settings.can_create_public_channel_group,
  );

/**
 * Refuses to make a channel web-public, that is, readable without an account (wire facts 4.3).
 *
 * @param isEnabled whether the deployment supports web-public channels
 */
export function checkMakeWebPublic(who: Standing, settings: RealmSettings, isEnabled: boolean): void {
  if (!isEnabled || !settings.enable_spectator_access) {
    throw badRequest('Web-public channels are not enabled in this organization.');
  }
  if (!holds(who, settings.can_create_web_public_channel_group)) throw refusal('insufficientPermission');
}

const topicsPolicies: ReadonlySet<string> = new Set<TopicsPolicy>([
  'inherit',
  'allow_empty_topic',
  'disable_empty_topic',
  'empty_topic_only',
]);

const isTopicsPolicy = (word: string): word is TopicsPolicy => topicsPolicies.has(word);

/** Some clients send words raw, others as JSON text. */
const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

/** Parses a topics policy (specification 3), raw or as JSON text. */
export function checkTopicsPolicyName(text: string): TopicsPolicy {
  const word = unquoted(text);
  if (!isTopicsPolicy(word)) {
    throw badRequest(`'topics_policy' must be one of ${[...topicsPolicies].join(', ')}.`);
  }
  return word;
}

/** Refuses a caller who may not set the topics policy of channels (wire facts 4.4). */
export function checkSetTopicsPolicy(who: Standing, settings: RealmSettings): void {
  if (!holds(who, settings.can_set_topics_policy_group)) throw refusal('insufficientPermission');
}

/** How "unlimited" is stored. */
const FOREVER = -1;

/** Longest retention, in days: its end can still be written as a date. */
const MAX_RETENTION_DAYS = 1_000_000;

/** Parses a retention: days, -1 for unlimited, undefined for the organization's (wire facts 4.4). Raw or as JSON text. */
export function checkRetention(text: string): number | undefined {
  const word = unquoted(text);
  if (word === 'realm_default') return undefined;
  if (word === 'unlimited') return FOREVER;
  const days = /^\d+$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAX_RETENTION_DAYS) throw invalidWord('message_retention_days', text);
  return days;
}

/** The refusal of a value that is a word or an integer. It quotes an integer as one, anything else as text (wire facts 1.3). */
export function invalidWord(name: string, text: string): Refusal {
  const number = Number(text);
  const isInteger = /^-?\d+$/.test(text) && Number.isSafeInteger(number);
  return refusal('invalidParameter', { name, value: isInteger ? number : firstCodePoints(text, 100) });
}
