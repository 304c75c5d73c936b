import { describe, expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as deactivate } from '../../functions/userGroups/deactivate.ts';
import { handler as update } from '../../functions/userGroups/update.ts';
import { handler as updateSubgroups } from '../../functions/userGroups/updateSubgroups.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { givenChangedChannel, givenRealmSettings } from '../support/given.ts';
import { createGroup, groupOf, membersOf, toldOfGroups, tryToCreate } from '../support/group-state.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { channelIdOf } from '../support/subscription-state.ts';

const { nobody, members, moderators } = systemGroups;

const at = (groupId: number) => ({ path: { user_group_id: groupId } });
const rest = (realm: TestRealm, as: Person, groupId: number): Promise<Reply> =>
  realm.call(deactivate, as, {}, at(groupId));

/** Creates a channel with these settings, through the endpoint. */
async function channelWith(realm: TestRealm, as: Person, name: string, settings: object): Promise<number> {
  const { status } = await realm.call(subscribe, as, { subscriptions: [{ name }], ...settings });
  expect(status).toBe(200);
  return (await channelIdOf(realm, name)) as number;
}

const inUse = (objections: readonly object[]) => ({
  status: 400,
  body: { code: 'CANNOT_DEACTIVATE_GROUP_IN_USE', objections },
});

describe('POST /user_groups/{user_group_id}/deactivate', () => {
  it('deactivates the group, and keeps its name, members and subgroups', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const groupId = await createGroup(realm, member, {
      name: 'cooks',
      members: [guest.userId],
      subgroups: [moderators.id],
    });
    const before = await lastNumber(realm);
    expect((await rest(realm, member, groupId)).body).toEqual({ result: 'success', msg: '' });
    expect(await toldOfGroups(realm, before)).toEqual([
      { op: 'update', group_id: groupId, data: { deactivated: true } },
      { op: 'remove', group_id: groupId },
    ]);
    expect(await groupOf(realm, groupId)).toMatchObject({
      deactivated: true,
      name: 'cooks',
      members: [guest.userId],
      direct_subgroup_ids: [moderators.id],
    });
    expect(await rest(realm, member, groupId)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  });

  it('lists every use that prevents it', async () => {
    const realm = await newRealm({ can_create_groups: members.id });
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const listed = { direct_members: [member.userId], direct_subgroups: [groupId] };
    const channelId = await channelWith(realm, member, 'kitchen', {
      can_send_message_group: groupId,
      can_subscribe_group: listed,
    });
    const naming = await createGroup(realm, member, { can_join_group: groupId, can_leave_group: listed });
    const outer = await createGroup(realm, member, { subgroups: [groupId] });
    await givenRealmSettings(realm, { can_add_custom_emoji_group: groupId, message_retention_days: groupId });
    const { status, body } = await rest(realm, member, groupId);
    expect({ status, body: { code: body.code, objections: body.objections } }).toEqual(
      inUse([
        { type: 'subgroup', supergroup_ids: [outer] },
        {
          type: 'channel',
          channel_id: channelId,
          settings: ['can_send_message_group', 'can_subscribe_group'],
        },
        { type: 'user_group', group_id: naming, settings: ['can_join_group', 'can_leave_group'] },
        { type: 'realm', settings: ['can_add_custom_emoji_group'] },
      ]),
    );
    expect((await groupOf(realm, groupId)).deactivated).toBe(false);
  });

  it('does not reveal a channel that uses it to users who cannot see the channel', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const groupId = await createGroup(realm, moderator);
    await channelWith(realm, member, 'secret', { invite_only: true, can_send_message_group: groupId });
    expect(await rest(realm, moderator, groupId)).toMatchObject(
      inUse([{ type: 'channel', settings: ['can_send_message_group'] }]),
    );
    expect((await rest(realm, moderator, groupId)).body.objections[0]).not.toHaveProperty('channel_id');
  });

  it('succeeds once the last use is removed', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const naming = await createGroup(realm, member, { can_join_group: groupId, can_leave_group: groupId });
    const outer = await createGroup(realm, member, { subgroups: [groupId] });
    const set = (name: string, value: number) =>
      realm.call(update, member, { [name]: { new: value } }, at(naming));
    expect((await rest(realm, member, groupId)).body.objections).toHaveLength(2);
    await set('can_join_group', nobody.id);
    expect((await rest(realm, member, groupId)).body.objections).toHaveLength(2);
    await set('can_leave_group', nobody.id);
    expect((await rest(realm, member, groupId)).body.objections).toEqual([
      { type: 'subgroup', supergroup_ids: [outer] },
    ]);
    await realm.call(updateSubgroups, member, { delete: [groupId] }, at(outer));
    expect((await rest(realm, member, groupId)).status).toBe(200);
  });

  it('does not count archived channels, deactivated groups, or the group itself, like the reference', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    await realm.call(update, member, { can_join_group: { new: groupId } }, at(groupId));
    const channelId = await channelWith(realm, member, 'old', { can_send_message_group: groupId });
    await givenChangedChannel(realm, channelId, { isArchived: true });
    const naming = await createGroup(realm, member, { can_join_group: groupId, subgroups: [groupId] });
    expect((await rest(realm, member, naming)).status).toBe(200);
    expect((await rest(realm, member, groupId)).status).toBe(200);
  });

  it('refuses users who do not manage the group, role groups and unknown groups', async () => {
    const realm = await newRealm();
    const { owner, admin, member, guest } = realm.people;
    const groupId = await createGroup(realm, member, {
      can_manage_group: { direct_members: [member.userId, guest.userId], direct_subgroups: [] },
      can_add_members_group: members.id,
    });
    for (const who of [admin, guest]) expect((await rest(realm, who, groupId)).body.code).toBe('BAD_REQUEST');
    for (const id of [members.id, 999_999, 0]) {
      expect((await rest(realm, owner, id)).body.code).toBe('BAD_REQUEST');
    }
    expect((await rest(realm, member, groupId)).status).toBe(200);
  });
});

