import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import {
  checkGroupSetting,
  checkNamedGroups,
  type GroupSettingRule,
  type NamedInSettings,
} from '../group/setting.ts';
import {
  type GroupSetting,
  holds,
  holdsUnlessGuest,
  isOwner,
  type Standing,
  systemGroups,
} from '../permission/permission.ts';
import type { RealmSettings, TopicsPolicy } from '../realm/realm.ts';
import { type Channel, type ChannelGroups, defaultChannelGroups } from './channel.ts';

export type ChannelGroupName = keyof ChannelGroups;

interface ChannelGroupRule extends GroupSettingRule {
  /** Who changes it must be able to read the channel, not only to administer it. */
  readonly needsContentAccess: boolean;
}

/** The eleven group settings of a channel and what each may be (wire facts 4.5, specification 4.2). */
export const channelGroupRules = {
  can_add_subscribers_group: { nobody: true, everyone: false, needsContentAccess: true },
  can_administer_channel_group: { nobody: true, everyone: false, needsContentAccess: false },
  can_create_topic_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_delete_any_message_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_delete_own_message_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_move_messages_out_of_channel_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_move_messages_within_channel_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_remove_subscribers_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_resolve_topics_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_send_message_group: { nobody: true, everyone: true, needsContentAccess: false },
  can_subscribe_group: { nobody: true, everyone: false, needsContentAccess: true },
} as const satisfies Readonly<Record<ChannelGroupName, ChannelGroupRule>>;

export const channelGroupNames = Object.keys(channelGroupRules) as ChannelGroupName[];

/** The settings that a request gives, of the eleven. */
export type GivenChannelGroups = { readonly [K in ChannelGroupName]?: GroupSetting | undefined };

/** The values given, for reading whom they name. */
export const givenSettings = (given: GivenChannelGroups): GroupSetting[] =>
  channelGroupNames.flatMap((name) => given[name] ?? []);

/** Decides on one setting of a channel: its normal form, or a refusal (wire facts 4.5). */
export const checkChannelGroup = (
  name: ChannelGroupName,
  given: GroupSetting,
  named: NamedInSettings,
): GroupSetting => checkGroupSetting(name, channelGroupRules[name], given, named);

/** The settings of a new channel: those given, each decided on, and the defaults of its creator's. */
export function checkNewChannelGroups(
  creatorId: number,
  given: GivenChannelGroups,
  named: NamedInSettings,
): ChannelGroups {
  const groups: Record<ChannelGroupName, GroupSetting> = { ...defaultChannelGroups(creatorId) };
  for (const name of channelGroupNames) {
    const value = given[name];
    if (value !== undefined) groups[name] = checkChannelGroup(name, value, named);
  }
  checkNamedGroups(Object.values(groups));
  return groups;
}

/** Who can see a channel and its history. */
export type Privacy = Pick<Channel, 'isPrivate' | 'isWebPublic' | 'historyPublicToSubscribers' | 'isDefault'>;

/** What else a privacy state must fit to: these are not a part of it, but can forbid it. */
export interface PrivacyCircumstances {
  /** Who may start topics in the channel. */
  readonly topicCreators: GroupSetting;
  /** It is the channel for moderation requests, which must stay private. */
  readonly isForModeration: boolean;
}

/**
 * Decides whether a channel can be in this state, whatever it was before: the table of wire facts 4.3 and the rule
 * of specification 4.2 about protected history. Whether the caller may bring it there is another question.
 */
