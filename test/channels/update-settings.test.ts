import { describe, expect, it } from 'vitest';
import { handler as createFolder } from '../../functions/channelFolders/create.ts';
import { handler as updateFolder } from '../../functions/channelFolders/update.ts';
import { onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import {
  edit,
  edited,
  expectRefused,
  noticesAfter,
  refused,
  storedChannel,
  toldOfChannels,
} from '../support/channel-state.ts';
import { sendTo } from '../support/event-queue.ts';
import { givenChannel, givenRealmSettings } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { lastNumber, storedCount } from '../support/stored.ts';

const { moderators } = systemGroups;
const notOwner = { status: 400, body: { code: 'UNAUTHORIZED_PRINCIPAL' } };

describe('default channels (specification 4.2, wire facts 4.4)', () => {
  it('are chosen by administrators only, not by the administrators of a channel (4.2/is_default_stream)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const groups = { can_administer_channel_group: onlyUser(member.userId) };
    const { channelId } = await givenChannel(realm, { groups });
    for (const value of [true, false]) {
      await expectRefused(realm, member, channelId, { is_default_stream: value });
    }
    await edited(realm, admin, channelId, { is_default_stream: true });
    expect((await storedChannel(realm, channelId)).isDefault).toBe(true);
    await edited(realm, admin, channelId, { is_default_stream: false });
    expect((await storedChannel(realm, channelId)).isDefault).toBe(false);
  });

  it('are not announced in the channel, and an archived one cannot be one', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    await edited(realm, admin, channelId, { is_default_stream: true });
    expect(await noticesAfter(realm, before)).toEqual([]);
    const archived = await givenChannel(realm, { isArchived: true });
    await expectRefused(realm, admin, archived.channelId, { is_default_stream: true });
    await edited(realm, admin, archived.channelId, { is_default_stream: true, is_archived: false });
  });
});

describe('retention (specification 4.2, wire facts 4.4)', () => {
  it.each([
    ['30', 30, 30],
    ['1', 1, 1],
    ['unlimited', -1, -1],
    ['"unlimited"', -1, -1],
    ['realm_default', undefined, null],
  ])(
    '%s is stored as %s and returned as %s (4.2/realm_default, 4.2/unlimited)',
    async (given, stored, told) => {
      const realm = await newRealm();
      const { channelId, name } = await givenChannel(realm, { messageRetentionDays: 7 });
      const before = await lastNumber(realm);
      await edited(realm, realm.people.owner, channelId, { message_retention_days: given });
      expect((await storedChannel(realm, channelId)).messageRetentionDays).toBe(stored);
      expect(await toldOfChannels(realm, before)).toEqual([
        {
          type: 'stream',
          op: 'update',
          stream_id: channelId,
          name,
          property: 'message_retention_days',
          value: told,
        },
      ]);
      expect(await noticesAfter(realm, before)).toHaveLength(1);
    },
  );

  it.each(['0', '-1', '1.5', 'forever', '', 'null', '99999999'])('is refused for %s', async (given) => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const reply = {
      status: 400,
      body: { code: 'REQUEST_VARIABLE_INVALID', var_name: 'message_retention_days' },
    };
    await expectRefused(realm, realm.people.owner, channelId, { message_retention_days: given }, reply);
  });

  it('can be changed only by owners', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    for (const given of ['30', 'unlimited', 'realm_default', 'nonsense']) {
      await expectRefused(realm, realm.people.admin, channelId, { message_retention_days: given }, notOwner);
    }
  });
});

describe('is_archived (specification 3 and 4.2, wire facts 4.4)', () => {
  it('false takes a channel out of the archive: "followed by stream/create with the full channel" (4.2/is_archived)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isArchived: true }, [admin]);
    const before = await lastNumber(realm);
    await edited(realm, admin, channelId, { is_archived: false });
    expect(await toldOfChannels(realm, before)).toMatchObject([
      { op: 'update', property: 'is_archived', value: false, stream_id: channelId, name },
      { op: 'create', streams: [{ stream_id: channelId, is_archived: false, subscriber_count: 1 }] },
    ]);
    expect(await noticesAfter(realm, before)).toHaveLength(1);
    await sendTo(realm, admin, channelId, 'back');
  });

  it('true is ignored: "only unarchiving is permitted through this operation" (3/unarchive-only)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    await edited(realm, admin, channelId, { is_archived: true });
    expect((await storedChannel(realm, channelId)).isArchived).toBe(false);
  });

  it('false is an error for a channel that is not archived, and for a private one without subscribers', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    await expectRefused(realm, admin, channelId, { is_archived: false });
    const empty = await givenChannel(realm, { isArchived: true, isPrivate: true });
    await expectRefused(realm, admin, empty.channelId, { is_archived: false });
    const peopled = await givenChannel(realm, { isArchived: true, isPrivate: true }, [admin]);
    await edited(realm, admin, peopled.channelId, { is_archived: false });
  });
});