describe('deactivating a group while something starts to use it', () => {
  type Use = (realm: TestRealm, as: Person, groupId: number) => Promise<Reply>;
  const uses: Readonly<Record<string, Use>> = {
    'the setting of a new group': (realm, as, groupId) => tryToCreate(realm, as, { can_join_group: groupId }),
    'the subgroup of a new group': (realm, as, groupId) => tryToCreate(realm, as, { subgroups: [groupId] }),
    'the setting of a group': async (realm, as, groupId) =>
      realm.call(update, as, { can_join_group: { new: groupId } }, at(await createGroup(realm, as))),
    'a subgroup': async (realm, as, groupId) =>
      realm.call(updateSubgroups, as, { add: [groupId] }, at(await createGroup(realm, as))),
    'the setting of a new channel': (realm, as, groupId) =>
      realm.call(subscribe, as, {
        subscriptions: [{ name: 'kitchen' }],
        can_send_message_group: { direct_members: [], direct_subgroups: [groupId] },
      }),
  };

  it.each(Object.entries(uses))('fails if the use was first: %s', async (_, use) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const meanwhile: Mishap = async (go) => {
      expect((await use(realm, member, groupId)).status).toBe(200);
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await rest(late, member, groupId)).toMatchObject({
      status: 400,
      body: { code: 'CANNOT_DEACTIVATE_GROUP_IN_USE' },
    });
  });

  it.each(Object.entries(uses))('makes the use fail if that was last: %s', async (_, use) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    let isDone = false;
    // Just before the first transaction that could bring the group into use.
    const late = realm.container((send) => async (command) => {
      const text = JSON.stringify(command.constructor.name === 'TransactWriteCommand' && command);
      if (!isDone && text.includes(`/${String(groupId).padStart(12, '0')}`)) {
        isDone = true;
        expect((await rest(realm, member, groupId)).status).toBe(200);
      }
      return send(command);
    });
    const { status, body } = await use(late, member, groupId);
    expect(isDone).toBe(true);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    expect(body.msg).toContain('deactivated');
  });

  it('makes a setting of the organization fail that starts to name it', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member);
    const meanwhile: Mishap = async (go) => {
      await givenRealmSettings(realm, { can_create_groups: groupId });
      return go();
    };
    const late = realm.container(mishaps({ transact: [meanwhile] }));
    expect(await rest(late, member, groupId)).toMatchObject(
      inUse([{ type: 'realm', settings: ['can_create_groups'] }]),
    );
  });

  it('succeeds for one of the two requests, for any timing', async () => {
    for (let round = 0; round < 6; round++) {
      const realm = await newRealm();
      const { member } = realm.people;
      const groupId = await createGroup(realm, member);
      const naming = await createGroup(realm, member);
      const [gone, named, contained] = await Promise.all([
        rest(realm.container(), member, groupId),
        realm.container().call(update, member, { can_join_group: { new: groupId } }, at(naming)),
        realm.container().call(updateSubgroups, member, { add: [groupId] }, at(naming)),
      ]);
      const { deactivated } = await groupOf(realm, groupId);
      const { can_join_group: setting, direct_subgroup_ids: inside } = await groupOf(realm, naming);
      expect(deactivated).toBe(gone.status === 200);
      expect(setting === groupId).toBe(named.status === 200);
      expect(inside.includes(groupId)).toBe(contained.status === 200);
      if (deactivated) expect({ setting, inside }).toEqual({ setting: nobody.id, inside: [] });
      else expect(named.status === 200 || contained.status === 200).toBe(true);
    }
  });

  it('keeps the members of the group readable', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await createGroup(realm, member, { members: [member.userId] });
    expect((await rest(realm, member, groupId)).status).toBe(200);
    expect(await membersOf(realm, groupId)).toEqual([member.userId]);
  });
});
