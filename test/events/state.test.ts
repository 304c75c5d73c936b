import { describe, expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as setVisibility } from '../../functions/topics/setVisibility.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { stateTypes } from '../../shared/domain/register/state.ts';
import { loadReadStates } from '../../shared/model/message/read-state.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { limits } from '../../shared/model/realm/realm.ts';
import { key } from '../../shared/table/keys.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { givenBot, givenChangedUser, givenChannel, givenSettings, givenUser } from '../support/given.ts';
import { flagged, givenMessages } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

// biome-ignore lint/suspicious/noExplicitAny: the state is what the tests look into
type State = any;

const stateOf = async (
  realm: TestRealm,
  person: Person,
  types: readonly string[] | null,
  parameters: object = {},
): Promise<State> => (await givenClient(realm, person, { fetch_event_types: types, ...parameters })).state;

const namesOf = (channels: { name: string }[]): string[] => channels.map(({ name }) => name);

describe('the state of the organization', () => {
  it('has the limits and the settings that clients need (4.1/content-length, 4.1/topic-length, 4.2/new_name-length, 4.2/description-length, 4.3/name-length, 4.3/description-length)', async () => {
    const realm = await newRealm({ topics_policy: 'disable_empty_topic' });
    const state = await stateOf(realm, realm.people.member, ['realm']);
    expect(state).toMatchObject({
      max_message_length: limits.message,
      max_topic_length: limits.topic,
      max_stream_name_length: limits.channelName,
      max_stream_description_length: limits.channelDescription,
      max_channel_folder_name_length: limits.folderName,
      max_channel_folder_description_length: limits.folderDescription,
      max_reminder_note_length: expect.any(Number),
      max_file_upload_size_mib: expect.any(Number),
      max_avatar_file_size_mib: expect.any(Number),
      max_icon_file_size_mib: expect.any(Number),
      max_bulk_new_subscription_messages: expect.any(Number),
      event_queue_longpoll_timeout_seconds: 90,
      realm_name: 'Test',
      realm_topics_policy: 'disable_empty_topic',
      realm_mandatory_topics: true,
      realm_empty_topic_display_name: 'general chat',
      realm_can_mention_many_users_group: systemGroups.administrators.id,
      realm_owner_full_content_access: false,
      realm_url: `http://${realm.host}`,
      realm_available_video_chat_providers: { disabled: { id: 0 } },
      realm_default_external_accounts: { github: { url_pattern: expect.stringContaining('%(username)s') } },
    });
    expect(state.server_supported_permission_settings.stream.can_subscribe_group).toEqual({
      require_system_group: false,
      allow_internet_group: false,
      allow_nobody_group: true,
      allow_everyone_group: false,
      default_group_name: 'role:nobody',
      default_for_system_groups: null,
      allowed_system_groups: [],
    });
    // Only the settings of groups have another default for the groups of the roles.
    const { realm: ofRealm, stream, group } = state.server_supported_permission_settings;
    const inSystemGroups = (settings: object) => [
      ...new Set(Object.values(settings).map((setting) => setting.default_for_system_groups)),
    ];
    expect([ofRealm, stream, group].map(inSystemGroups)).toEqual([[null], [null], ['role:nobody']]);
    const { default_group_name: creator } =
      state.server_supported_permission_settings.stream.can_administer_channel_group;
    expect(creator).toBe('channel_creator');
  });
});

describe('the state of GIFs', () => {
  it('lists each rating with its number, under the names of feature level 453', async () => {
    const realm = await newRealm();
    const { state } = await givenClient(realm, realm.people.member, { fetch_event_types: ['realm'] });
    const options = Object.entries<{ id: number; name: string }>(state.gif_rating_policy_options);
    expect(options.map(([word, { id }]) => [word, id])).toEqual([
      ['disabled', 0],
      ['y', 1],
      ['g', 2],
      ['pg', 3],
      ['pg-13', 4],
      ['r', 5],
    ]);
    for (const [, { name }] of options) expect(name).toMatch(/GIFs/);
    expect(state.realm_gif_rating_policy).toBe(2);
    for (const dropped of ['gif_rating_options', 'giphy_rating_options', 'realm_giphy_rating']) {
      expect(state).not.toHaveProperty(dropped);
    }
  });
});

