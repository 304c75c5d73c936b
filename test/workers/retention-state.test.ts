import { describe, expect, it } from 'vitest';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as listTopics } from '../../functions/topics/list.ts';
import { key, sortPrefix } from '../../shared/table/keys.ts';
import type { Write } from '../../shared/table/write.ts';
import { edit } from '../support/channel-state.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { flagged, idsIn, sent, sentMany } from '../support/messages.ts';
import { react, storedReactions } from '../support/reactions.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { DAY, givenDays, givenTopic, left, run } from '../support/retention-run.ts';
import { firstOf, storedCount, storedTopic } from '../support/stored.ts';

const restrict = (realm: TestRealm, channelId: number) =>
  edit(realm, realm.people.owner, channelId, { topics_policy: 'empty_topic_only' });

describe('the state after retention (4.2, 3)', () => {
  it('keeps topics with remaining messages, and removes them with their last one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 2 }, [member, admin]);
    await sentMany(realm, member, { to: channelId, topic: 'old' }, 3);
    await sent(realm, member, { to: channelId, topic: 'both' });
    await sent(realm, admin, { to: channelId, topic: '' });
    realm.pass(DAY);
    const young = await sent(realm, member, { to: channelId, topic: 'BOTH' });
    realm.pass(1.5 * DAY);
    await run(realm);
    expect(await storedTopic(realm, channelId, 'old')).toBeUndefined();
    expect(await storedTopic(realm, channelId, '')).toBeUndefined();
    expect(await storedTopic(realm, channelId, 'both')).toMatchObject({
      topic: 'BOTH',
      maxId: young,
      arrived: 2,
      left: 1,
    });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(young);
    const topics = await realm.call(listTopics, member, {}, { path: { stream_id: channelId } });
    expect(topics.body.topics).toEqual([{ name: 'BOTH', max_id: young }]);
  });

  it('lets a channel be restricted to its empty topic once the named ones are gone, and not before (3, 4.2)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 2 }, [member]);
    await sent(realm, member, { to: channelId, topic: 'named' });
    realm.pass(DAY);
    await sent(realm, member, { to: channelId, topic: 'other' });
    expect(await restrict(realm, channelId)).toMatchObject({ status: 400 });
    realm.pass(1.5 * DAY);
    await run(realm);
    expect(await restrict(realm, channelId)).toMatchObject({ status: 400 });
    realm.pass(DAY);
    await run(realm);
    expect(await restrict(realm, channelId)).toMatchObject({ status: 200 });
  });

  it('has no earlier versions, reactions and stars of a removed message, however many', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member, admin]);
    const id = await sent(realm, member, { to: channelId });
    for (let i = 0; i < 25; i++)
      expect(await update(realm, member, id, { content: `version ${i}` })).toMatchObject({ status: 200 });
    expect(await react(realm, admin, id)).toMatchObject({ status: 200 });
    expect(await flagged(realm, admin, 'add', 'starred', [id])).toMatchObject({ status: 200 });
    realm.pass(2 * DAY);
    await run(realm);
    const { table } = realm.outside;
    expect(await table.all('edit', { realm: realm.realm, messageId: id })).toEqual([]);
    expect(await idsIn(realm, admin, { narrow: [{ operator: 'is', operand: 'starred' }] })).toEqual([]);
    const gone = await realm.call(getMessage, admin, {}, { path: { message_id: id } });
    expect(gone).toMatchObject({ status: 400 });
    const slot = await table.get('slot', { realm: realm.realm, seq: id });
    expect(slot).toMatchObject({ kind: 'tombstone' });
    expect(await storedReactions(realm, id)).toMatchObject([{ isGone: true, expires: expect.any(Number) }]);
  });

  it('has no unread messages that were removed', async () => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member, admin } = realm.people;
    await sent(realm, member, { to: realm.channels.general }, '@**Adam Admin**');
    await sent(realm, member, { people: [admin] });
    realm.pass(2 * DAY);
    await run(realm);
    const { state } = await givenClient(realm, admin, {
      event_types: ['message', 'update_message_flags'],
      fetch_event_types: ['message', 'update_message_flags'],
    });
    expect(state.unread_msgs).toMatchObject({ count: 0, pms: [], streams: [], mentions: [] });
  });

  // As many messages as go with the people in one transaction, the oldest of the channel among them; and one more.
  it.each([44, 45])('has no participants of a topic that vanished with %i messages', async (count) => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const ids = await givenTopic(realm, member, channelId, 'tea', count);
    const place = { realm: realm.realm, channelId, topic: 'tea' };
    const { table, uuid } = realm.outside;
    // 51 of them go before, and 50 with the topic.
    for (const [start, size] of [
      [900_000, 60],
      [900_060, 41],
    ] as const) {
      const many = Array.from({ length: size }, (_, i): Write => {
        const userId = start + i;
        return { put: key('participant', { ...place, userId }), item: { userId } };
      });
      await table.transact(many, uuid());
    }
    realm.pass(2 * DAY);
    const young = await sent(realm, member, { to: channelId, topic: 'cake' });
    await run(realm);
    expect(await left(realm, ids)).toEqual([]);
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(young);
    expect(await storedTopic(realm, channelId, 'tea')).toBeUndefined();
    const prefix = sortPrefix('participant', { topic: 'tea' });
    expect(await table.all('participant', place, { prefix })).toEqual([]);
  });

  it('lacks old messages of a channel that follows its organization again', async () => {
    const realm = await newRealm({ message_retention_days: 3 });
    const { owner } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: -1 }, [owner]);
    const id = await sent(realm, owner, { to: channelId });
    await sent(realm, owner, { to: realm.channels.general });
    realm.pass(10 * DAY);
    await run(realm);
    expect(await left(realm, [id])).toEqual([id]);
    await givenDays(realm, 5);
    await edit(realm, owner, channelId, { message_retention_days: 'realm_default' });
    realm.pass(DAY);
    await run(realm);
    expect(await left(realm, [id])).toEqual([]);
  });
});
