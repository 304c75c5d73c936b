import { expect, it } from 'vitest';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { edited, expectRefused, storedChannel } from '../support/channel-state.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

const { moderators } = systemGroups;
const cannotAdminister = { status: 400, body: { code: 'CANNOT_ADMINISTER_CHANNEL' } };

/** A private channel with a subscriber who administers it, one who does not, and an administrator outside. */
async function scene() {
  const realm = await newRealm();
  const [leader, outside] = [await givenUser(realm), await givenUser(realm)];
  const { member: reader, admin } = realm.people;
  const leaders = { direct_members: [leader.userId, outside.userId], direct_subgroups: [] };
  const { channelId } = await givenChannel(
    realm,
    { isPrivate: true, groups: { can_administer_channel_group: leaders } },
    [leader, reader],
  );
  return { realm, channelId, leader, reader, outsiders: [outside, admin] };
}

it.each(['can_add_subscribers_group', 'can_subscribe_group'])(
  '%s can be changed by users who administer the channel and can read it (4.2/add-changing, 4.2/subscribe-changing)',
  async (name) => {
    const { realm, channelId, leader, reader, outsiders } = await scene();
    const given = { [name]: { new: moderators.id } };
    await expectRefused(realm, reader, channelId, given, cannotAdminister);
    for (const person of outsiders) await expectRefused(realm, person, channelId, given);
    await edited(realm, leader, channelId, given);
    expect((await storedChannel(realm, channelId)).groups).toMatchObject({ [name]: moderators.id });
  },
);

it.each(['can_remove_subscribers_group', 'can_send_message_group'])(
  '%s can be changed by users who administer the channel, even if they cannot read it (4.2/remove-changing, 4.2/send-changing)',
  async (name) => {
    const { realm, channelId, leader, reader, outsiders } = await scene();
    await expectRefused(realm, reader, channelId, { [name]: { new: moderators.id } }, cannotAdminister);
    for (const [i, person] of [leader, ...outsiders].entries()) {
      const value = [moderators.id, systemGroups.owners.id, systemGroups.members.id][i];
      await edited(realm, person, channelId, { [name]: { new: value } });
      expect((await storedChannel(realm, channelId)).groups).toMatchObject({ [name]: value });
    }
  },
);
