import { describe, expect, test } from 'vitest';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type ItemName, type Key, key, partition } from '../../shared/table/keys.ts';
import { out } from '../support/accounts.ts';
import { givenDomain } from '../support/domain-state.ts';
import { upload } from '../support/emoji.ts';
import { givenClient } from '../support/event-queue.ts';
import { type Contents, exported } from '../support/export-request.ts';
import { createField, filled, types } from '../support/field-state.ts';
import { createFolder } from '../support/folder-state.ts';
import {
  givenBot,
  givenChangedChannel,
  givenChannel,
  givenRealmSettings,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { createGroup } from '../support/group-state.ts';
import { move, update } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { movingPicture } from '../support/pictures.ts';
import { react, THUMB } from '../support/reactions.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const consents = (realm: TestRealm, person: Person): Promise<void> =>
  givenSettings(realm, person, { allow_private_data_export: true });

/** What was said in messages that are in an export. */
const said = ({ records }: Contents) => (records.messages ?? []).map(({ content }) => content);
const channelsIn = ({ records }: Contents) => (records.channels ?? []).map(({ stream_id }) => stream_id);

/** An organization in which two users talk in private, and only the first one consents. */
async function givenPrivacy() {
  const realm = await newRealm();
  const { owner, member, admin, guest } = realm.people;
  await consents(realm, owner);
  const secret = { isPrivate: true };
  const shared = await givenChannel(realm, { ...secret, name: 'shared' }, [owner, member]);
  const theirs = await givenChannel(realm, { ...secret, name: 'theirs' }, [member, admin]);
  const late = await givenChannel(realm, { ...secret, name: 'late', historyPublicToSubscribers: false }, [
    member,
  ]);
  await sent(realm, member, { to: realm.channels.general }, 'for all');
  await sent(realm, member, { to: shared.channelId }, 'heard by the owner');
  await sent(realm, member, { to: theirs.channelId }, 'heard by the admin');
  await sent(realm, member, { to: late.channelId }, 'before the owner came');
  await givenSubscription(realm, owner, late.channelId);
  await sent(realm, member, { to: late.channelId }, 'after the owner came');
  await sent(realm, member, { people: [owner, guest] }, 'to the owner');
  await sent(realm, owner, { people: [member] }, 'from the owner');
  await sent(realm, member, { people: [admin] }, 'to the admin');
  await sent(realm, member, { people: [member] }, 'to myself');
  return { realm, channels: { ...realm.channels, shared, theirs, late } };
}

describe('what is in an export', () => {
  test('a public export has only public channels and their messages (4.8/public)', async () => {
    const { realm, channels } = await givenPrivacy();
    const web = await givenChannel(realm, { isWebPublic: true });
    await givenChangedChannel(realm, channels.random, { isArchived: true });
    const contents = await exported(realm, 'public');
    expect(said(contents)).toEqual(['for all']);
    expect(channelsIn(contents)).toEqual([channels.general, channels.random, web.channelId]);
    for (const name of ['shared', 'theirs', 'late']) expect(contents.text).not.toContain(`"${name}"`);
    const open = new Set(channelsIn(contents));
    for (const { stream_id } of contents.records.subscriptions ?? []) expect(open).toContain(stream_id);
  });

  test('full_with_consent also has the private messages that consenting users could read (4.8/full_with_consent)', async () => {
    const { realm, channels } = await givenPrivacy();
    const contents = await exported(realm, 'full_with_consent');
    expect(said(contents)).toEqual([
      'for all',
      'heard by the owner',
      'after the owner came',
      'to the owner',
      'from the owner',
    ]);
    expect(channelsIn(contents)).not.toContain(channels.theirs.channelId);
    expect(contents.text).not.toContain('"theirs"');
  });

  test('full_with_consent ignores the consent of deactivated users and withdrawn consents (4.8/full_with_consent)', async () => {
    const { realm } = await givenPrivacy();
    const { owner, member, admin } = realm.people;
    const left = await givenUser(realm);
    await consents(realm, left);
    await sent(realm, left, { people: [admin] }, 'from one who left');
    await out(realm, owner, left);
    await givenSettings(realm, owner, { allow_private_data_export: false });
    const bot = await givenBot(realm, member);
    await consents(realm, bot);
    await sent(realm, bot, { people: [member] }, 'from a bot');
    expect(said(await exported(realm, 'full_with_consent'))).toEqual(['for all']);
  });

  test('full_without_consent has all messages (4.8/full_without_consent)', async () => {
    const { realm, channels } = await givenPrivacy();
    const contents = await exported(realm, 'full_without_consent');
    expect(said(contents).length).toBe(9);
    expect(channelsIn(contents)).toContain(channels.theirs.channelId);
  });

  test('every export has the organization, users, channels, groups, fields and emoji, and all that messages refer to', async () => {
    const realm = await newRealm({ topics_policy: 'disable_empty_topic' });
    const { admin, member, owner } = realm.people;
    const { general } = realm.channels;
    await givenDomain(realm, 'example.org', true);
    const folder = await createFolder(realm, 'Projects');
    await givenChangedChannel(realm, general, { folderId: folder });
    const inner = await createGroup(realm, admin, { members: [member.userId] });
    const group = await createGroup(realm, admin, {
      name: 'outer',
      members: [owner.userId],
      subgroups: [inner],
    });
    const field = await createField(realm, types.shortText, { name: 'Shoe size' });
    await filled(realm, member, field, '44');
    await upload(realm, member, 'dance', [await movingPicture('gif')]);
    const id = await sent(realm, member, { to: general, topic: 'Tea' }, 'with **milk**');
    await react(realm, admin, id, THUMB);
    await react(realm, owner, id, { emoji_name: 'dance' });
    await out(realm, owner, admin);

    const { records, others, manifest, counts } = await exported(realm, 'public');
    expect(manifest?.counts).toEqual(counts);
    expect(JSON.parse(others.get('organization.json')?.toString() ?? '')).toMatchObject({
      name: 'Test',
      settings: { topics_policy: 'disable_empty_topic', waiting_period_threshold: 0 },
      domains: [{ domain: 'example.org', allow_subdomains: true }],
      system_groups: Object.values(systemGroups),
    });
    expect(records.channel_folders).toMatchObject([{ id: folder, name: 'Projects' }]);
    expect(records.channels).toMatchObject([{ stream_id: general, folder_id: folder }, { name: 'random' }]);
    expect(records.user_groups).toMatchObject([
      { id: inner, members: [member.userId], direct_subgroup_ids: [] },
      { id: group, name: 'outer', members: [owner.userId], direct_subgroup_ids: [inner] },
    ]);
    expect(records.custom_profile_fields).toMatchObject([{ id: field, name: 'Shoe size' }]);
    const told = new Map(records.users?.map((user) => [user.user_id, user]));
    expect(told.get(member.userId)).toMatchObject({ profile_data: { [field]: { value: '44' } } });
    expect(told.get(admin.userId)).toMatchObject({ is_active: false, email: admin.email });
    expect(records.subscriptions).toContainEqual({ user_id: member.userId, stream_id: general });
    const [emoji] = records.emoji ?? [];
    expect(emoji).toMatchObject({ name: 'dance', author_id: member.userId, deactivated: false });
    expect(others.get(String(emoji?.image))?.subarray(0, 3).toString()).toBe('GIF');
    expect(others.get(String(emoji?.still))?.subarray(1, 4).toString()).toBe('PNG');
    expect(records.messages).toEqual([
      {
        id,
        sender_id: member.userId,
        timestamp: expect.any(Number),
        client: 'ParlanceTest',
        type: 'channel',
        stream_id: general,
        topic: 'Tea',
        content: 'with **milk**',
        rendered_content: '<p>with <strong>milk</strong></p>',
        is_me_message: false,
        reactions: [
          { ...THUMB, user_id: admin.userId },
          {
            emoji_name: 'dance',
            emoji_code: String(emoji?.id),
            reaction_type: 'realm_emoji',
            user_id: owner.userId,
          },
        ],
      },
    ]);
  });

  test('values of deleted profile fields are left out', async () => {
    const realm = await newRealm();
    const field = await createField(realm, types.shortText);
    await filled(realm, realm.people.member, field, 'of old');
    await realm.outside.table.update(key('profileFields', { realm: realm.realm }), {
      set: { fields: [] },
    });
    expect((await exported(realm, 'full_without_consent')).text).not.toContain('of old');
  });

  test('the settings of the organization do not name a channel that is left out', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    await givenRealmSettings(realm, { moderation_request_channel_id: channelId });
    const settingIn = ({ others }: Contents): number =>
      JSON.parse(others.get('organization.json')?.toString() ?? '').settings.moderation_request_channel_id;
    expect(settingIn(await exported(realm, 'public'))).toBe(-1);
    expect(settingIn(await exported(realm, 'full_without_consent'))).toBe(channelId);
  });
});