describe('the state at feature level 500 (companion facts 4.9)', () => {
  it('has the group settings, switches and numbers that clients look for', async () => {
    const realm = await newRealm({ can_create_bots_group: systemGroups.administrators.id });
    const state = await stateOf(realm, realm.people.member, null);
    expect(state).toMatchObject({
      realm_can_invite_users_group: systemGroups.members.id,
      realm_create_multiuse_invite_group: systemGroups.administrators.id,
      realm_can_create_write_only_bots_group: systemGroups.administrators.id,
      realm_can_summarize_topics_group: systemGroups.nobody.id,
      realm_can_manage_billing_group: systemGroups.administrators.id,
      realm_can_set_delete_message_policy_group: systemGroups.moderators.id,
      realm_workplace_users_group: systemGroups.everyone.id,
      realm_enable_guest_user_indicator: true,
      realm_enable_guest_user_dm_warning: true,
      realm_media_preview_size: 100,
      realm_default_avatar_source: 'G',
      realm_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      realm_billing: { has_pending_sponsorship_request: false },
      klipy_api_key: '',
      navigation_tour_video_url: null,
      realm_create_public_stream_policy: 1,
      realm_create_private_stream_policy: 1,
      realm_create_web_public_stream_policy: 7,
      realm_wildcard_mention_policy: 5,
    });
    expect(state.realm_users[0]).toMatchObject({ is_deleted: false, is_imported_stub: false });
  });

  it.each([
    'is_billing_admin',
    'stream_name_max_length',
    'stream_description_max_length',
    'gif_rating_options',
    'giphy_rating_options',
    'realm_giphy_rating',
    'push_devices',
    'realm_is_zephyr_mirror_realm',
  ])('no longer has %s', async (dropped) => {
    const realm = await newRealm();
    expect(await stateOf(realm, realm.people.member, null)).not.toHaveProperty(dropped);
  });

  it.each([
    [systemGroups.owners.id, { create: 2, webPublic: 7, wildcard: 5 }],
    [systemGroups.administrators.id, { create: 2, webPublic: 2, wildcard: 5 }],
    [systemGroups.moderators.id, { create: 4, webPublic: 4, wildcard: 7 }],
    [systemGroups.fullMembers.id, { create: 3, webPublic: 4, wildcard: 3 }],
    [systemGroups.members.id, { create: 1, webPublic: 4, wildcard: 2 }],
    [systemGroups.everyone.id, { create: 1, webPublic: 4, wildcard: 1 }],
    [systemGroups.nobody.id, { create: 2, webPublic: 6, wildcard: 6 }],
    [
      { direct_members: [5], direct_subgroups: [] },
      { create: 1, webPublic: 4, wildcard: 1 },
    ],
  ])('returns the group setting %o as the deprecated numbers too', async (group, expected) => {
    const realm = await newRealm({
      can_create_public_channel_group: group,
      can_create_private_channel_group: group,
      can_create_web_public_channel_group: group,
      can_mention_many_users_group: group,
    });
    expect(await stateOf(realm, realm.people.member, ['realm'])).toMatchObject({
      realm_create_public_stream_policy: expected.create,
      realm_create_private_stream_policy: expected.create,
      realm_create_web_public_stream_policy: expected.webPublic,
      realm_wildcard_mention_policy: expected.wildcard,
    });
  });
});

