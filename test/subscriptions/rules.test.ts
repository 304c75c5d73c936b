import { describe, expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { onlyUser, systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChangedUser, givenChannel, givenGroup, givenRealmSettings } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { channelIdOf, subscribersOf } from '../support/subscription-state.ts';

const everyone = systemGroups.everyone.id;

describe('POST /users/me/subscriptions enforces the rules', () => {
  it('of adding others (4.2/can_add_subscribers_group, 4.2/add-public)', async () => {
    const realm = await newRealm({ can_add_subscribers_group: systemGroups.moderators.id });
    const { member, moderator, owner, guest } = realm.people;
    const group = await givenGroup(realm, { members: [member] });
    await givenChannel(realm, { name: 'plain' });
    await givenChannel(realm, { name: 'held', groups: { can_add_subscribers_group: group.groupId } });
    await givenChannel(realm, { name: 'own', groups: { can_administer_channel_group: group.groupId } });
    const to = (name: string) => ({ subscriptions: [{ name }], principals: [guest.userId] });
    const refused = await realm.call(add, member, to('plain'));
    expect(refused).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    for (const name of ['held', 'own']) expect((await realm.call(add, member, to(name))).status).toBe(200);
    expect((await realm.call(add, moderator, to('plain'))).status).toBe(200);
    // Subscribing oneself is not adding others, even by `principals`.
    const self = await realm.call(add, member, {
      subscriptions: [{ name: 'plain' }],
      principals: [member.userId],
    });
    expect(self.status).toBe(200);
    expect((await realm.call(add, owner, to('own'))).body.already_subscribed).toBeDefined();
  });

  it('of adding others to a private channel: users with the permission need not be in it (4.2/add-private)', async () => {
    const realm = await newRealm();
    const { member, moderator, guest, owner } = realm.people;
    const groups = { can_add_subscribers_group: onlyUser(member.userId) };
    const { channelId } = await givenChannel(realm, { name: 'cell', isPrivate: true, groups });
    const adding = { subscriptions: [{ name: 'cell' }], principals: [guest.userId] };
    for (const person of [moderator, owner]) {
      expect(await realm.call(add, person, adding)).toMatchObject({ status: 400 });
    }
    expect((await realm.call(add, member, adding)).body.subscribed).toEqual({ [guest.userId]: ['cell'] });
    expect(await subscribersOf(realm, channelId)).toEqual([guest.userId]);
  });

  it('of public channels: everybody but guests may join (4.2/subscribe-public)', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { name: 'plain' });
    const joining = { subscriptions: [{ name: 'plain' }] };
    for (const [who, status] of [
      ['owner', 200],
      ['moderator', 200],
      ['member', 200],
      ['bot', 200],
      ['guest', 400],
    ] as const) {
      expect([who, (await realm.call(add, realm.people[who], joining)).status]).toEqual([who, status]);
    }
    expect(await subscribersOf(realm, channelId)).toHaveLength(4);
  });

  it('of private channels: joining needs content access, which no role gives (4.2/can_subscribe_group)', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const group = await givenGroup(realm, { members: [member] });
    await givenChannel(realm, { name: 'shut', isPrivate: true });
    await givenChannel(realm, {
      name: 'ajar',
      isPrivate: true,
      groups: { can_subscribe_group: group.groupId },
    });
    expect((await realm.call(add, owner, { subscriptions: [{ name: 'shut' }] })).status).toBe(400);
    expect((await realm.call(add, owner, { subscriptions: [{ name: 'ajar' }] })).status).toBe(400);
    expect((await realm.call(add, member, { subscriptions: [{ name: 'ajar' }] })).status).toBe(200);
  });

  it('of creating channels', async () => {
    const realm = await newRealm({
      can_create_public_channel_group: systemGroups.moderators.id,
      can_create_private_channel_group: systemGroups.administrators.id,
      can_set_topics_policy_group: systemGroups.administrators.id,
    });
    const { member, moderator, admin, owner } = realm.people;
    const make = (as: typeof member, more: object) =>
      realm.call(add, as, { subscriptions: [{ name: 'new' }], ...more });
    const refusals = [
      await make(member, {}),
      await make(moderator, { invite_only: true }),
      await make(moderator, { is_default_stream: true }),
      await make(moderator, { topics_policy: 'allow_empty_topic' }),
      await make(admin, { invite_only: true, is_default_stream: true }),
      await make(owner, { is_web_public: true }),
      await make(owner, { is_web_public: true, invite_only: true }),
      await make(owner, { folder_id: 1 }),
      await make(owner, { topics_policy: 'whatever' }),
    ];
    expect(refusals.map(({ status, body }) => [status, body.code])).toEqual(
      refusals.map(() => [400, 'BAD_REQUEST']),
    );
    await givenRealmSettings(realm, { enable_spectator_access: true });
    expect(await make(admin, { is_web_public: true })).toMatchObject({ status: 400 });
    expect(await make(admin, { message_retention_days: 'unlimited' })).toMatchObject({
      status: 400,
      body: { code: 'UNAUTHORIZED_PRINCIPAL' },
    });
    for (const [days, told] of [
      ['0', 0],
      ['-1', -1],
      ['1.5', '1.5'],
      ['forever', 'forever'],
      ['true', 'true'],
      ['1e3', '1e3'],
    ]) {
      expect(await make(owner, { message_retention_days: days })).toMatchObject({
        status: 400,
        body: { code: 'REQUEST_VARIABLE_INVALID', var_name: 'message_retention_days', bad_value: told },
      });
    }
    expect(await channelIdOf(realm, 'new')).toBeUndefined();
    expect(await make(admin, { message_retention_days: '"realm_default"' })).toMatchObject({ status: 200 });
  });

  it('of protected history: it requires that everybody may start topics', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const refused = await realm.call(add, member, {
      subscriptions: [{ name: 'cell' }],
      invite_only: true,
      can_create_topic_group: systemGroups.members.id,
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', parameters: 'history_public_to_subscribers, can_create_topic_group' },
    });
    const allowed = await realm.call(add, member, {
      subscriptions: [{ name: 'cell' }],
      invite_only: true,
      history_public_to_subscribers: true,
      can_create_topic_group: systemGroups.members.id,
    });
    expect(allowed.status).toBe(200);
  });

  it('of group settings', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const gone = await givenGroup(realm, { deactivated: true });
    await givenChangedUser(realm, admin, { isActive: false });
    const refused: object[] = [
      { can_send_message_group: 99_999 },
      { can_send_message_group: 0 },
      { can_send_message_group: systemGroups.internet.id },
      { can_send_message_group: gone.groupId },
      { can_subscribe_group: everyone },
      { can_add_subscribers_group: { direct_members: [], direct_subgroups: [everyone] } },
      { can_administer_channel_group: { direct_members: [member.userId], direct_subgroups: [everyone] } },
      { can_send_message_group: { direct_members: [99_999], direct_subgroups: [] } },
      { can_send_message_group: { direct_members: [admin.userId], direct_subgroups: [] } },
      { can_send_message_group: { direct_members: [member.userId], direct_subgroups: [gone.groupId] } },
      { can_send_message_group: { direct_members: [member.userId], direct_subgroups: [-1] } },
      {
        can_send_message_group: {
          direct_members: Array.from({ length: 501 }, (_, i) => i),
          direct_subgroups: [],
        },
      },
      { can_send_message_group: { new: everyone } },
      { can_send_message_group: 'role:everyone' },
    ];
    for (const settings of refused) {
      const reply = await realm.call(add, member, { subscriptions: [{ name: 'grouped' }], ...settings });
      expect(reply, JSON.stringify(settings).slice(0, 80)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
    expect(await channelIdOf(realm, 'grouped')).toBeUndefined();
    // They are of no interest where nothing is created.
    const ignored = await realm.call(add, member, {
      subscriptions: [{ name: 'general' }],
      can_send_message_group: 99_999,
    });
    expect(ignored.status).toBe(200);
  });

  it('and gives the same reply for a private channel as for one that the caller may not create', async () => {
    const realm = await newRealm({ can_create_public_channel_group: systemGroups.moderators.id });
    const { member } = realm.people;
    await givenChannel(realm, { name: 'Secret', isPrivate: true });
    const ask = async (name: string, more: object = {}) => {
      const { status, body } = await realm.call(add, member, { subscriptions: [{ name }], ...more });
      return JSON.parse(JSON.stringify({ status, body }).replaceAll(name, 'NAME'));
    };
    const missing = await ask('missing');
    expect(missing).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await ask('secret')).toEqual(missing);
    const listed = await ask('missing', { authorization_errors_fatal: false });
    expect(listed).toMatchObject({ status: 200, body: { unauthorized: ['NAME'], subscribed: {} } });
    expect(await ask('secret', { authorization_errors_fatal: false })).toEqual(listed);
    expect(await ask('secret', { is_default_stream: true })).toEqual(
      await ask('missing', { is_default_stream: true }),
    );
  });
});
