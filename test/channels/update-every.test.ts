import { describe, expect, it } from 'vitest';
import { type Channel, channelGroupNames } from '../../shared/model/channel/channel.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { edited, storedChannel } from '../support/channel-state.ts';
import { createFolder } from '../support/folder-state.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

const { administrators, moderators } = systemGroups;

/** Each property of a channel that can be changed, with another value than that of a new channel. */
const properties: readonly [string, unknown, Partial<Channel>][] = [
  ['description', 'For cooks', { description: 'For cooks' }],
  ['new_name', 'kitchen', { name: 'kitchen' }],
  ['is_private', true, { isPrivate: true }],
  ['is_web_public', true, { isWebPublic: true }],
  ['is_default_stream', true, { isDefault: true }],
  ['topics_policy', 'allow_empty_topic', { topicsPolicy: 'allow_empty_topic' }],
];

describe('what an edit of a channel can change (2.4/properties)', () => {
  it.each(properties)('%s, by an administrator (4.2/administrators)', async (name, value, stored) => {
    const realm = await newRealm({
      enable_spectator_access: true,
      can_create_web_public_channel_group: administrators.id,
    });
    const { channelId } = await givenChannel(realm);
    await edited(realm, realm.people.admin, channelId, { [name]: value });
    expect(await storedChannel(realm, channelId)).toMatchObject({ ...stored, version: 2 });
  });

  it.each(channelGroupNames)('%s, by an administrator (4.2/administrators)', async (name) => {
    const realm = await newRealm();
    const { channelId, groups } = await givenChannel(realm);
    await edited(realm, realm.people.admin, channelId, { [name]: { new: moderators.id } });
    expect((await storedChannel(realm, channelId)).groups).toEqual({ ...groups, [name]: moderators.id });
  });

  it('history, folder and archival, by an administrator (4.2/administrators)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const folderId = await createFolder(realm, 'Kitchens');
    const { channelId } = await givenChannel(realm, { isPrivate: true, isArchived: true }, [admin]);
    await edited(realm, admin, channelId, {
      history_public_to_subscribers: false,
      is_archived: false,
      folder_id: folderId,
    });
    const expected = { historyPublicToSubscribers: false, isArchived: false, folderId };
    expect(await storedChannel(realm, channelId)).toMatchObject(expected);
  });

  it('retention, by owners, who are administrators (wire facts 4.4)', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await edited(realm, realm.people.owner, channelId, { message_retention_days: 30 });
    expect((await storedChannel(realm, channelId)).messageRetentionDays).toBe(30);
  });
});