describe('the state of people', () => {
  it("has all users, active or not, and the caller's own data", async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const gone = await givenUser(realm);
    await givenChangedUser(realm, gone, { isActive: false });
    const state = await stateOf(realm, member, ['realm_user']);
    const ids = (users: { user_id: number }[]): number[] => users.map(({ user_id }) => user_id);
    expect(ids(state.realm_users).sort()).toEqual(
      Object.values(realm.people)
        .map(({ userId }) => userId)
        .sort(),
    );
    expect(ids(state.realm_non_active_users)).toEqual([gone.userId]);
    expect(state.cross_realm_bots).toMatchObject([{ is_bot: true, is_system_bot: true }]);
    expect(state).toMatchObject({
      user_id: member.userId,
      email: member.email,
      delivery_email: member.email,
      full_name: 'Max Member',
      is_admin: false,
      is_owner: false,
      is_guest: false,
      can_create_streams: true,
      can_create_web_public_streams: false,
      avatar_url: expect.stringContaining('https://'),
    });
  });

  it('says whether channels can be web-public here, and whether the caller may make them so (4.2/is_web_public-server)', async () => {
    const realm = await newRealm({ enable_spectator_access: true });
    const stateIn = (environment?: { WEB_PUBLIC_STREAMS_ENABLED: string }) =>
      stateOf(realm.container(undefined, environment && { environment }), realm.people.owner, [
        'realm',
        'realm_user',
      ]);
    const on = { server_web_public_streams_enabled: true, can_create_web_public_streams: true };
    const off = { server_web_public_streams_enabled: false, can_create_web_public_streams: false };
    expect(await stateIn()).toMatchObject(on);
    expect(await stateIn({ WEB_PUBLIC_STREAMS_ENABLED: 'true' })).toMatchObject(on);
    expect(await stateIn({ WEB_PUBLIC_STREAMS_ENABLED: 'false' })).toMatchObject(off);
  });

  it('has notification_settings_null as clients can handle it (wire facts 14.1)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenSettings(realm, member, { enable_stream_push_notifications: true });
    await givenChannel(realm, { name: 'tea' }, [member]);
    const told = async (capabilities: object) => {
      const modern = { client_capabilities: capabilities };
      const { subscriptions } = await stateOf(realm, member, ['subscription'], modern);
      return subscriptions.find(({ name }: { name: string }) => name === 'tea');
    };
    const unset = { push_notifications: null, desktop_notifications: null, wildcard_mentions_notify: null };
    expect(await told({ notification_settings_null: true })).toMatchObject(unset);
    const followed = {
      push_notifications: true,
      desktop_notifications: false,
      audible_notifications: false,
      email_notifications: false,
      wildcard_mentions_notify: true,
    };
    expect(await told({})).toMatchObject(followed);
  });

  it('has full avatar URLs for clients that cannot derive them', async () => {
    const realm = await newRealm();
    const state = await stateOf(realm, realm.people.member, ['realm_user'], { client_gravatar: false });
    for (const { avatar_url } of state.realm_users) expect(avatar_url).toContain('https://');
    const short = await stateOf(realm, realm.people.member, ['realm_user']);
    for (const { avatar_url } of short.realm_users) expect(avatar_url).toBeNull();
  });

  it('shows guests only those whom they know, where they may not see everyone (wire facts 3.8)', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest, member } = realm.people;
    const stranger = await givenUser(realm);
    const modern = { client_capabilities: { user_list_incomplete: true } };
    const known = await stateOf(realm, guest, ['realm_user'], modern);
    const ids = known.realm_users.map(({ user_id }: { user_id: number }) => user_id);
    expect(ids).toContain(member.userId);
    expect(ids).not.toContain(stranger.userId);
    const client = await givenClient(realm, guest, { event_types: ['realm_user'], ...modern });
    await givenUser(realm);
    expect(await client.poll()).toEqual([]);
  });

  it('has hidden users for clients that need every user, without any personal data (wire facts 14.1)', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest } = realm.people;
    const stranger = await givenUser(realm, { role: 200, timezone: 'Europe/Berlin' });
    await givenChangedUser(realm, await givenUser(realm), { isActive: false });
    const client = await givenClient(realm, guest, {
      event_types: ['realm_user'],
      fetch_event_types: ['realm_user'],
    });
    const { realm_users, realm_non_active_users } = client.state;
    const nobody = (userId: number) => ({
      user_id: userId,
      full_name: 'Unknown user',
      email: `user${userId}@hidden.invalid`,
      delivery_email: `user${userId}@hidden.invalid`,
      role: 400,
      is_owner: false,
      is_admin: false,
      is_guest: false,
      is_bot: false,
      bot_type: null,
      is_active: true,
      is_deleted: false,
      is_imported_stub: false,
      date_joined: '1970-01-01T00:00+00:00',
      avatar_url: null,
      avatar_version: 1,
      timezone: '',
      profile_data: {},
    });
    expect(realm_users).toContainEqual(nobody(stranger.userId));
    expect(realm_non_active_users).toEqual([]);
    const another = await givenUser(realm);
    expect(await client.poll()).toEqual([
      { id: eventIdOf(another.userId), type: 'realm_user', op: 'add', person: nobody(another.userId) },
    ]);
  });

  it('has the bots that the caller may manage, and the groups with their members', async () => {
    const realm = await newRealm();
    const { member, owner, admin, bot } = realm.people;
    const other = await givenBot(realm, admin);
    const types = ['realm_bot', 'realm_user_groups'];
    const [own, all] = await Promise.all([stateOf(realm, member, types), stateOf(realm, owner, types)]);
    const ids = (state: State): number[] =>
      state.realm_bots.map(({ user_id }: { user_id: number }) => user_id);
    expect(ids(own)).toEqual([bot.userId]);
    expect(ids(all).sort()).toEqual([bot.userId, other.userId].sort());
    const owners = own.realm_user_groups.find(({ name }: { name: string }) => name === 'role:owners');
    expect(owners.members).toEqual([owner.userId]);
  });

  it('has the personal settings as one object, and as single fields for clients that do not know the object', async () => {
    const realm = await newRealm();
    const settings = key('settings', { realm: realm.realm, userId: realm.people.member.userId });
    await realm.outside.table.put(settings, { enter_sends: false, changed: 7 });
    const types = ['user_settings', 'update_display_settings', 'update_global_notifications'];
    const modern = { client_capabilities: { user_settings_object: true } };
    const state = await stateOf(realm, realm.people.member, types, modern);
    expect(state.user_settings).toMatchObject({ enter_sends: false, twenty_four_hour_time: false });
    expect(state.user_settings).not.toHaveProperty('changed');
    expect(state).not.toHaveProperty('twenty_four_hour_time');
    const older = await stateOf(realm, realm.people.member, types);
    expect(older).toMatchObject({ ...state.user_settings, user_settings: state.user_settings });
  });

  it('has the default settings of new accounts, without those that only their owner may set', async () => {
    const realm = await newRealm();
    const { realm_user_settings_defaults: settings } = await stateOf(realm, realm.people.guest, [
      'realm_user_settings_defaults',
    ]);
    expect(settings).toMatchObject({
      enter_sends: false,
      receives_typing_notifications: true,
      emojiset: 'google',
    });
    for (const own of [
      'timezone',
      'enable_marketing_emails',
      'enable_login_emails',
      'allow_private_data_export',
    ]) {
      expect(settings).not.toHaveProperty(own);
    }
  });

  it.each([
    ['administrators', true],
    ['moderators', true],
    ['members', false],
  ])('says to %s whether they are at least moderators (feature level 380)', async (role, expected) => {
    const realm = await newRealm();
    const { admin, moderator, member } = realm.people;
    const person = { administrators: admin, moderators: moderator, members: member }[role] ?? member;
    expect(await stateOf(realm, person, ['realm_user'])).toMatchObject({ is_moderator: expected });
  });
});

