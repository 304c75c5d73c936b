import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { handler as setProperties } from '../../functions/subscriptions/setProperties.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { listed, subscriptionOf, told } from '../support/subscription-state.ts';

const choose = (
  realm: TestRealm,
  as: Person,
  ...given: readonly (readonly [number, unknown, unknown])[]
): Promise<Reply> =>
  realm.call(setProperties, as, {
    subscription_data: given.map(([stream_id, property, value]) => ({ stream_id, property, value })),
  });

const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

describe('POST /users/me/subscriptions/properties (https://zulip.com/api/update-subscription-settings)', () => {
  it.each([
    ['color', '#aBcDeF', { color: '#aBcDeF' }],
    ['is_muted', true, { is_muted: true, in_home_view: false }],
    ['in_home_view', false, { is_muted: true, in_home_view: false }],
    ['pin_to_top', true, { pin_to_top: true }],
    ['desktop_notifications', false, { desktop_notifications: false }],
    ['audible_notifications', true, { audible_notifications: true }],
    ['push_notifications', true, { push_notifications: true }],
    ['email_notifications', true, { email_notifications: true }],
    ['wildcard_mentions_notify', false, { wildcard_mentions_notify: false }],
  ])('sets %s', async (property, value, shown) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const before = await listed(realm, member, 'general');
    expect((await choose(realm, member, [general, property, value])).body).toEqual({
      result: 'success',
      msg: '',
    });
    expect(await listed(realm, member, 'general')).toEqual({ ...before, ...shown });
  });

  it('sends an event only to the clients of the user, with both names of muting', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const types = { event_types: ['subscription'] };
    const [own, other] = [await givenClient(realm, member, types), await givenClient(realm, admin, types)];
    await choose(realm, member, [general, 'is_muted', true], [random, 'pin_to_top', true]);
    const event = { type: 'subscription', op: 'update' };
    expect(await own.poll()).toMatchObject([
      { ...event, stream_id: general, property: 'in_home_view', value: false },
      { ...event, stream_id: general, property: 'is_muted', value: true },
      { ...event, stream_id: random, property: 'pin_to_top', value: true },
    ]);
    expect(await other.poll()).toEqual([]);
  });

  it('applies the last of several values of one property, and sends no event if nothing changes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    await choose(realm, member, [general, 'is_muted', true], [general, 'in_home_view', true]);
    expect(await listed(realm, member, 'general')).toMatchObject({ is_muted: false });
    const before = await lastNumber(realm);
    expect((await choose(realm, member, [general, 'is_muted', false])).status).toBe(200);
    expect((await choose(realm, member)).status).toBe(200);
    expect(await told(realm, before)).toEqual([]);
  });

  it('changes everything or nothing', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const other = await givenChannel(realm);
    for (const wrong of [
      [other.channelId, 'is_muted', true],
      [999_999, 'is_muted', true],
      [0, 'is_muted', true],
      [-1, 'is_muted', true],
      [general, 'colour', '#ffffff'],
      [general, 'is_muted', 'yes'],
      [general, 'color', 'red'],
      [general, 'color', true],
      [general, '__proto__', true],
    ] as const) {
      expect(await choose(realm, member, [general, 'pin_to_top', true], wrong)).toMatchObject(refused);
    }
    expect(await listed(realm, member, 'general')).toMatchObject({ pin_to_top: false });
    const many = Array.from({ length: 91 }, (_, i) => [1000 + i, 'is_muted', true] as const);
    expect((await choose(realm, member, ...many)).body.msg).toContain('90');
  });

  it('never restores a subscription that ended at the same time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const replies = await Promise.all([
      choose(realm.container(), member, [general, 'is_muted', true]),
      realm.container().call(remove, member, { subscriptions: ['general'] }),
    ]);
    expect(replies[1]?.status).toBe(200);
    expect(await subscriptionOf(realm, member, general)).toBeUndefined();
  });

  it('ends in the state of the last event', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const before = await lastNumber(realm);
    const colors = ['#111111', '#222222', '#333333', '#444444'];
    await Promise.all(colors.map((color) => choose(realm.container(), member, [general, 'color', color])));
    const last = (await told(realm, before)).at(-1)?.payload.value;
    expect((await subscriptionOf(realm, member, general))?.color).toBe(last);
  });
});
