import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenBot, givenChangedUser, givenChannel, givenGroup } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { expectConsistent, subscriptionOf, told } from '../support/subscription-state.ts';

describe('DELETE /users/me/subscriptions', () => {
  it('ends subscriptions of the caller', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const other = await givenChannel(realm, { name: 'other' });
    const before = await lastNumber(realm);
    const { body } = await realm.call(remove, member, {
      subscriptions: [' GENERAL', 'other', 'random', 'general'],
    });
    expect(body).toEqual({
      result: 'success',
      msg: '',
      removed: ['general', 'random'],
      not_removed: ['other'],
    });
    for (const id of [general, random, other.channelId])
      await expectConsistent(realm, id, Object.values(realm.people));
    expect(await subscriptionOf(realm, member, general)).toBeUndefined();
    const events = await told(realm, before);
    expect(events).toMatchObject([
      {
        hearers: { users: [member.userId] },
        payload: {
          type: 'subscription',
          op: 'remove',
          subscriptions: [
            { stream_id: general, name: 'general' },
            { stream_id: random, name: 'random' },
          ],
        },
        access: true,
      },
      {
        hearers: { channel: general, except: [member.userId] },
        payload: {
          type: 'subscription',
          op: 'peer_remove',
          stream_ids: [general],
          user_ids: [member.userId],
        },
        access: true,
      },
      { hearers: { channel: random }, payload: { op: 'peer_remove', stream_ids: [random] } },
    ]);
    const again = await realm.call(remove, member, { subscriptions: ['general'] });
    expect(again.body).toMatchObject({ removed: [], not_removed: ['general'] });
  });

  it('deletes a channel on the clients of users who can no longer see it', async () => {
    const realm = await newRealm();
    const { owner, admin, guest, member, moderator } = realm.people;
    const group = await givenGroup(realm, { members: [moderator] });
    const den = await givenChannel(
      realm,
      { name: 'den', isPrivate: true, groups: { can_subscribe_group: group.groupId } },
      [admin, guest, member, moderator],
    );
    const before = await lastNumber(realm);
    const people = [admin, guest, member, moderator].map(({ userId }) => userId);
    const { body } = await realm.call(remove, owner, { subscriptions: ['den'], principals: people });
    expect(body).toMatchObject({ removed: ['den'], not_removed: [] });
    const events = await told(realm, before);
    expect(events.map(({ hearers, payload }) => [hearers, payload])).toEqual([
      [{ users: people }, expect.objectContaining({ type: 'subscription', op: 'remove' })],
      // Administrators still know of it, and who may subscribe does.
      [
        { users: [guest.userId, member.userId] },
        {
          type: 'stream',
          op: 'delete',
          stream_ids: [den.channelId],
          streams: [{ stream_id: den.channelId }],
        },
      ],
      [
        { channel: den.channelId },
        expect.objectContaining({ op: 'peer_remove', user_ids: [...people].sort((a, b) => a - b) }),
      ],
    ]);
    await realm.call(remove, guest, { subscriptions: ['general'] });
    const later = await told(realm, events.at(-1)?.seq ?? 0);
    expect(later.map(({ payload }) => payload.op)).toEqual(['remove', 'delete', 'peer_remove']);
  });

  it('removes other users only with a permission of the channel, or as the owner of a bot (4.2/can_remove_subscribers_group, 4.2/remove-administrators)', async () => {
    const realm = await newRealm();
    const { member, moderator, admin, guest, bot } = realm.people;
    const group = await givenGroup(realm, { members: [moderator] });
    const everybody = [member, moderator, guest, bot];
    const held = await givenChannel(
      realm,
      { name: 'held', groups: { can_remove_subscribers_group: group.groupId } },
      everybody,
    );
    await givenChannel(
      realm,
      { name: 'led', groups: { can_administer_channel_group: group.groupId } },
      everybody,
    );
    await givenChannel(
      realm,
      { name: 'free', groups: { can_remove_subscribers_group: systemGroups.everyone.id } },
      everybody,
    );
    const from = (name: string, person: { userId: number }) => ({
      subscriptions: [name],
      principals: [person.userId],
    });

    expect(await realm.call(remove, member, from('held', guest))).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    });
    expect(await realm.call(remove, guest, from('free', member))).toMatchObject({ status: 400 });
    const both = await realm.call(remove, moderator, {
      subscriptions: ['held', 'led'],
      principals: [guest.userId],
    });
    expect(both.body.removed).toEqual(['held', 'led']);
    expect((await realm.call(remove, member, from('free', moderator))).body.removed).toEqual(['free']);
    expect((await realm.call(remove, admin, from('held', member))).body.removed).toEqual(['held']);

    expect((await realm.call(remove, member, from('held', bot))).body.removed).toEqual(['held']);
    const stranger = await givenBot(realm, admin);
    expect(await realm.call(remove, member, from('held', stranger))).toMatchObject({ status: 400 });
    expect(await expectConsistent(realm, held.channelId, everybody)).toEqual([moderator.userId]);
  });

  it('reports partly removed subscriptions in both lists', async () => {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const { body } = await realm.call(remove, owner, {
      subscriptions: ['random', 'general'],
      principals: ['member@example.com', 'guest@example.com'],
    });
    expect(body).toMatchObject({ removed: ['random', 'general'], not_removed: ['random'] });
    expect(await subscriptionOf(realm, guest, realm.channels.general)).toBeUndefined();
    expect(await subscriptionOf(realm, member, realm.channels.random)).toBeUndefined();
  });

  it('gives the same reply for a private channel as for a missing one', async () => {
    const realm = await newRealm();
    const { member, bot } = realm.people;
    await givenChannel(realm, { name: 'Secret', isPrivate: true }, [bot]);
    const ask = async (name: string, more: object = {}) => {
      const { status, body } = await realm.call(remove, member, {
        subscriptions: ['general', name],
        ...more,
      });
      return JSON.parse(JSON.stringify({ status, body }).replaceAll(name, 'NAME'));
    };
    const missing = await ask('missing');
    expect(missing).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await ask('secret')).toEqual(missing);
    const others = { principals: [bot.userId] };
    expect(await ask('secret', others)).toEqual(await ask('missing', others));
    expect(await subscriptionOf(realm, member, realm.channels.general)).toBeDefined();
  });

  it('refuses bad input', async () => {
    const realm = await newRealm();
    const { member, guest, owner } = realm.people;
    await givenChangedUser(realm, guest, { isActive: false });
    for (const input of [
      { subscriptions: 'general' },
      { subscriptions: [{ name: 'general' }] },
      { subscriptions: [''] },
      { subscriptions: ['x'.repeat(61)] },
      { subscriptions: ['general'], principals: [0] },
      { subscriptions: ['general'], principals: ['nobody@example.com'] },
      { subscriptions: ['general'], principals: [guest.userId] },
    ]) {
      expect(await realm.call(remove, owner, input), JSON.stringify(input)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST' },
      });
    }
    expect(await realm.call(remove, member, {})).toMatchObject({ body: { var_name: 'subscriptions' } });
    expect((await realm.call(remove, member, { subscriptions: [] })).body).toMatchObject({
      removed: [],
      not_removed: [],
    });
  });
});
