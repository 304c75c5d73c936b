import { badRequest } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/folding.ts';
import { unprintableProblem } from '../../kernel/printable.ts';
import { bytesOf } from '../../kernel/quota.ts';
import { type GroupSetting, onlyUser, systemGroups } from '../permission/permission.ts';
import { limits, type TopicsPolicy } from '../realm/realm.ts';

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
  /** Days; -1 keeps for ever; absent follows the organization. */
  readonly messageRetentionDays?: number;
  readonly folderId?: number;
  readonly topicsPolicy: TopicsPolicy;
  readonly groups: ChannelGroups;
  /** Grows with each change, so that an edit can be held to what it saw. */
  readonly version: number;
}

/** The eleven group settings of a channel, under their wire names (specification 2.4). */
export interface ChannelGroups {
  readonly can_add_subscribers_group: GroupSetting;
  readonly can_administer_channel_group: GroupSetting;
  readonly can_create_topic_group: GroupSetting;
  readonly can_delete_any_message_group: GroupSetting;
  readonly can_delete_own_message_group: GroupSetting;
  readonly can_move_messages_out_of_channel_group: GroupSetting;
  readonly can_move_messages_within_channel_group: GroupSetting;
  readonly can_remove_subscribers_group: GroupSetting;
  readonly can_resolve_topics_group: GroupSetting;
  readonly can_send_message_group: GroupSetting;
  readonly can_subscribe_group: GroupSetting;
}

/** The bytes that a channel takes of its quota: its texts, and the lists in its settings. */
export const channelBytes = ({
  name,
  description,
  renderedDescription,
  groups,
}: Pick<Channel, 'name' | 'description' | 'renderedDescription' | 'groups'>): number =>
  bytesOf(name, description, renderedDescription, Object.values(groups));

/** What is counted of a channel, apart from it, so that a busy counter never blocks an edit. */
export interface ChannelCount {
  readonly channelId: number;
  readonly subscribers: number;
  /** The oldest message as it is remembered; absent where there is none. `first-message.ts` tells when it is right. */
  readonly firstMessageId?: number;
  /** The number of the last change that may have made another message the oldest one: while it is here, that is forgotten. */
  readonly firstForgotten?: number;
  /** How many topics with a name exist; `empty_topic_only` needs none (specification 3). */
  readonly namedTopics?: number;
  /** The channel's policy is `empty_topic_only`: held here too, so that a send can be held to it. */
  readonly onlyEmptyTopic?: true;
  /** Day (days since 1970) of a recent message. */
  readonly lastActiveDay?: number;
}

/** What a subscriber chooses for a channel; they keep it when the subscription ends and begins again. */
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
  /** The number of the log at which the subscription began: protected history starts behind it. */
  readonly since: number;
  /** Messages up to here are read or older than the subscription. */
  readonly readFloor: number;
  /**
   * Messages below the floor that are unread and were moved: they are listed in the read states of where they were at
   * first, which need not be of this channel. Some may have been read or moved on since.
   */
  readonly movedUnread?: ReadonlySet<number>;
  /** Its user is deactivated: it waits for their return, uncounted and without its inverse. */
  readonly dormant?: true;
}

/** A subscription that ended: clients list such channels apart from those that were never subscribed to. */
export interface FormerSubscription extends SubscriptionSettings {
  readonly channelId: number;
  readonly userId: number;
  /** The number of the log at which it ended. */
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

/** The group settings of a new channel (wire facts 4.5). A channel without a creator has no administrators. */
export const defaultChannelGroups = (creatorId: number | undefined): ChannelGroups => ({
  can_add_subscribers_group: systemGroups.nobody.id,
  can_administer_channel_group: creatorId === undefined ? systemGroups.nobody.id : onlyUser(creatorId),
  can_create_topic_group: systemGroups.everyone.id,
  can_delete_any_message_group: systemGroups.nobody.id,
  can_delete_own_message_group: systemGroups.nobody.id,
  can_move_messages_out_of_channel_group: systemGroups.nobody.id,
  can_move_messages_within_channel_group: systemGroups.nobody.id,
  can_remove_subscribers_group: systemGroups.administrators.id,
  can_resolve_topics_group: systemGroups.nobody.id,
  can_send_message_group: systemGroups.everyone.id,
  can_subscribe_group: systemGroups.nobody.id,
});

/** What keeps trimmed text from being the name of a channel (wire facts 4.4, 3.5), as a sentence; undefined if nothing. */
export function channelNameProblem(name: string): string | undefined {
  if (name === '') return 'A channel needs a name.';
  if (codePoints(name) > limits.channelName) {
    return `A channel name has at most ${limits.channelName} characters.`;
  }
  return unprintableProblem('The channel name', name);
}

/** Decides whether text can name a channel, and trims it. */
export function checkChannelName(given: string): string {
  const name = given.trim();
  const problem = channelNameProblem(name);
  if (problem !== undefined) throw badRequest(problem);
  return name;
}

/**
 * Decides whether text can describe a channel: at most 1024 characters, in one line (wire facts 4.4). Newlines
 * become spaces.
 */
export function checkChannelDescription(given: string): string {
  if (codePoints(given) > limits.channelDescription) {
    throw badRequest(`A channel description has at most ${limits.channelDescription} characters.`);
  }
  return given.replace(/\r\n|[\r\n]/g, ' ');
}