describe('earlier versions of messages', () => {
  test('are exported according to the visibility policy, and completely by full_without_consent', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general, topic: 'a' }, 'first');
    await update(realm, member, id, { content: 'second' });
    await move(realm, admin, id, { topic: 'b' });
    const historyIn = async (type: 'public' | 'full_without_consent') =>
      (await exported(realm, type)).records.messages?.find((message) => message.id === id)?.edit_history;
    const moved = { user_id: admin.userId, timestamp: expect.any(Number), topic: 'b', prev_topic: 'a' };
    const edited = {
      user_id: member.userId,
      timestamp: expect.any(Number),
      prev_content: 'first',
      prev_rendered_content: '<p>first</p>',
    };
    expect(await historyIn('public')).toEqual([moved, edited]);
    await givenRealmSettings(realm, { message_edit_history_visibility_policy: 'moves' });
    expect(await historyIn('public')).toEqual([moved]);
    await givenRealmSettings(realm, { message_edit_history_visibility_policy: 'none' });
    expect(await historyIn('public')).toBeUndefined();
    expect(await historyIn('full_without_consent')).toEqual([moved, edited]);
  });

  test('are left out before a move from a channel that is not exported', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { general } = realm.channels;
    const hidden = await givenChannel(realm, { isPrivate: true }, [owner]);
    const id = await sent(realm, owner, { to: hidden.channelId, topic: 'hidden plans' }, 'private words');
    await update(realm, owner, id, { content: 'harmless' });
    const moving = { stream_id: general, topic: 'plans' };
    expect(await move(realm, owner, id, { ...moving, send_notification_to_old_thread: false })).toMatchObject(
      {
        status: 200,
      },
    );
    await update(realm, owner, id, { content: 'quite harmless' });
    const open = await exported(realm, 'public');
    expect(open.records.messages?.find((message) => message.id === id)).toMatchObject({
      content: 'quite harmless',
      edit_history: [{ prev_content: 'harmless' }],
    });
    expect(open.text).not.toContain('private words');
    expect(open.text).not.toContain('hidden plans');
    expect((await exported(realm, 'full_without_consent')).text).toContain('private words');
  });
});

