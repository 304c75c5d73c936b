import { describe, expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { givenChangedUser, givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import {
  channelIdOf,
  expectConsistent,
  formerOf,
  subscriptionOf,
  told,
} from '../support/subscription-state.ts';

describe('POST /users/me/subscriptions', () => {
  it('subscribes to channels that exist, each named once in any spelling', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const channel = await givenChannel(realm, { name: 'Crème' });
    const before = await lastNumber(realm);
    const { body } = await realm.call(add, member, {
      subscriptions: [{ name: 'CRÈME' }, { name: 'general' }, { name: ' crème' }],
      announce: true,
      send_new_subscription_messages: false,
    });
    expect(body).toEqual({
      result: 'success',
      msg: '',
      subscribed: { [member.userId]: ['Crème'] },
      already_subscribed: { [member.userId]: ['general'] },
    });
    await expectConsistent(realm, channel.channelId, [member, guest]);
    const events = await told(realm, before);
    expect(events.map(({ payload }) => payload.op)).toEqual(['add', 'peer_add']);
  });

  it('does nothing if nothing is to be changed', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { body } = await realm.call(add, realm.people.member, { subscriptions: [{ name: 'general' }] });
    expect(body.already_subscribed).toEqual({ [realm.people.member.userId]: ['general'] });
    expect(await told(realm, before)).toEqual([]);
    const none = await realm.call(add, realm.people.member, { subscriptions: [] });
    expect(none.body).toMatchObject({ result: 'success', subscribed: {}, already_subscribed: {} });
  });

  it('subscribes other users by id and by address, with an event to users to whom the channel is new', async () => {
    const realm = await newRealm();
    const { member, admin, guest, bot } = realm.people;
    const channel = await givenChannel(realm, { name: 'den', isPrivate: true }, [member]);
    const before = await lastNumber(realm);
    const { body } = await realm.call(add, member, {
      subscriptions: [{ name: 'den' }],
      principals: [' GUEST@example.com ', 'admin@example.com', 'guest@example.com', 'bot@example.com'],
    });
    expect(body.subscribed).toEqual({
      [guest.userId]: ['den'],
      [admin.userId]: ['den'],
      [bot.userId]: ['den'],
    });
    const listed = await expectConsistent(realm, channel.channelId, Object.values(realm.people));
    expect(listed).toHaveLength(4);
    const events = await told(realm, before);
    expect(events.map(({ hearers, payload }) => [hearers, payload.type, payload.op])).toEqual([
      // Administrators knew of it already.
      [{ users: [guest.userId, bot.userId] }, 'stream', 'create'],
      [{ users: [guest.userId, admin.userId, bot.userId] }, 'subscription', 'add'],
      [
        {
          channel: channel.channelId,
          except: [admin.userId, guest.userId, bot.userId].sort((a, b) => a - b),
        },
        'subscription',
        'peer_add',
      ],
    ]);
    const again = await realm.call(add, member, {
      subscriptions: [{ name: 'den' }, { name: 'random' }],
      principals: [guest.userId, member.userId],
    });
    expect(again.body.subscribed).toEqual({ [guest.userId]: ['random'] });
    expect(again.body.already_subscribed).toEqual({
      [guest.userId]: ['den'],
      [member.userId]: ['den', 'random'],
    });
  });

  it('skips inaccessible channels unless authorization_errors_fatal is set', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenChannel(realm, { name: 'Shut', isPrivate: true });
    const { body } = await realm.call(add, member, {
      subscriptions: [{ name: 'shut' }, { name: 'fresh' }, { name: 'general' }],
      authorization_errors_fatal: false,
    });
    expect(body).toMatchObject({
      subscribed: { [member.userId]: ['fresh'] },
      already_subscribed: { [member.userId]: ['general'] },
      unauthorized: ['shut'],
    });
    const fatal = await realm.call(add, member, { subscriptions: [{ name: 'other' }, { name: 'shut' }] });
    expect(fatal.status).toBe(400);
    expect(await channelIdOf(realm, 'other')).toBeUndefined();
  });

  it("restores a user's settings of the channel when they return", async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = realm.channels.random;
    const at = { realm: realm.realm, userId: member.userId, channelId: id };
    await realm.outside.table.update(key('subscription', at), {
      set: { color: '#123456', isMuted: true, pushNotifications: false },
    });
    await realm.call(remove, member, { subscriptions: ['random'] });
    expect(await formerOf(realm, member, id)).toMatchObject({ color: '#123456', isMuted: true });
    await realm.call(add, member, { subscriptions: [{ name: 'random' }] });
    expect(await subscriptionOf(realm, member, id)).toMatchObject({
      color: '#123456',
      isMuted: true,
      pushNotifications: false,
    });
    expect(await formerOf(realm, member, id)).toBeUndefined();
    await realm.call(remove, member, { subscriptions: ['random'] });
    await realm.call(add, member, { subscriptions: [{ name: 'random', color: '#fff' }] });
    expect(await subscriptionOf(realm, member, id)).toMatchObject({ color: '#fff', isMuted: true });
  });

  it('refuses bad input', async () => {
    const realm = await newRealm();
    const { member, guest, admin } = realm.people;
    await givenChangedUser(realm, admin, { isActive: false });
    const before = await lastNumber(realm);
    const one = (more: object) => ({ subscriptions: [{ name: 'x', ...more }] });
    const inputs: Record<string, unknown>[] = [
      { subscriptions: 'general' },
      { subscriptions: ['general'] },
      { subscriptions: [{}] },
      one({ name: '   ' }),
      one({ name: 'n'.repeat(61) }),
      one({ name: 'bell\u0007' }),
      one({ name: 7 }),
      one({ description: 'd'.repeat(1025) }),
      one({ color: 'red' }),
      one({ color: '#12345g' }),
      { ...one({}), principals: [99_999] },
      { ...one({}), principals: [0, -5] },
      { ...one({}), principals: ['nobody@example.com'] },
      { ...one({}), principals: [`${'x'.repeat(3_000)}@example.com`] },
      { ...one({}), principals: [member.userId, 'member@example.com'] },
      { ...one({}), principals: [admin.userId] },
      { ...one({}), principals: 'member@example.com' },
      { ...one({}), invite_only: '"true"' },
      { ...one({}), principals: Array.from({ length: 5_001 }, (_, i) => i + 1) },
    ];
    for (const input of inputs) {
      const reply = await realm.call(add, member, input);
      expect(reply, JSON.stringify(input).slice(0, 80)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
    expect(await realm.call(add, member, {})).toMatchObject({
      status: 400,
      body: { code: 'REQUEST_VARIABLE_MISSING', var_name: 'subscriptions' },
    });
    expect(await realm.call(add, guest, one({}))).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    });
    expect(await realm.call(add, undefined, one({}))).toMatchObject({ status: 401 });
    expect(await told(realm, before)).toEqual([]);
    expect(await channelIdOf(realm, 'x')).toBeUndefined();
  });

  it('takes three round trips cold and two warm', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenChannel(realm, { name: 'one' });
    await givenChannel(realm, {
      name: 'two',
      isPrivate: true,
      groups: { can_subscribe_group: systemGroups.members.id },
    });
    const container = realm.container();
    const join = (...names: string[]) =>
      container.call(add, member, { subscriptions: names.map((name) => ({ name })) });
    expect((await join('one')).body.subscribed).toEqual({ [member.userId]: ['one'] });
    expect(container.meter.roundTrips).toBe(3);

    await container.call(remove, member, { subscriptions: ['one'] });
    await container.call(add, realm.people.admin, { subscriptions: [{ name: 'one' }] });
    container.meter.reset();
    expect((await join('one')).body.subscribed).toEqual({ [member.userId]: ['one'] });
    expect(container.meter.roundTrips).toBe(2);
    expect(container.meter.writeUnits).toBeLessThanOrEqual(17);

    // Twenty at once, new and old, private and public: still one transaction.
    container.meter.reset();
    const many = Array.from({ length: 18 }, (_, i) => `new ${i}`);
    expect((await join('two', ...many)).body.subscribed[member.userId]).toHaveLength(19);
    expect(container.meter.roundTrips).toBe(3);
    expect(container.meter.calls.filter(({ action }) => action === 'TransactWrite')).toHaveLength(1);
  });
});
