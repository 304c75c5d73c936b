import { describe, expect, it } from 'vitest';
import { key } from '../../shared/table/keys.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import {
  badRequest,
  change,
  changed,
  expectRefused,
  notPermitted,
  payloadsAfter,
  storedRealm,
} from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const property = (name: string, value: unknown) => ({ type: 'realm', op: 'update', property: name, value });
const dictionary = (data: object) => ({ type: 'realm', op: 'update_dict', property: 'default', data });

/** A value of each setting that is no group, as it is sent and as it is stored and told; none is the default. */
const plain: readonly (readonly [string, unknown, unknown])[] = [
  ['name', ' Ant Hill ', 'Ant Hill'],
  ['waiting_period_threshold', 3, 3],
  ['enable_spectator_access', true, true],
  ['message_retention_days', '30', 30],
  ['owner_full_content_access', true, true],
  ['emails_restricted_to_domains', true, true],
  ['invite_required', false, false],
  ['send_channel_events_messages', false, false],
  ['enable_read_receipts', true, true],
  ['inline_image_preview', false, false],
  ['presence_disabled', true, true],
  ['name_changes_disabled', true, true],
  ['avatar_changes_disabled', true, true],
  ['message_edit_history_visibility_policy', 'moves', 'moves'],
  ['message_content_delete_limit_seconds', 'unlimited', null],
  ['move_messages_within_stream_limit_seconds', '3600', 3600],
  ['move_messages_between_streams_limit_seconds', '"unlimited"', null],
];