describe('the state of channels', () => {
  it('has what the caller is, was and could be subscribed to', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const left = await givenChannel(realm, {}, [admin]);
    const open = await givenChannel(realm, {}, [admin]);
    const hidden = await givenChannel(realm, { isPrivate: true }, [admin]);
    await realm.call(subscribe, member, { subscriptions: [{ name: left.name }] });
    await realm.call(unsubscribe, member, { subscriptions: [left.name] });
    const state = await stateOf(realm, member, ['subscription', 'stream', 'default_streams']);
    expect(namesOf(state.subscriptions)).toEqual(['general', 'random']);
    expect(namesOf(state.unsubscribed)).toEqual([left.name]);
    expect(namesOf(state.never_subscribed)).toEqual([open.name]);
    expect(namesOf(state.streams).sort()).toEqual(['general', 'random', left.name, open.name].sort());
    expect(state.realm_default_streams).toEqual([realm.channels.general]);
    expect(state.subscriptions[0]).toMatchObject({ is_muted: false, color: expect.any(String) });
    expect(JSON.stringify(state)).not.toContain(`"${hidden.name}"`);
    expect(state.subscriptions[0]).not.toHaveProperty('subscribers');
  });

  it('has subscribers if they are requested and the caller may see the channel (wire facts 4.1)', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const closed = await givenChannel(realm, { isPrivate: true }, [member]);
    const asked = { include_subscribers: true };
    const own = await stateOf(realm, member, ['subscription'], asked);
    const mine = own.subscriptions.find(({ name }: { name: string }) => name === closed.name);
    expect(mine.subscribers).toEqual([member.userId]);
    const foreign = await stateOf(realm, admin, ['subscription'], { include_subscribers: 'partial' });
    const known = foreign.never_subscribed.find(({ name }: { name: string }) => name === closed.name);
    expect(known.subscribers).toEqual([member.userId]);
    expect(foreign.subscriptions[0].subscribers).toContain(member.userId);
    const hidden = await stateOf(realm, moderator, ['subscription', 'stream'], asked);
    expect(JSON.stringify(hidden)).not.toContain(`"${closed.name}"`);
  });

  it('has archived channels for clients that know them, and no default ones for guests', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const archived = await givenChannel(realm, { isArchived: true }, [member]);
    const plain = await stateOf(realm, member, ['subscription', 'stream']);
    expect(namesOf(plain.subscriptions)).not.toContain(archived.name);
    expect(namesOf(plain.streams)).not.toContain(archived.name);
    const modern = { client_capabilities: { archived_channels: true } };
    const full = await stateOf(realm, member, ['subscription', 'stream'], modern);
    expect(namesOf(full.subscriptions)).toContain(archived.name);
    expect(namesOf(full.streams)).toContain(archived.name);
    const { realm_default_streams } = await stateOf(realm, guest, ['default_streams']);
    expect(realm_default_streams).toEqual([]);
  });
});

