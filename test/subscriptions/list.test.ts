import { describe, expect, it } from 'vitest';
import { handler as list } from '../../functions/subscriptions/list.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /users/me/subscriptions', () => {
  it('lists the channels of the caller, in the order of names', async () => {
    const realm = await newRealm();
    const { guest, member } = realm.people;
    await givenChannel(realm, { name: 'attic', isPrivate: true, description: 'up' }, [member]);
    await givenChannel(realm, { name: 'buried', isArchived: true }, [member]);
    await givenChannel(realm, { name: 'cellar' });
    const { body } = await realm.call(list, member);
    expect(body.subscriptions.map(({ name }: { name: string }) => name)).toEqual([
      'attic',
      'general',
      'random',
    ]);
    expect(body.subscriptions[0]).toMatchObject({
      invite_only: true,
      description: 'up',
      subscriber_count: 1,
    });
    expect(body.subscriptions[0]).not.toHaveProperty('subscribers');
    const { subscriptions } = (await realm.call(list, guest)).body;
    expect(subscriptions.map(({ name }: { name: string }) => name)).toEqual(['general']);
  });

  it('lists the subscribers of each on request', async () => {
    const realm = await newRealm();
    const { guest, member, bot } = realm.people;
    await givenChannel(realm, { name: 'attic', isPrivate: true }, [member, bot]);
    const { body } = await realm.call(list, member, {}, { query: { include_subscribers: true } });
    expect(body.subscriptions[0].subscribers).toEqual([member.userId, bot.userId]);
    expect(body.subscriptions[1].subscribers).toHaveLength(6);
    const asGuest = await realm.call(list, guest, {}, { query: { include_subscribers: true } });
    expect(asGuest.body.subscriptions[0].subscribers).toEqual(body.subscriptions[1].subscribers);
  });

  it('reads all channels in one round trip for a subscriber of very many', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const foreign = await givenChannel(realm);
    const made = [];
    for (let i = 0; i < 200; i++) made.push(await givenChannel(realm, {}, [member]));
    const container = realm.container();
    const { body } = await container.call(list, member);
    const ids = body.subscriptions.map(({ stream_id }: { stream_id: number }) => stream_id);
    expect(ids).toHaveLength(made.length + 2);
    expect(ids).toEqual(expect.arrayContaining(made.map(({ channelId }) => channelId)));
    expect(ids).not.toContain(foreign.channelId);
    // One by one, the channels and their counters would take two units each.
    expect(container.meter.readUnits).toBeLessThan(made.length);
  });

  it('refuses a parameter of the wrong type', async () => {
    const realm = await newRealm();
    const query = { include_subscribers: 'yes' };
    expect(await realm.call(list, realm.people.member, {}, { query })).toMatchObject({ status: 400 });
  });
});