export function checkPrivacyState(proposed: Privacy, circumstances: PrivacyCircumstances): void {
  const { isPrivate, isWebPublic, historyPublicToSubscribers } = proposed;
  if (isWebPublic && !historyPublicToSubscribers) {
    throw badRequest('Invalid parameters: the history of a web-public channel is public.');
  }
  if (isWebPublic && isPrivate) {
    throw badRequest('Invalid parameters: a channel cannot be web-public and private.');
  }
  if (!isPrivate && !historyPublicToSubscribers) {
    throw badRequest('Invalid parameters: the history of a public channel is public.');
  }
  if (isPrivate && proposed.isDefault) throw badRequest('A default channel cannot be private.');
  if (!isPrivate && circumstances.isForModeration) {
    throw badRequest('The channel for moderation requests must be private.');
  }
  // Who may not read the history cannot tell an old topic from a new one.
  if (!historyPublicToSubscribers && circumstances.topicCreators !== systemGroups.everyone.id) {
    throw refusal('incompatibleParameters', {
      parameters: ['history_public_to_subscribers', 'can_create_topic_group'],
    });
  }
}

/** Whether someone may create channels of this kind, or turn channels into this kind (wire facts 4.3). */
export const mayMakeChannels = (who: Standing, settings: RealmSettings, isPrivate: boolean): boolean =>
  holdsUnlessGuest(
    who,
    isPrivate ? settings.can_create_private_channel_group : settings.can_create_public_channel_group,
  );

/**
 * Decides whether someone may make a channel web-public, which shows it to the whole internet (wire facts 4.3).
 * `isEnabled` tells whether the service has such channels at all.
 */
export function checkMakingWebPublic(who: Standing, settings: RealmSettings, isEnabled: boolean): void {
  if (!isEnabled || !settings.enable_spectator_access) {
    throw badRequest('Web-public channels are not enabled in this organization.');
  }
  if (!holds(who, settings.can_create_web_public_channel_group)) throw refusal('insufficientPermission');
}

const names: ReadonlySet<string> = new Set<TopicsPolicy>([
  'inherit',
  'allow_empty_topic',
  'disable_empty_topic',
  'empty_topic_only',
]);

const isName = (word: string): word is TopicsPolicy => names.has(word);

/** A topics policy by its name (specification 3), raw or as JSON text, since clients of both habits are about. */
export function checkTopicsPolicyName(given: string): TopicsPolicy {
  const word = given.replace(/^"(.*)"$/, '$1');
  if (!isName(word)) throw badRequest(`'topics_policy' must be one of ${[...names].join(', ')}.`);
  return word;
}

/** Decides whether someone may choose the topics policy of channels (wire facts 4.4). */
export function checkSettingTopicsPolicy(who: Standing, settings: RealmSettings): void {
  if (!holds(who, settings.can_set_topics_policy_group)) throw refusal('insufficientPermission');
}

/** How the request keeps messages for ever, as stored. */
const FOR_EVER = -1;

/** The longest retention, days: what comes of it is still a date. */
const MAX_DAYS = 1_000_000;

/**
 * How long a channel keeps its messages: days, -1 for ever, undefined as the organization says (wire facts 4.4).
 * Words are taken raw or as JSON text, since clients of both habits are about.
 */
export function checkRetention(given: string): number | undefined {
  const word = given.replace(/^"(.*)"$/, '$1');
  if (word === 'realm_default') return undefined;
  if (word === 'unlimited') return FOR_EVER;
  const days = /^\d+$/.test(given) ? Number(given) : 0;
  if (days < 1 || days > MAX_DAYS) {
    throw invalidWord('message_retention_days', given);
  }
  return days;
}

/**
 * The refusal of a value that is a word or an integer: clients are told an integer as such, anything else as the text that
 * they sent (`REQUEST_VARIABLE_INVALID`, wire facts 1.3).
 */
export function invalidWord(name: string, given: string): Refusal {
  const number = Number(given);
  const isInteger = /^-?\d+$/.test(given) && Number.isSafeInteger(number);
  return refusal('invalidParameter', { name, value: isInteger ? number : firstCodePoints(given, 100) });
}

/** Decides whether someone may give a channel a retention of its own: only owners may (wire facts 4.4). */
export function checkSettingRetention(who: Standing, retention: number | undefined): void {
  if (retention !== undefined && !isOwner(who)) throw refusal('notOwner');
}
