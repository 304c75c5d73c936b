import { type GroupSetting, systemGroups } from '../permission/permission.ts';
import type { RealmSettings } from './realm.ts';

const { nobody, owners, administrators, moderators, fullMembers, members } = systemGroups;

/** The number of each role in the policies that preceded group settings (companion facts 4.9). */
const channelCreation: Readonly<Record<number, number>> = {
  [nobody.id]: 2,
  [owners.id]: 2,
  [administrators.id]: 2,
  [moderators.id]: 4,
  [fullMembers.id]: 3,
};
const webPublicCreation: Readonly<Record<number, number>> = {
  [nobody.id]: 6,
  [owners.id]: 7,
  [administrators.id]: 2,
  [moderators.id]: 4,
};
const wildcardMention: Readonly<Record<number, number>> = {
  [nobody.id]: 6,
  [owners.id]: 5,
  [administrators.id]: 5,
  [moderators.id]: 7,
  [fullMembers.id]: 3,
  [members.id]: 2,
};

/**
 * A group setting as a legacy policy number: the smallest set of roles that contains the group. Named groups can
 * contain anybody, so they map to `widest`.
 */
const policyOf = (setting: GroupSetting, numbers: Readonly<Record<number, number>>, widest: number): number =>
  (typeof setting === 'number' ? numbers[setting] : undefined) ?? widest;

/**
 * Deprecated policies that older clients still read at registration (companion facts 4.9). Current mobile clients do
 * not load without the last one. There are no events for them.
 */
export const legacyPolicies = (settings: RealmSettings) => ({
  realm_create_public_stream_policy: policyOf(settings.can_create_public_channel_group, channelCreation, 1),
  realm_create_private_stream_policy: policyOf(settings.can_create_private_channel_group, channelCreation, 1),
  realm_create_web_public_stream_policy: policyOf(
    settings.can_create_web_public_channel_group,
    webPublicCreation,
    4,
  ),
  realm_wildcard_mention_policy: policyOf(settings.can_mention_many_users_group, wildcardMention, 1),
});