describe('PATCH /realm', () => {
  it.each(plain)('changes %s and sends everyone an event (wire facts 1.2)', async (name, sent, value) => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const before = await lastNumber(realm);
    await changed(realm, owner, { [name]: sent });
    const stored = await storedRealm(realm);
    expect({ name: stored.name, description: stored.description, ...stored.settings }).toMatchObject({
      [name]: value,
    });
    const [told] = await payloadsAfter(realm, before);
    expect(told).toEqual(property(name, value));
    // Said again, it changes nothing and tells nothing.
    const last = await lastNumber(realm);
    await changed(realm, owner, { [name]: sent });
    expect(await payloadsAfter(realm, last)).toEqual([]);
    expect((await storedRealm(realm)).version).toBe(stored.version);
  });

  it.each([
    [
      { description: 'We *carry*.' },
      { description: 'We *carry*.', rendered_description: '<p>We <em>carry</em>.</p>' },
    ],
    [{ allow_message_editing: false }, { allow_message_editing: false }],
    [{ message_content_edit_limit_seconds: 'unlimited' }, { message_content_edit_limit_seconds: null }],
    [
      { topics_policy: 'disable_empty_topic' },
      { topics_policy: 'disable_empty_topic', mandatory_topics: true },
    ],
  ])('sends %o in the form of the reference (wire facts 2)', async (given, data) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    await changed(realm, realm.people.admin, given);
    expect(await payloadsAfter(realm, before)).toEqual([dictionary(data)]);
  });

  it('returns message_edit_history_visibility_policy also under its older name', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    await changed(realm, realm.people.admin, { message_edit_history_visibility_policy: 'none' });
    expect(await payloadsAfter(realm, before)).toEqual([
      property('message_edit_history_visibility_policy', 'none'),
      property('allow_edit_history', false),
    ]);
  });

  it('changes many settings in one commit, one version and one slot of the log', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { version } = await storedRealm(realm);
    await changed(realm, realm.people.owner, Object.fromEntries(plain.map(([name, sent]) => [name, sent])));
    const stored = await storedRealm(realm);
    expect(stored.version).toBe(version + 1);
    const told = await payloadsAfter(realm, before);
    const properties = told.flatMap((event) => event.property ?? []);
    expect(properties.sort()).toEqual(plain.map(([name]) => name).sort());
    // The consequences of a longer waiting period have events too.
    expect(told.slice(-2)).toMatchObject([
      { type: 'user_group', op: 'remove_members' },
      { type: 'stream', op: 'delete' },
    ]);
  });

  it('changes nothing when a part is refused', async () => {
    const realm = await newRealm();
    await expectRefused(realm, realm.people.owner, { name: 'Other', topics_policy: 'empty_topic_only' });
    await expectRefused(
      realm,
      realm.people.admin,
      { name: 'Other', waiting_period_threshold: 3 },
      notPermitted,
    );
  });

  it('succeeds if nothing is to be changed', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    await changed(realm, realm.people.admin, {});
    expect(await payloadsAfter(realm, before)).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a blank name', { name: ' ' }],
    ['a name of 41 characters', { name: 'x'.repeat(41) }],
    ['a name that cannot be shown', { name: 'a\u0007' }],
    ['a description of 1001 characters', { description: 'x'.repeat(1001) }],
    ['a policy that only channels have', { topics_policy: 'inherit' }],
    ['an unknown policy', { topics_policy: 'most_topics' }],
    ['an unknown word for earlier versions', { message_edit_history_visibility_policy: 'some' }],
    ['a number below zero', { waiting_period_threshold: -1 }],
    ['half a day', { waiting_period_threshold: 0.5 }],
    ['a word for a boolean', { presence_disabled: '"true"' }],
    ['a provider of video calls that the server does not have', { video_chat_provider: 3 }],
  ])('refuses %s', async (_, given) => {
    const realm = await newRealm();
    await expectRefused(realm, realm.people.owner, given);
  });

  it.each<[string, string, string | number]>([
    ['message_retention_days', '0', 0],
    ['message_retention_days', '-1', -1],
    ['message_retention_days', 'realm_default', 'realm_default'],
    ['message_retention_days', 'forever', 'forever'],
    ['message_content_edit_limit_seconds', '0', 0],
    ['message_content_edit_limit_seconds', '1.5', '1.5'],
    ['message_content_delete_limit_seconds', 'none', 'none'],
    ['move_messages_within_stream_limit_seconds', '-5', -5],
    ['move_messages_between_streams_limit_seconds', '99999999999', 99_999_999_999],
    ['move_messages_between_streams_limit_seconds', '9'.repeat(120), '9'.repeat(100)],
  ])(
    'refuses %s = %s and returns it as bad_value, an integer as a number (wire facts 1.3)',
    async (name, value, told) => {
      const realm = await newRealm();
      await expectRefused(
        realm,
        realm.people.owner,
        { [name]: value },
        { status: 400, body: { code: 'REQUEST_VARIABLE_INVALID', var_name: name, bad_value: told } },
      );
    },
  );

  it('accepts a name of the full length, and removes the description', async () => {
    const realm = await newRealm();
    await changed(realm, realm.people.admin, { name: '😀'.repeat(40), description: 'x'.repeat(1000) });
    await changed(realm, realm.people.admin, { description: '' });
    expect(await storedRealm(realm)).toMatchObject({ name: '😀'.repeat(40), description: '' });
  });

  it('accepts the video call providers that the operator has set up, and none', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const environment = { ...realm.outside.environment, ZOOM_CLIENT_ID: 'zoom' };
    await changed(realm.container(undefined, { environment }), admin, { video_chat_provider: 3 });
    // The choice stays when the operator takes the provider away, and can be said again with other things.
    await changed(realm, admin, { video_chat_provider: 3, name: 'Other' });
    await expectRefused(realm, admin, { video_chat_provider: 8 });
    await changed(realm, admin, { video_chat_provider: 0 });
    expect((await storedRealm(realm)).settings.video_chat_provider).toBe(0);
  });
});

