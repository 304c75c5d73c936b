import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as list } from '../../functions/topics/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChannel, givenSubscription } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

async function say(realm: TestRealm, as: Person, to: number, topic: string): Promise<number> {
  const { body } = await realm.call(send, as, { type: 'channel', to, topic, content: 'hello' });
  expect(body.result).toBe('success');
  return body.id;
}

const ask = (realm: TestRealm, as: Person, stream_id: number, query: object = {}): Promise<Reply> =>
  realm.call(list, as, {}, { path: { stream_id }, query: { ...query } });

describe('GET /users/me/{stream_id}/topics', () => {
  it('lists topics, the one with the newest message first, in its spelling', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const { general } = realm.channels;
    expect((await ask(realm, member, general)).body.topics).toEqual([]);
    await say(realm, member, general, 'tea');
    const cake = await say(realm, member, general, 'cake');
    const tea = await say(realm, guest, general, 'TEA');
    const { body } = await ask(realm, guest, general);
    expect(body.topics).toEqual([
      { name: 'TEA', max_id: tea },
      { name: 'cake', max_id: cake },
    ]);
  });

  it('names the empty topic for clients without the capability', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, '');
    expect((await ask(realm, member, general)).body.topics).toEqual([{ name: 'general chat', max_id: id }]);
    const { body } = await ask(realm, member, general, { allow_empty_topic_name: true });
    expect(body.topics).toEqual([{ name: '', max_id: id }]);
  });

  it('shows only topics since the subscription if history is protected', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const cell = await givenChannel(
      realm,
      {
        isPrivate: true,
        historyPublicToSubscribers: false,
        groups: { can_subscribe_group: systemGroups.moderators.id },
      },
      [member],
    );
    await say(realm, member, cell.channelId, 'before');
    await say(realm, member, cell.channelId, 'both');
    await givenSubscription(realm, admin, cell.channelId);
    const id = await say(realm, member, cell.channelId, 'both');
    expect((await ask(realm, admin, cell.channelId)).body.topics).toEqual([{ name: 'both', max_id: id }]);
    expect((await ask(realm, member, cell.channelId)).body.topics).toHaveLength(2);
    // Who may subscribe can read the channel, but has no history yet.
    expect((await ask(realm, moderator, cell.channelId)).body.topics).toEqual([]);
  });

  it('is open to users who can read the channel', async () => {
    const realm = await newRealm();
    const { admin, guest, member } = realm.people;
    const shut = await givenChannel(realm, { isPrivate: true }, [member]);
    const missing = await ask(realm, admin, 999_999);
    expect(missing).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await ask(realm, admin, shut.channelId)).toEqual(missing);
    expect(await ask(realm, guest, realm.channels.random)).toEqual(missing);
    expect(await ask(realm, member, shut.channelId)).toMatchObject({ status: 200 });
  });
});
