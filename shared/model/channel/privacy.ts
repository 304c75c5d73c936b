import { badRequest, refusal } from '../../kernel/errors.ts';
import type { GroupSetting } from '../permission/group-setting.ts';
import { holds, holdsUnlessGuest, type Standing } from '../permission/permission.ts';
import { systemGroups } from '../permission/system-group.ts';
import type { RealmSettings } from '../realm/realm.ts';
import type { Channel } from './channel.ts';

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