describe('the state of messages', () => {
  it('has visibility policies of topics, under both of their names', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const set = (topic: string, visibility_policy: number) =>
      realm.call(setVisibility, member, { stream_id: general, topic, visibility_policy });
    await set('loud', 1);
    await set('', 3);
    await set('taken back', 3);
    await set('taken back', 0);
    const state = await stateOf(realm, member, ['user_topic', 'muted_topics'], { client_capabilities: {} });
    expect(state).not.toHaveProperty('muted_topics');
    expect(state.user_topics).toEqual([
      {
        stream_id: general,
        topic_name: 'general chat',
        visibility_policy: 3,
        last_updated: expect.any(Number),
      },
      { stream_id: general, topic_name: 'loud', visibility_policy: 1, last_updated: expect.any(Number) },
    ]);
    const old = await stateOf(realm, member, ['muted_topics']);
    expect(old.muted_topics).toEqual([['general', 'loud', expect.any(Number)]]);
  });

  it('has the unread messages up to the point where the events begin', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const one = await sendTo(realm, admin, general, '@**Max Member** one');
    const two = await sendTo(realm, admin, [member.userId], 'two');
    const client = await givenClient(realm, member, {
      event_types: ['message'],
      fetch_event_types: ['update_message_flags'],
    });
    const three = await sendTo(realm, admin, general, 'three');
    expect(client.state.unread_msgs).toMatchObject({
      count: 2,
      streams: [{ stream_id: general, topic: 'hi', unread_message_ids: [one] }],
      pms: [{ other_user_id: admin.userId, unread_message_ids: [two] }],
      mentions: [one],
    });
    expect(await client.poll()).toMatchObject([{ id: eventIdOf(three) }]);
  });

  it('is read faster the next time, once many messages were read long ago', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, admin, general, (i) => `t${i % 3}`, 260);
    const [first, ...others] = ids as [number, ...number[]];
    await flagged(realm, member, 'add', 'read', others);
    const states = () => loadReadStates(realm.outside.table, realm.realm, member.userId);
    expect(await states()).toHaveLength(3);
    realm.pass(120_000);
    const told = await stateOf(realm, member, ['update_message_flags']);
    // A floor under all of it says as much as what was noted of two topics, which is gone.
    expect(await states()).toMatchObject([{ unread: new Set([first]) }]);
    expect((await stateOf(realm, member, ['update_message_flags'])).unread_msgs).toEqual(told.unread_msgs);
    expect(told.unread_msgs).toMatchObject({ count: 1, streams: [{ unread_message_ids: [first] }] });
  });

  it('has the newest messages of direct conversations', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    await sendTo(realm, admin, [member.userId], 'one');
    const two = await sendTo(realm, owner, [member.userId, admin.userId], 'two');
    const three = await sendTo(realm, member, [admin.userId], 'three');
    const self = await sendTo(realm, member, [member.userId], 'to myself');
    const state = await stateOf(realm, member, ['recent_private_conversations', 'message']);
    expect(state.recent_private_conversations).toEqual([
      { max_message_id: self, user_ids: [] },
      { max_message_id: three, user_ids: [admin.userId] },
      { max_message_id: two, user_ids: [owner.userId, admin.userId].sort((a, b) => a - b) },
    ]);
    expect(state.max_message_id).toBe(self);
  });
});

describe('the whole state', () => {
  it('is returned if no types are named', async () => {
    const realm = await newRealm();
    const state = await stateOf(realm, realm.people.member, null);
    for (const part of [
      'alert_words',
      'channel_folders',
      'cross_realm_bots',
      'custom_profile_fields',
      'drafts',
      'has_webex_token',
      'has_zoom_token',
      'muted_users',
      'onboarding_steps',
      'presences',
      'realm_bots',
      'realm_default_stream_groups',
      'realm_default_streams',
      'realm_domains',
      'realm_emoji',
      'realm_linkifiers',
      'realm_non_active_users',
      'realm_playgrounds',
      'realm_user_groups',
      'realm_users',
      'recent_private_conversations',
      'saved_snippets',
      'scheduled_messages',
      'starred_messages',
      'streams',
      'subscriptions',
      'unread_msgs',
      'unsubscribed',
      'user_settings',
      'user_status',
      'user_topics',
    ]) {
      expect(state).toHaveProperty(part);
    }
  });

  it('can be requested one type at a time', async () => {
    const realm = await newRealm();
    for (const type of stateTypes) await stateOf(realm, realm.people.guest, [type]);
    expect(stateTypes.length).toBeGreaterThan(30);
  });
});
