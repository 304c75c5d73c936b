import { describe, expect, it } from 'vitest';
import { handler as addDefault } from '../../functions/channels/addDefault.ts';
import { handler as removeDefault } from '../../functions/channels/removeDefault.ts';
import { handler as listSubscriptions } from '../../functions/subscriptions/list.ts';
import { handler as createUser } from '../../functions/users/create.ts';
import { personIn } from '../support/accounts.ts';
import {
  edit,
  invalidChannelId,
  noticesAfter,
  refused,
  storedChannel,
  toldOfChannels,
} from '../support/channel-state.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { notPermitted } from '../support/realm-state.ts';
import { lastNumber } from '../support/stored.ts';

const add = (realm: TestRealm, as = realm.people.admin, stream_id: unknown = 0) =>
  realm.call(addDefault, as, { stream_id });
const remove = (realm: TestRealm, as = realm.people.admin, stream_id: unknown = 0) =>
  realm.call(removeDefault, as, { stream_id });

describe('POST and DELETE /default_streams', () => {
  it('choose the channels to which new users are subscribed (4.2/is_default_stream)', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const { channelId, name } = await givenChannel(realm);
    expect((await add(realm, admin, channelId)).body).toEqual({ result: 'success', msg: '' });
    expect((await remove(realm, owner, realm.channels.general)).body).toEqual({ result: 'success', msg: '' });
    const email = 'ada@example.com';
    const reply = await realm.call(createUser, admin, { email, full_name: 'Ada Lovelace' });
    const { body } = await realm.call(listSubscriptions, personIn(reply, email));
    expect(body.subscriptions.map((each: { name: string }) => each.name)).toEqual([name]);
  });

  it('send members the whole list, and the channel no notice (wire facts 4.6, 4.7)', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const { channelId } = await givenChannel(realm);
    const { general } = realm.channels;
    const heard = { event_types: ['default_streams'] };
    const [client, stranger] = [
      await givenClient(realm, member, heard),
      await givenClient(realm, guest, heard),
    ];
    const before = await lastNumber(realm);
    const told = async () => (await client.poll()).map(({ default_streams: ids }) => [...ids].sort());
    await add(realm, admin, channelId);
    expect(await told()).toEqual([[general, channelId].sort()]);
    await remove(realm, admin, general);
    expect(await told()).toEqual([[channelId]]);
    expect(await stranger.poll()).toEqual([]);
    expect(await noticesAfter(realm, before)).toEqual([]);
  });

  it('change nothing and send no event if the channel already is as requested', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    expect((await add(realm, realm.people.admin, realm.channels.general)).status).toBe(200);
    expect((await remove(realm, realm.people.admin, realm.channels.random)).status).toBe(200);
    expect(await toldOfChannels(realm, before)).toEqual([]);
  });

  it.each(['moderator', 'member', 'guest', 'bot'] as const)('refuse a %s', async (name) => {
    const realm = await newRealm();
    const { general, random } = realm.channels;
    expect(await add(realm, realm.people[name], random)).toMatchObject(notPermitted);
    expect(await remove(realm, realm.people[name], general)).toMatchObject(notPermitted);
  });

  it('refuse a private, an archived and an unknown channel (wire facts 4.3)', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const closed = await givenChannel(realm, { isPrivate: true }, [owner]);
    const archived = await givenChannel(realm, { isArchived: true });
    expect(await add(realm, owner, closed.channelId)).toMatchObject(refused);
    expect(await add(realm, owner, archived.channelId)).toMatchObject(refused);
    for (const id of [999_999, 0, -1]) {
      expect(await add(realm, owner, id)).toMatchObject(invalidChannelId);
      expect(await remove(realm, owner, id)).toMatchObject(invalidChannelId);
    }
    expect(await add(realm, owner, 'general')).toMatchObject(refused);
  });

  it('never succeed together with a request that makes the channel private', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let round = 0; round < 6; round++) {
      const { channelId } = await givenChannel(realm, {}, [owner]);
      const replies = await Promise.all([
        add(realm.container(), owner, channelId),
        edit(realm.container(), owner, channelId, { is_private: true }),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
      const { isPrivate, isDefault } = await storedChannel(realm, channelId);
      expect(isPrivate && isDefault).toBe(false);
    }
  });
});
