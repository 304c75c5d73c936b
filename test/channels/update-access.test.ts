import { describe, expect, it } from 'vitest';
import { onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import {
  edit,
  edited,
  expectRefused,
  invalidChannelId,
  noticesAfter,
  storedChannel,
  toldOfChannels,
} from '../support/channel-state.ts';
import { givenChannel, givenGroup, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const cannotAdminister = { status: 400, body: { code: 'CANNOT_ADMINISTER_CHANNEL' } };

describe('who may change a channel (wire facts 4.1, specification 5)', () => {
  it('an organization administrator may, "subscribed or not" (4.2/administer-administrators)', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    await edited(realm, admin, channelId, { description: 'by an administrator' });
    await edited(realm, owner, channelId, { description: 'by an owner' });
    expect((await storedChannel(realm, channelId)).description).toBe('by an owner');
  });

  it('a member of "can_administer_channel_group" may, through nested groups too, "never a guest" (4.2/can_administer_channel_group)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const cook = await givenUser(realm);
    const { groupId } = await givenGroup(realm, { members: [cook, guest] });
    const both = { direct_members: [member.userId, guest.userId], direct_subgroups: [groupId] };
    const { channelId } = await givenChannel(
      realm,
      { groups: { can_administer_channel_group: both }, isPrivate: true },
      [guest],
    );
    await edited(realm, member, channelId, { description: 'by a member' });
    await edited(realm, cook, channelId, { description: 'by a cook' });
    await expectRefused(realm, guest, channelId, { description: 'by a guest' }, cannotAdminister);
  });

  it('other users who can read it get "CANNOT_ADMINISTER_CHANNEL"', async () => {
    const realm = await newRealm();
    const { member, moderator, bot, guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [guest]);
    for (const person of [member, moderator, bot, guest]) {
      await expectRefused(realm, person, channelId, { description: 'mine' }, cannotAdminister);
    }
  });

  it('a user who cannot see it gets the same reply as for a missing channel (4.2/invalid-channel, 4.2/stream_id)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const hidden = await givenChannel(realm, { isPrivate: true });
    const open = await givenChannel(realm);
    await expectRefused(realm, member, hidden.channelId, { description: 'x' }, invalidChannelId);
    await expectRefused(realm, guest, open.channelId, { description: 'x' }, invalidChannelId);
    const elsewhere = await givenChannel(await newRealm());
    for (const id of [elsewhere.channelId + 1000, 999_999, 0]) {
      const reply = await edit(realm, realm.people.owner, id, { description: 'x', new_name: 'y' });
      expect(reply).toMatchObject(invalidChannelId);
    }
  });

  it('the permission takes effect as soon as it is granted or taken away', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm);
    await edited(realm, admin, channelId, {
      can_administer_channel_group: { new: onlyUser(member.userId) },
    });
    await edited(realm, member, channelId, {
      can_administer_channel_group: { new: systemGroups.nobody.id },
    });
    await expectRefused(realm, member, channelId, { description: 'x' }, cannotAdminister);
  });
});

describe('an edit as a whole', () => {
  it('that is empty changes nothing and sends no event (specification 4.2: "All body parameters are optional") (4.2/optional, 4.2/reply)', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const before = await lastNumber(realm);
    await edited(realm, realm.people.admin, channelId, {});
    expect(await toldOfChannels(realm, before)).toEqual([]);
    expect((await storedChannel(realm, channelId)).version).toBe(1);
  });

  it('that gives every thing its present value changes nothing and sends no event', async () => {
    const realm = await newRealm();
    const { channelId, description, groups } = await givenChannel(realm, { messageRetentionDays: 30 });
    const before = await lastNumber(realm);
    await edited(realm, realm.people.owner, channelId, {
      description,
      is_private: false,
      is_web_public: false,
      history_public_to_subscribers: true,
      is_default_stream: false,
      message_retention_days: 30,
      is_archived: true,
      folder_id: null,
      topics_policy: 'inherit',
      ...Object.fromEntries(
        Object.entries(groups).map(([name, value]) => [name, { new: value, old: value }]),
      ),
    });
    expect(await toldOfChannels(realm, before)).toEqual([]);
    expect(await noticesAfter(realm, before)).toEqual([]);
    expect((await storedChannel(realm, channelId)).version).toBe(1);
  });

  it('is done completely or not at all, whichever part is refused', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'whole' });
    await givenChannel(realm, { name: 'taken' });
    const right = { description: 'new', is_private: true, can_send_message_group: { new: 4 } };
    for (const wrong of [
      { new_name: 'taken' },
      { folder_id: 999_999 },
      { topics_policy: 'some' },
      { message_retention_days: 3 },
      { is_archived: false },
      { can_subscribe_group: { new: systemGroups.everyone.id } },
      { can_resolve_topics_group: { new: 4, old: 5 } },
    ]) {
      const code = 'message_retention_days' in wrong ? 'UNAUTHORIZED_PRINCIPAL' : undefined;
      const reply = 'can_resolve_topics_group' in wrong ? 'EXPECTATION_MISMATCH' : (code ?? 'BAD_REQUEST');
      await expectRefused(
        realm,
        admin,
        channelId,
        { ...right, ...wrong },
        { status: 400, body: { code: reply } },
      );
    }
    await edited(realm, admin, channelId, right);
  });

  it('ignores parameters that were removed from the API (specification 4.2, level 333) (4.2/stream_post_policy, 4.2/is_announcement_only)', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const { status, body } = await edit(realm, realm.people.admin, channelId, {
      stream_post_policy: 2,
      is_announcement_only: true,
    });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { ignored_parameters_unsupported: ['is_announcement_only', 'stream_post_policy'] },
    });
    expect((await storedChannel(realm, channelId)).version).toBe(1);
  });

  it('takes 3 round trips cold and 2 warm (DESIGN 7)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [owner]);
    const { groupId } = await givenGroup(realm);
    const container = realm.container();
    await edited(container, owner, channelId, {
      new_name: 'budget',
      description: 'of @**Max Member** :)',
      is_private: true,
      message_retention_days: 'unlimited',
      topics_policy: 'allow_empty_topic',
      can_send_message_group: { new: groupId },
      can_remove_subscribers_group: { new: groupId },
    });
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    await edited(container, owner, channelId, { is_private: false, description: '' });
    expect(container.meter.roundTrips).toBe(2);
  });
});
