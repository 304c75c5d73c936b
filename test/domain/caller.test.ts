import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import { key } from '../../shared/table/keys.ts';
import { givenChangedUser, givenChannel, givenGroup } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const callerOf = ({ outside, realm }: TestRealm, person: Person, owner?: Person) =>
  accessCaller(outside, realm, person.userId, owner?.userId);

describe('the caller', () => {
  it('is in every group that contains one of theirs', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const inner = await givenGroup(realm, { members: [member] });
    const middle = await givenGroup(realm, { subgroups: [inner.groupId] });
    const outer = await givenGroup(realm, { subgroups: [middle.groupId, systemGroups.administrators.id] });
    const ids = [inner, middle, outer].map(({ groupId }) => groupId);
    const { groups } = (await callerOf(realm, member)).standing;
    expect(ids.filter((id) => groups.has(id))).toEqual(ids);
    const { groups: admins } = (await callerOf(realm, admin)).standing;
    expect(ids.filter((id) => admins.has(id))).toEqual([outer.groupId]);
  });

  it('has the permissions of its owner if it is a bot, but only while the owner is active', async () => {
    const realm = await newRealm();
    const { member, bot } = realm.people;
    const group = await givenGroup(realm, { members: [member] });
    expect((await callerOf(realm, bot, member)).owner?.groups).toContain(group.groupId);
    const channel = await givenChannel(realm, { groups: { can_send_message_group: group.groupId } });
    const message = { type: 'channel', to: channel.channelId, topic: 'hi', content: 'hi' };
    expect((await realm.call(send, bot, message)).status).toBe(200);
    // No endpoint leaves a bot active without its owner; should it happen, the bot stands alone.
    await givenChangedUser(realm, member, { isActive: false });
    expect((await callerOf(realm, bot, member)).owner).toBeUndefined();
    expect((await realm.call(send, bot, message)).status).toBe(400);
  });

  it('is refused if the account or the organization is deactivated', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await givenChangedUser(realm, member, { isActive: false });
    await expect(callerOf(realm, member)).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    await expect(callerOf(realm, guest)).resolves.toMatchObject({ user: { userId: guest.userId } });
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    await expect(callerOf(realm, guest)).rejects.toMatchObject({ code: 'REALM_DEACTIVATED', status: 401 });
  });
});
