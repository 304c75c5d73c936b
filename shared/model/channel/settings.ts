import { badRequest, type Refusal, refusal } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import {
  type GroupSetting,
  holds,
  holdsUnlessGuest,
  type Standing,
  systemGroups,
} from '../permission/permission.ts';
import type { RealmSettings, TopicsPolicy } from '../realm/realm.ts';
import type { Channel } from './channel.ts';

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
