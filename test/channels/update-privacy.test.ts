import { describe, expect, it } from 'vitest';
import { onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import { edited, expectRefused, refused, storedChannel } from '../support/channel-state.ts';
import { givenChannel, givenRealmSettings } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const { nobody, everyone, members, owners } = systemGroups;

const privacyOf = async (realm: TestRealm, channelId: number) => {
  const { isPrivate, isWebPublic, historyPublicToSubscribers } = await storedChannel(realm, channelId);
  return { isPrivate, isWebPublic, historyPublicToSubscribers };
};

/** "Message says invalid parameters" (specification 4.2). */
const invalidParameters = {
  status: 400,
  body: { code: 'BAD_REQUEST', msg: expect.stringMatching(/^Invalid parameters/) },
};

const isPublic = { isPrivate: false, isWebPublic: false, historyPublicToSubscribers: true };
const isShared = { isPrivate: true, isWebPublic: false, historyPublicToSubscribers: true };
const isProtected = { isPrivate: true, isWebPublic: false, historyPublicToSubscribers: false };
const isOpen = { isPrivate: false, isWebPublic: true, historyPublicToSubscribers: true };

const states = { public: isPublic, shared: isShared, protected: isProtected, open: isOpen };

/** What becomes of each state under some parameters; undefined where they are refused as invalid together. */
const steps: [keyof typeof states, Readonly<Record<string, boolean>>, keyof typeof states | undefined][] = [
  // "history becomes the opposite of is_private, otherwise unchanged" (wire facts 4.3).
  ['public', { is_private: true }, 'protected'],
  ['public', { is_private: true, history_public_to_subscribers: true }, 'shared'],
  ['shared', { is_private: true }, 'protected'],
  ['shared', { is_private: false }, 'public'],
  ['protected', { is_private: false }, 'public'],
  ['shared', { history_public_to_subscribers: false }, 'protected'],
  ['protected', { history_public_to_subscribers: true }, 'shared'],
  ['public', { history_public_to_subscribers: true }, 'public'],
  ['public', { is_web_public: true }, 'open'],
  ['open', { is_web_public: false }, 'public'],
  ['open', { is_web_public: false, is_private: true }, 'protected'],
  ['shared', { is_web_public: true, is_private: false }, 'open'],
  ['open', { is_private: false }, 'open'],
  // "Error when false for a public or web-public channel and when is_private is false" (specification 4.2).
  ['public', { history_public_to_subscribers: false }, undefined],
  ['open', { history_public_to_subscribers: false }, undefined],
  ['protected', { is_private: false, history_public_to_subscribers: false }, undefined],
  // "web-public and private", "web-public and not shared history" (wire facts 4.3).
  ['open', { is_private: true }, undefined],
  ['open', { is_private: true, history_public_to_subscribers: true }, undefined],
  ['shared', { is_web_public: true }, undefined],
  ['protected', { is_web_public: true }, undefined],
  ['public', { is_private: true, is_web_public: true }, undefined],
];

describe('privacy of a channel (specification 4.2, wire facts 4.3)', () => {
  it.each(steps)(
    '%s with %j becomes %s (4.2/is_private, 4.2/is_web_public, 4.2/history-public, 4.2/invalid-combination)',
    async (from, given, to) => {
      const realm = await newRealm({ enable_spectator_access: true });
      const { owner } = realm.people;
      const { channelId } = await givenChannel(realm, states[from], [owner]);
      if (to === undefined) return expectRefused(realm, owner, channelId, given, invalidParameters);
      await edited(realm, owner, channelId, given);
      expect(await privacyOf(realm, channelId)).toEqual(states[to]);
    },
  );

  it('"depends on being subscribed" for an administrator of a private channel (4.2/private-permissions)', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, isShared, [owner]);
    for (const given of [
      { is_private: false },
      { is_private: true, history_public_to_subscribers: true },
      { history_public_to_subscribers: false },
      { is_web_public: false },
    ]) {
      await expectRefused(realm, admin, channelId, given);
    }
    await edited(realm, owner, channelId, { is_private: false });
    await edited(realm, admin, channelId, { is_private: true });
  });

  it('can also be changed by users who administer the channel and may subscribe themselves or add subscribers, since they can read it', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const own = onlyUser(member.userId);
    for (const name of ['can_subscribe_group', 'can_add_subscribers_group'] as const) {
      const groups = { can_administer_channel_group: own, [name]: own };
      const { channelId } = await givenChannel(realm, { ...isShared, groups });
      await edited(realm, member, channelId, { is_private: false });
    }
    const { channelId } = await givenChannel(realm, {
      ...isShared,
      groups: { can_administer_channel_group: own },
    });
    await expectRefused(realm, member, channelId, { is_private: false });
  });

  it('needs the permission to create channels of the kind that it becomes', async () => {
    const realm = await newRealm({
      can_create_private_channel_group: owners.id,
      can_create_public_channel_group: members.id,
    });
    const { admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, isPublic, [admin, owner]);
    await expectRefused(realm, admin, channelId, { is_private: true });
    await edited(realm, owner, channelId, { is_private: true });
    await edited(realm, admin, channelId, { is_private: false });
    await givenRealmSettings(realm, { can_create_public_channel_group: owners.id });
    await edited(realm, owner, channelId, { is_private: true });
    await expectRefused(realm, admin, channelId, { is_private: false });
  });

  it('is web-public only with "enable_spectator_access" and for "can_create_web_public_channel_group" (4.2/is_web_public-organization, 4.2/is_web_public-caller)', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, isPublic);
    await expectRefused(realm, owner, channelId, { is_web_public: true });
    await givenRealmSettings(realm, { enable_spectator_access: true });
    await expectRefused(realm, admin, channelId, { is_web_public: true });
    await edited(realm, owner, channelId, { is_web_public: true });
    await givenRealmSettings(realm, { can_create_web_public_channel_group: nobody.id });
    await expectRefused(realm, owner, channelId, { is_web_public: true });
    await edited(realm, admin, channelId, { is_web_public: false });
  });

  it('is web-public only where the server setting WEB_PUBLIC_STREAMS_ENABLED is on (4.2/is_web_public-server)', async () => {
    const realm = await newRealm({ enable_spectator_access: true });
    const { owner } = realm.people;
    const off = realm.container(undefined, { environment: { WEB_PUBLIC_STREAMS_ENABLED: 'false' } });
    const on = realm.container(undefined, { environment: { WEB_PUBLIC_STREAMS_ENABLED: 'true' } });
    const { channelId } = await givenChannel(realm, isPublic);
    await expectRefused(off, owner, channelId, { is_web_public: true });
    await edited(on, owner, channelId, { is_web_public: true });
    await expectRefused(off, owner, channelId, { is_web_public: true });
    await edited(off, owner, channelId, { description: 'still' });
    await edited(off, owner, channelId, { is_web_public: false });
  });

  it('is never public for moderation requests, "checked on every call" (4.2/moderation-requests)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, isShared, [owner]);
    await givenRealmSettings(realm, { moderation_request_channel_id: channelId });
    await expectRefused(realm, owner, channelId, { is_private: false });
    await edited(realm, owner, channelId, { description: 'stays private' });
    const open = await givenChannel(realm, isPublic);
    await givenRealmSettings(realm, { moderation_request_channel_id: open.channelId });
    await expectRefused(realm, owner, open.channelId, { description: 'of something else' });
    await edited(realm, owner, open.channelId, { is_private: true });
  });

  it('is never private for a default channel, "current or proposed"', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { ...isPublic, isDefault: true }, [owner]);
    await expectRefused(realm, owner, channelId, { is_private: true });
    await edited(realm, owner, channelId, { is_private: true, is_default_stream: false });
    await expectRefused(realm, owner, channelId, { is_default_stream: true });
    await edited(realm, owner, channelId, { is_private: false, is_default_stream: true });
  });

  it('protects history only where everyone may create topics (4.2/history-topics, 4.2/create-topic-protected, 4.2/invalid-combination)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const groups = { can_create_topic_group: members.id };
    const { channelId } = await givenChannel(realm, { ...isPublic, groups }, [owner]);
    const both = 'history_public_to_subscribers, can_create_topic_group';
    const refusal = { status: 400, body: { ...invalidParameters.body, parameters: both } };
    await expectRefused(realm, owner, channelId, { is_private: true }, refusal);
    await edited(realm, owner, channelId, {
      is_private: true,
      can_create_topic_group: { new: { direct_members: [], direct_subgroups: [everyone.id] } },
    });
    await expectRefused(realm, owner, channelId, { can_create_topic_group: { new: members.id } }, refusal);
    await edited(realm, owner, channelId, {
      history_public_to_subscribers: true,
      can_create_topic_group: { new: members.id },
    });
    expect((await storedChannel(realm, channelId)).groups.can_create_topic_group).toBe(members.id);
  });

  it('can be changed while the channel is archived (specification 9, level 362) (9/level-362)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { ...isPublic, isArchived: true }, [owner]);
    await edited(realm, owner, channelId, { is_private: true });
    expect(await storedChannel(realm, channelId)).toMatchObject({ isPrivate: true, isArchived: true });
  });

  it.each([
    ['is_private', '"true"'],
    ['is_private', '1'],
    ['is_web_public', 'True'],
    ['history_public_to_subscribers', 'null'],
    ['is_default_stream', ''],
  ])('refuses %s = %s', async (name, value) => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await expectRefused(realm, realm.people.owner, channelId, { [name]: value }, refused);
  });
});
