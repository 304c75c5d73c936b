import { describe, expect, it } from 'vitest';
import { givenClient, said } from '../support/event-queue.ts';
import { givenChangedChannel, givenChannel, givenSubscription } from '../support/given.ts';
import { move, refused, say, sayMany, success, topicsOf, update } from '../support/message-update.ts';
import { deliver, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { newRealm } from '../support/realm.ts';
import { firstOf, storedCount, storedMessage, storedTopic } from '../support/stored.ts';

describe('propagate_mode', () => {
  it('change_later takes the message and what came after it', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 6);
    const change = { stream_id: random, propagate_mode: 'change_later' };
    expect(await move(realm, member, ids[2] as number, change)).toMatchObject(success);
    const channels = await Promise.all(ids.map(async (id) => (await storedMessage(realm, id)).channelId));
    expect(channels).toEqual([general, general, random, random, random, random]);
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({ maxId: ids[1] });
    expect(await storedTopic(realm, random, 'tea')).toMatchObject({ maxId: ids[5] });
    expect(await storedCount(realm, random)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, random)).toBe(ids[2]);
  });

  it('moves only what the caller may read', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const protectedHistory = { isPrivate: true, historyPublicToSubscribers: false };
    const { channelId } = await givenChannel(realm, protectedHistory, [admin]);
    const before = await sayMany(realm, [admin], channelId, 'tea', 2);
    await givenSubscription(realm, member, channelId);
    const after = await sayMany(realm, [admin], channelId, 'tea', 2);
    const change = { topic: 'cake', propagate_mode: 'change_all' };
    expect(await move(realm, member, after[0] as number, change)).toMatchObject(success);
    expect(await topicsOf(realm, [...before, ...after])).toEqual(['tea', 'tea', 'cake', 'cake']);
  });

  it('users who lose access to the messages get a deletion of each', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const open = await givenChannel(realm, {}, [member, admin]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin]);
    const client = await givenClient(realm, member, { event_types: ['delete_message', 'update_message'] });
    const ids = await sayMany(realm, [admin], open.channelId, 'tea', 23);
    const change = { stream_id: closed.channelId, propagate_mode: 'change_all' };
    expect(await move(realm, admin, ids[0] as number, change)).toMatchObject(success);
    await workedOff(realm);
    const events = await client.poll();
    expect(events.map(({ message_id }) => message_id).toSorted((a, b) => a - b)).toEqual(ids);
  });

  it('two concurrent moves of one topic lose no message and count none twice', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member, admin]);
    const ids = await sayMany(realm, [member], channelId, 'tea', 12);
    const all = (topic: string) => ({ topic, propagate_mode: 'change_all' });
    await Promise.all([
      move(realm.container(), member, ids[0] as number, all('cake')),
      move(realm.container(), admin, ids[11] as number, all('pie')),
    ]);
    const topics = await topicsOf(realm, ids);
    for (const topic of ['tea', 'cake', 'pie']) {
      const here = ids.filter((_, i) => topics[i] === topic);
      const stored = await storedTopic(realm, channelId, topic);
      if (here.length === 0) expect(stored).toBeUndefined();
      else {
        expect(stored).toMatchObject({ maxId: here.at(-1) });
        expect((stored?.arrived ?? 0) - (stored?.left ?? 0)).toBe(here.length);
      }
    }
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: new Set(topics).size });
  });
});

describe('notices of a move', () => {
  it('go to the new topic by default, and to the old one only on request', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 3);
    const client = await givenClient(realm, admin, { event_types: ['message'] });
    const noticesOf = async (id: number, change: object): Promise<[string, string][]> => {
      expect(await update(realm, member, id, { ...change })).toMatchObject(success);
      await workedOff(realm);
      const events = await client.poll();
      return events.map(({ message }) => [message.subject, message.content]);
    };
    const who = `@_**Max Member|${member.userId}**`;
    const [first, second, third] = ids as [number, number, number];
    expect(await noticesOf(third, { topic: 'cake' })).toEqual([
      ['cake', `A message was moved here from #**general>tea** by ${who}.`],
    ]);
    expect(await noticesOf(second, { topic: 'pie', send_notification_to_new_thread: false })).toEqual([]);
    expect(await noticesOf(first, { stream_id: random, send_notification_to_old_thread: true })).toEqual([
      ['tea', `This topic was moved here from #**general>tea** by ${who}.`],
      ['tea', `This topic was moved to #**random>tea** by ${who}.`],
    ]);
    const both = { topic: 'nuts', propagate_mode: 'change_all' };
    const more = await say(realm, member, general, 'cake');
    await client.poll();
    expect(await noticesOf(more, both)).toEqual([
      ['nuts', `This topic was moved here from #**general>cake** by ${who}.`],
    ]);
  });

  it('name the user who resolves a topic', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 2);
    const client = await givenClient(realm, admin, { event_types: ['message'] });
    const change = (topic: string) => ({ topic, propagate_mode: 'change_all' });
    const who = `@_**Max Member|${member.userId}**`;
    expect(await update(realm, member, ids[0] as number, change('✔ tea'))).toMatchObject(success);
    expect(said(await client.poll())).toEqual([`${who} has marked this topic as resolved.`]);
    expect(await storedTopic(realm, general, '✔ tea')).toMatchObject({ arrived: 3 });
    expect(await update(realm, member, ids[0] as number, change('tea'))).toMatchObject(success);
    expect(said(await client.poll())).toEqual([`${who} has marked this topic as unresolved.`]);
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({ arrived: 4 });
  });

  it('do not name a private channel in another one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const open = await givenChannel(realm, {}, [member, admin]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin]);
    const id = await say(realm, admin, open.channelId, 'tea');
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const change = { stream_id: closed.channelId, send_notification_to_old_thread: true };
    expect(await update(realm, admin, id, change)).toMatchObject(success);
    await workedOff(realm);
    expect(said(await client.poll())).toEqual([
      `This topic was moved to another channel by @_**Adam Admin|${admin.userId}**.`,
    ]);
    expect(await update(realm, admin, id, { topic: 'tea' })).toMatchObject(refused);
  });

  it('go to the old topic later, once, without the name of a channel that became private meanwhile', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const open = await givenChannel(realm, {}, [member, admin]);
    const other = await givenChannel(realm, {}, [admin]);
    const ids = await sayMany(realm, [admin], open.channelId, 'tea', 2);
    const client = await givenClient(realm, member, { event_types: ['message'] });
    const container = realm.container();
    const change = { stream_id: other.channelId, send_notification_to_old_thread: true };
    expect(await update(container, admin, ids[0] as number, change)).toMatchObject(success);
    expect(container.meter.roundTrips).toBe(3);
    expect(said(await client.poll())).toEqual([]);
    await givenChangedChannel(realm, other.channelId, { isPrivate: true });
    const messages = messagesOf(await leftIn(realm));
    for (let i = 0; i < 2; i++) await Promise.all([deliver(realm, messages), deliver(realm, messages)]);
    expect(said(await client.poll())).toEqual([
      `A message was moved from this topic to another channel by @_**Adam Admin|${admin.userId}**.`,
    ]);
    expect(await leftIn(realm)).toEqual([]);
  });
});