describe('folder_id (specification 4.2)', () => {
  const newFolder = async (realm: TestRealm, name: string): Promise<number> => {
    const given = { name, description: '' };
    return (await realm.call(createFolder, realm.people.admin, given)).body.channel_folder_id;
  };

  it('moves the channel between folders; "null removes it from its current folder" (4.2/folder_id, 4.2/folder_id-null)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const [one, two] = [await newFolder(realm, 'one'), await newFolder(realm, 'two')];
    const { channelId, name } = await givenChannel(realm);
    const before = await lastNumber(realm);
    for (const folder of [one, two, two, null, null]) {
      await edited(realm, admin, channelId, { folder_id: folder });
      expect((await storedChannel(realm, channelId)).folderId ?? null).toBe(folder);
    }
    const at = { type: 'stream', op: 'update', stream_id: channelId, name, property: 'folder_id' };
    expect(await toldOfChannels(realm, before)).toEqual([
      { ...at, value: one },
      { ...at, value: two },
      { ...at, value: null },
    ]);
    expect(await noticesAfter(realm, before)).toEqual([]);
  });

  it('prevents archiving the folder, and cannot be an archived one', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const folder = await newFolder(realm, 'one');
    const { channelId } = await givenChannel(realm);
    await edited(realm, admin, channelId, { folder_id: folder });
    const archive = () =>
      realm.call(updateFolder, admin, { is_archived: true }, { path: { channel_folder_id: folder } });
    expect((await archive()).status).toBe(400);
    await edited(realm, admin, channelId, { folder_id: null });
    expect((await archive()).status).toBe(200);
    await expectRefused(realm, admin, channelId, { folder_id: folder });
  });

  it.each(['999999', '0', '-1', '"1"', 'true'])('refuses %s', async (given) => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await expectRefused(realm, realm.people.admin, channelId, { folder_id: given });
  });
});

describe('topics_policy (specification 3 and 4.2, wire facts 4.4)', () => {
  it.each(['allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'])(
    'can be set to %s, with an event (4.2/topics_policy)',
    async (policy) => {
      const realm = await newRealm();
      const { channelId, name } = await givenChannel(realm);
      const before = await lastNumber(realm);
      await edited(realm, realm.people.admin, channelId, { topics_policy: policy });
      const event = { type: 'stream', op: 'update', stream_id: channelId, name, property: 'topics_policy' };
      expect(await toldOfChannels(realm, before)).toEqual([{ ...event, value: policy }]);
      expect((await storedChannel(realm, channelId)).topicsPolicy).toBe(policy);
      const topic = policy === 'empty_topic_only' ? '' : 'channel events';
      expect((await noticesAfter(realm, before)).map((notice) => notice.topic)).toEqual([topic]);
    },
  );

  it('can be changed only by members of "can_set_topics_policy_group"', async () => {
    const realm = await newRealm({ can_set_topics_policy_group: moderators.id });
    const { admin, member } = realm.people;
    const groups = { can_administer_channel_group: onlyUser(member.userId) };
    const { channelId } = await givenChannel(realm, { groups });
    await expectRefused(realm, member, channelId, { topics_policy: 'allow_empty_topic' });
    await edited(realm, admin, channelId, { topics_policy: 'allow_empty_topic' });
    await givenRealmSettings(realm, { can_set_topics_policy_group: systemGroups.members.id });
    await edited(realm, member, channelId, { topics_policy: 'inherit' });
  });

  it('"empty_topic_only is accepted only when every existing message is already in the empty topic" (3/empty_topic_only-condition)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    await sendTo(realm, member, channelId, 'in the empty one', { topic: '' });
    await edited(realm, admin, channelId, { topics_policy: 'empty_topic_only' });
    await sendTo(realm, member, channelId, 'still there', { topic: '' });
    const { channelId: named } = await givenChannel(realm, {}, [member]);
    await sendTo(realm, member, named, 'in a named one');
    await expectRefused(realm, admin, named, { topics_policy: 'empty_topic_only' });
  });

  it('applies to notices too, which use the empty topic under empty_topic_only', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    await edited(realm, admin, channelId, { topics_policy: 'empty_topic_only', description: 'one' });
    await edited(realm, admin, channelId, { description: 'two' });
    expect(await storedCount(realm, channelId)).toMatchObject({ onlyEmptyTopic: true });
    expect(await storedCount(realm, channelId)).not.toHaveProperty('namedTopics');
    await edited(realm, admin, channelId, { topics_policy: 'inherit', description: 'three' });
    expect((await noticesAfter(realm, before)).map(({ topic }) => topic)).toEqual([
      ...['', '', ''],
      ...['channel events', 'channel events'],
    ]);
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await storedCount(realm, channelId)).not.toHaveProperty('onlyEmptyTopic');
    await expectRefused(realm, admin, channelId, { topics_policy: 'empty_topic_only' });
  });

  it.each(['', 'empty', 'INHERIT', '1'])('refuses %s', async (given) => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    expect(await edit(realm, realm.people.admin, channelId, { topics_policy: given })).toMatchObject(refused);
  });
});
