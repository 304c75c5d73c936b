import { describe, expect, it } from 'vitest';
import { handler as change } from '../../functions/subscriptions/change.ts';
import { handler as setProperty } from '../../functions/subscriptions/setProperty.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';
import { expectConsistent, subscriptionOf } from '../support/subscription-state.ts';

describe('PATCH /users/me/subscriptions (companion facts 3.6)', () => {
  it('joins some channels, creates new ones and leaves others', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const other = await givenChannel(realm, { name: 'other' });
    const { body } = await realm.call(change, member, {
      add: [{ name: 'Other' }, { name: 'new one', description: 'Of today' }, { name: 'random' }],
      delete: ['general'],
    });
    expect(body).toEqual({
      result: 'success',
      msg: '',
      subscribed: { [member.userId]: expect.toSatisfy((names: string[]) => names.length === 2) },
      already_subscribed: { [member.userId]: ['random'] },
      removed: ['general'],
      not_removed: [],
    });
    for (const id of [general, random, other.channelId])
      await expectConsistent(realm, id, Object.values(realm.people));
    expect(await subscriptionOf(realm, member, general)).toBeUndefined();
    expect(await subscriptionOf(realm, member, other.channelId)).toBeDefined();
  });

  it.each([
    ['nothing at all', {}],
    ['two empty lists', { add: [], delete: [] }],
    ['an unknown channel to leave', { add: [{ name: 'made now' }], delete: ['nowhere'] }],
    ['a channel in both lists', { add: [{ name: 'made now' }, { name: 'Random' }], delete: ['random'] }],
    ['a bad name', { add: [{ name: '' }], delete: ['general'] }],
  ])('refuses %s, and changes nothing', async (_, parameters) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { status, body } = await realm.call(change, realm.people.member, parameters);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });
});

describe('PATCH /users/me/subscriptions/{stream_id} (companion facts 4.8)', () => {
  it('changes one setting of one channel', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const client = await givenClient(realm, member, { fetch_event_types: ['subscription'] });
    const path = { stream_id: general };
    const given = { property: 'is_muted', value: true };
    expect((await realm.call(setProperty, member, given, { path })).status).toBe(200);
    expect(await client.poll()).toMatchObject([
      { type: 'subscription', op: 'update', stream_id: general, property: 'in_home_view', value: false },
      { type: 'subscription', op: 'update', stream_id: general, property: 'is_muted', value: true },
    ]);
    for (const bad of [
      { property: 'taste', value: true },
      { property: 'color', value: 'red' },
      { property: 'is_muted', value: 'yes' },
    ])
      expect((await realm.call(setProperty, member, bad, { path })).status).toBe(400);
    expect((await realm.call(setProperty, member, given, { path: { stream_id: 999_999 } })).status).toBe(400);
  });
});
