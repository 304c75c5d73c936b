import { describe, expect, it } from 'vitest';
import { handler as isSubscribed } from '../../functions/users/isSubscribed.ts';
import { handler as listChannels } from '../../functions/users/listChannels.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChannel, givenRealmSettings, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const asked = async (realm: TestRealm, as: Person, user: number, stream_id: number) => {
  const { status, body } = await realm.call(isSubscribed, as, {}, { path: { user, stream_id } });
  return status === 200 ? body.is_subscribed : [status, body.code];
};

const refused = [400, 'BAD_REQUEST'];

describe('the channels of another user (companion facts 3.4)', () => {
  it('are listed if the caller can see the channel and the user', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const person = await givenUser(realm);
    const open = await givenChannel(realm, {}, [person]);
    const closed = await givenChannel(realm, { isPrivate: true }, [person, owner]);
    expect(await asked(realm, member, person.userId, open.channelId)).toBe(true);
    expect(await asked(realm, member, person.userId, realm.channels.random)).toBe(false);
    expect(await asked(realm, member, person.userId, closed.channelId)).toEqual(refused);
    // Administrators see what private channels there are.
    expect(await asked(realm, admin, person.userId, closed.channelId)).toBe(true);
    const listed = async (as: Person) => {
      const { body } = await realm.call(listChannels, as, {}, { path: { user: person.userId } });
      return body.subscribed_channel_ids;
    };
    expect(await listed(member)).toEqual([open.channelId]);
    expect(await listed(owner)).toEqual([open.channelId, closed.channelId]);
    expect(await listed(person)).toEqual([open.channelId, closed.channelId]);
  });

  it('are refused for unknown users and channels, and for users hidden from a guest like unknown ones', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const { general } = realm.channels;
    for (const [user, channel] of [
      [999_999, general],
      [0, general],
      [member.userId, 999_999],
      [member.userId, 0],
    ] as const)
      expect(await asked(realm, member, user, channel)).toEqual(refused);
    const stranger = await givenUser(realm);
    await givenRealmSettings(realm, { can_access_all_users_group: systemGroups.members.id });
    const list = (user: number) => realm.call(listChannels, guest, {}, { path: { user } });
    expect(await asked(realm, guest, stranger.userId, general)).toEqual(refused);
    expect((await list(stranger.userId)).body).toEqual((await list(999_999)).body);
    expect((await list(0)).status).toBe(400);
  });
});