describe('secrets', () => {
  /** Everything in a partition gets something that must not come out. */
  async function taint({ outside }: TestRealm, pk: string, prefix?: string): Promise<number> {
    const { items } = await outside.table.storedPage({ pk, prefix });
    for (const { pk, sk } of items) {
      await outside.table.update({ pk, sk }, { set: { leak: 'secret-attribute' } });
    }
    return items.length;
  }

  test('are in no export: no key, token or digest, and no unexpected kind of item', async () => {
    const realm = await newRealm();
    const { owner, member, admin } = realm.people;
    const at = { realm: realm.realm };
    const { userId } = member;
    const { table } = realm.outside;
    await givenRealmSettings(realm, { leak: 'secret-setting' } as object);
    const client = await givenClient(realm, member);
    const echo = { queue_id: client.queueId, local_id: 'secret-local-id' };
    const id = await sent(realm, member, { to: realm.channels.general }, 'words', echo);
    // What it said before an edit that is not the last one is kept apart where it is long.
    await update(realm, member, id, { content: `${'long '.repeat(1_000)}words` });
    await update(realm, member, id, { content: 'other words' });
    await sent(realm, member, { people: [admin] }, 'private words');
    await upload(realm, owner, 'dance');
    const field = await createField(realm, types.shortText);
    await filled(realm, member, field, 'told');
    const group = await createGroup(realm, owner, { members: [userId] });
    await createFolder(realm, 'Projects');
    await givenDomain(realm, 'example.org');
    const put = <N extends ItemName>(name: N, fields: Parameters<typeof key<N>>[1]) =>
      table.put(key(name, fields) as Key, { secret: `secret-${name}`, token: `secret-${name}`, userId });
    const { general: channelId } = realm.channels;
    await Promise.all([
      put('callToken', { ...at, userId, provider: 'zoom' }),
      put('callState', { ...at, nonce: 'secret-nonce' }),
      put('device', { ...at, userId, deviceId: 7 }),
      put('pushChest', at),
      put('mailAddress', { ...at, channelId, userId, senderId: userId }),
      put('mailToken', { token: `secret-token-${realm.host}` }),
      put('sent', { ...at, userId, token: 'secret-send' }),
    ]);
    const tainted = await Promise.all([
      taint(realm, partition('user', at)),
      taint(realm, partition('channel', at)),
      taint(realm, partition('channelCount', at)),
      taint(realm, partition('subscriber', { ...at, channelId })),
      taint(realm, partition('settings', { ...at, userId }), 'channel/'),
      taint(realm, partition('group', at)),
      taint(realm, partition('member', { ...at, groupId: group })),
      taint(realm, partition('folder', at)),
      taint(realm, partition('emoji', at)),
      taint(realm, partition('profile', at)),
      taint(realm, partition('realm', at)),
      taint(realm, partition('profileFields', at)),
      taint(realm, partition('edit', { ...at, messageId: id })),
      taint(realm, partition('slot', at), key('slot', { ...at, seq: id }).sk),
    ]);
    expect(Math.min(...tainted)).toBeGreaterThan(0);

    const people = Object.values(realm.people);
    const accounts = people.map(({ email }) => table.get('account', { ...at, email }));
    const digests = (await Promise.all(accounts)).map((account) => account?.keyDigest ?? '');
    const keys = people.map(({ apiKey }) => apiKey);
    expect([...digests, ...keys].every((secret) => secret.length >= 32)).toBe(true);
    await consents(realm, member);
    for (const type of ['public', 'full_with_consent', 'full_without_consent'] as const) {
      const { text } = await exported(realm, type);
      expect(text).toContain('other words');
      expect(text.includes('private words')).toBe(type !== 'public');
      expect(text.match(/.{0,40}secret.{0,20}/)).toBeNull();
      for (const secret of [...digests, ...keys, client.queueId]) expect(text).not.toContain(secret);
    }
  });
});
