import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import {
  loadChannels,
  loadCurrent,
  loadFormer,
  splitChannels,
} from '../../shared/model/subscription/object.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

async function split(realm: TestRealm, { userId }: Person) {
  const { table } = realm.outside;
  const [caller, channels, current, former] = await Promise.all([
    accessCaller(realm.outside, realm.realm, userId, undefined),
    loadChannels(table, realm.realm),
    loadCurrent(table, realm.realm, userId),
    loadFormer(table, realm.realm, userId),
  ]);
  const lists = splitChannels(caller.standing, channels, { current, former });
  const names = (list: readonly { readonly channel: { readonly name: string } }[]) =>
    list.map(({ channel }) => channel.name);
  return {
    subscribed: names(lists.subscribed),
    unsubscribed: names(lists.unsubscribed),
    neverSubscribed: names(lists.neverSubscribed),
  };
}

describe('the three lists of channels', () => {
  it('contain each channel that the user can see exactly once, and no other', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    await givenChannel(realm, { name: 'attic', isPrivate: true }, [member, admin]);
    await givenChannel(realm, { name: 'cellar', isPrivate: true });
    await givenChannel(realm, { name: 'zoo' });
    for (const person of [member, admin]) {
      await realm.call(remove, person, { subscriptions: ['random', 'attic'] });
    }
    await realm.call(remove, guest, { subscriptions: ['general'] });
    expect(await split(realm, member)).toEqual({
      subscribed: ['general'],
      unsubscribed: ['random'],
      neverSubscribed: ['zoo'],
    });
    expect(await split(realm, admin)).toEqual({
      subscribed: ['general'],
      unsubscribed: ['attic', 'random'],
      neverSubscribed: ['cellar', 'zoo'],
    });
    expect(await split(realm, guest)).toEqual({ subscribed: [], unsubscribed: [], neverSubscribed: [] });
  });
});
