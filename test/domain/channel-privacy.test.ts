import { describe, expect, it } from 'vitest';
import { Refusal } from '../../shared/kernel/errors.ts';
import { noGroups } from '../../shared/kernel/lookup.ts';
import {
  checkMakeWebPublic,
  checkPrivacyState,
  mayCreateChannels,
  type Privacy,
} from '../../shared/model/channel/channel.ts';
import {
  type Role,
  roles,
  type Standing,
  standingOf,
  systemGroups,
} from '../../shared/model/permission/permission.ts';
import { defaultRealmSettings } from '../../shared/model/realm/realm.ts';

type Circumstances = Parameters<typeof checkPrivacyState>[1];

const everyone = systemGroups.everyone.id;
const open: Privacy = {
  isPrivate: false,
  isWebPublic: false,
  historyPublicToSubscribers: true,
  isDefault: false,
};
const ordinary: Circumstances = { topicCreators: everyone, isForModeration: false };

/** Whether the state is accepted, or the fields of its refusal. */
function outcome(privacy: Partial<Privacy>, circumstances: Partial<Circumstances> = {}): unknown {
  try {
    checkPrivacyState({ ...open, ...privacy }, { ...ordinary, ...circumstances });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400 });
    return error.fields;
  }
}

const as = (role: Role): Standing =>
  standingOf({ userId: 101, role, dateJoined: '2020-01-01T00:00:00Z' }, [], noGroups, 0, Date.now());

describe('the privacy of a channel', () => {
  it('can be each of the four kinds', () => {
    expect(outcome({})).toBe('accepted');
    expect(outcome({ isWebPublic: true })).toBe('accepted');
    expect(outcome({ isPrivate: true })).toBe('accepted');
    expect(outcome({ isPrivate: true, historyPublicToSubscribers: false })).toBe('accepted');
    expect(outcome({ isDefault: true })).toBe('accepted');
  });

  it('cannot be anything else', () => {
    expect(outcome({ isWebPublic: true, historyPublicToSubscribers: false })).toEqual({});
    expect(outcome({ isWebPublic: true, isPrivate: true })).toEqual({});
    expect(outcome({ historyPublicToSubscribers: false })).toEqual({});
    expect(outcome({ isPrivate: true, isDefault: true })).toEqual({});
  });

  it('must be private for the channel of moderation requests', () => {
    expect(outcome({}, { isForModeration: true })).toEqual({});
    expect(outcome({ isPrivate: true }, { isForModeration: true })).toBe('accepted');
  });

  it('can protect history only if everybody may start topics', () => {
    const protectedHistory = { isPrivate: true, historyPublicToSubscribers: false };
    const parameters = 'history_public_to_subscribers, can_create_topic_group';
    expect(outcome(protectedHistory, { topicCreators: systemGroups.members.id })).toEqual({ parameters });
    expect(outcome({ isPrivate: true }, { topicCreators: systemGroups.members.id })).toBe('accepted');
  });

  it('requires the permission of the organization for its kind', () => {
    const settings = {
      ...defaultRealmSettings,
      can_create_public_channel_group: everyone,
      can_create_private_channel_group: systemGroups.moderators.id,
    };
    expect(mayCreateChannels(as(roles.member), settings, false)).toBe(true);
    expect(mayCreateChannels(as(roles.guest), settings, false)).toBe(false);
    expect(mayCreateChannels(as(roles.member), settings, true)).toBe(false);
    expect(mayCreateChannels(as(roles.moderator), settings, true)).toBe(true);
  });

  it('can be web-public only if that is enabled and the caller has the permission', () => {
    const enabled = { ...defaultRealmSettings, enable_spectator_access: true };
    expect(() => checkMakeWebPublic(as(roles.owner), defaultRealmSettings, true)).toThrow(Refusal);
    expect(() => checkMakeWebPublic(as(roles.administrator), enabled, true)).toThrow(Refusal);
    expect(() => checkMakeWebPublic(as(roles.owner), enabled, true)).not.toThrow();
    expect(() => checkMakeWebPublic(as(roles.owner), enabled, false)).toThrow(Refusal);
  });
});