describe('who may change settings (specification 5, wire facts 1.3)', () => {
  it.each(['moderator', 'member', 'guest', 'bot'] as const)('a %s may not', async (name) => {
    const realm = await newRealm();
    await expectRefused(realm, realm.people[name], { name: 'Other' }, notPermitted);
  });

  it.each(
    plain.filter(
      ([name]) =>
        ![
          'waiting_period_threshold',
          'message_retention_days',
          'owner_full_content_access',
          'emails_restricted_to_domains',
          'invite_required',
        ].includes(name),
    ),
  )('administrators may change %s', async (name, sent) => {
    const realm = await newRealm();
    await changed(realm, realm.people.admin, { [name]: sent });
  });

  it.each<[string, unknown]>([
    ['waiting_period_threshold', 3],
    ['message_retention_days', '30'],
    ['message_retention_days', 'unlimited'],
    ['owner_full_content_access', true],
    ['emails_restricted_to_domains', false],
    ['invite_required', true],
    ['can_create_groups', { new: 6 }],
    ['can_manage_all_groups', { new: 2 }],
  ])('only owners may send %s, even if it stays the same', async (name, sent) => {
    const realm = await newRealm();
    await expectRefused(realm, realm.people.admin, { [name]: sent }, notPermitted);
    await changed(realm, realm.people.owner, { [name]: sent });
  });
});

describe('settings that name a channel (specification 4.2, wire facts 4.3)', () => {
  const moderation = 'moderation_request_channel_id';
  const announcements = 'new_stream_announcements_stream_id';

  it('accepts a private channel for moderation requests, and any for announcements', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    // The administrator cannot read it, which is not needed.
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    const before = await lastNumber(realm);
    await changed(realm, admin, { [moderation]: channelId, [announcements]: channelId });
    await changed(realm, admin, { [announcements]: realm.channels.general });
    await changed(realm, admin, { [moderation]: -1 });
    expect(await payloadsAfter(realm, before)).toEqual([
      property(moderation, channelId),
      property(announcements, channelId),
      property(announcements, realm.channels.general),
      property(moderation, -1),
    ]);
    await changed(realm, admin, { [announcements]: -7 });
    expect((await storedRealm(realm)).settings).toMatchObject({ [moderation]: -1, [announcements]: -1 });
  });

  it('refuses a public channel for moderation requests', async () => {
    const realm = await newRealm();
    await expectRefused(realm, realm.people.owner, { [moderation]: realm.channels.general });
  });

  it.each([moderation, announcements])(
    'refuses for %s a channel that is archived or does not exist',
    async (name) => {
      const realm = await newRealm();
      const { channelId } = await givenChannel(realm, { isPrivate: true, isArchived: true });
      for (const id of [channelId, 0, 999_999, 1e15]) {
        await expectRefused(realm, realm.people.owner, { [name]: id });
      }
    },
  );
});

describe('a setting that is newer than the organization', () => {
  it('has its default, without an event until it is changed', async () => {
    const realm = await newRealm();
    const { settings } = await storedRealm(realm);
    const { send_channel_events_messages: _, ...older } = settings;
    await realm.outside.table.update(key('realm', { realm: realm.realm }), {
      set: { settings: older },
      remove: ['v'],
    });
    const before = await lastNumber(realm);
    await changed(realm, realm.people.admin, { name: 'Other', send_channel_events_messages: true });
    expect(await payloadsAfter(realm, before)).toEqual([property('name', 'Other')]);
    expect((await storedRealm(realm)).settings).toEqual(settings);
  });
});

describe('the budget of PATCH /realm', () => {
  it('is 3 round trips cold and 2 warm, also with users, groups and channels', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    const container = realm.container();
    const listed = { direct_members: [member.userId], direct_subgroups: [5] };
    await changed(container, admin, { can_create_bots_group: { new: listed }, name: 'Ants' });
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    await changed(container, admin, { moderation_request_channel_id: channelId, name: 'Bees' });
    expect(container.meter.roundTrips).toBe(2);
    expect(container.meter.writeUnits).toBeLessThanOrEqual(20);
  });

  it('is 2 round trips for a refusal', async () => {
    const realm = await newRealm();
    const container = realm.container();
    expect(await change(container, realm.people.admin, { name: '' })).toMatchObject(badRequest);
    container.meter.reset();
    expect(await change(container, realm.people.admin, { name: '' })).toMatchObject(badRequest);
    // The reads, and the numbers of the log given back.
    expect(container.meter.roundTrips).toBe(2);
  });
});
