import { describe, expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { commit } from '../../shared/log/commit.ts';
import { givenClient, said, sendTo } from '../support/event-queue.ts';
import { givenChangedUser, givenChannel, givenUser } from '../support/given.ts';
import { eventFor } from '../support/log-entries.ts';
import { newRealm } from '../support/realm.ts';

describe('who gets a message', () => {
  it('only participants get a direct one', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const [addressed, sender, other] = await Promise.all(
      [member, admin, owner].map((person) => givenClient(realm, person)),
    );
    await sendTo(realm, admin, [member.userId], 'psst');
    const [event] = (await addressed?.poll()) ?? [];
    expect(event.message).toMatchObject({ type: 'private', subject: '' });
    expect(event.message).not.toHaveProperty('stream_id');
    expect(event.message.display_recipient.map(({ id }: { id: number }) => id)).toEqual(
      [member.userId, admin.userId].sort((a, b) => a - b),
    );
    expect(said((await sender?.poll()) ?? [])).toEqual(['psst']);
    expect(await other?.poll()).toEqual([]);
  });

  it('subscribers get it from the start to the end of their subscription', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [admin]);
    const client = await givenClient(realm, member, { event_types: ['message'] });
    await sendTo(realm, admin, channelId, 'before');
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    await sendTo(realm, admin, channelId, 'during');
    expect(said(await client.poll())).toEqual(['during']);
    await sendTo(realm, admin, channelId, 'unread when they left');
    await realm.call(unsubscribe, member, { subscriptions: [name] });
    await sendTo(realm, admin, channelId, 'after');
    expect(await client.poll()).toEqual([]);
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    await sendTo(realm, admin, channelId, 'again');
    expect(said(await client.poll())).toEqual(['again']);
  });

  it('clients with all_public_streams get it from public channels, but not private ones, and never for guests', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const open = await givenChannel(realm, {}, [admin]);
    const closed = await givenChannel(realm, { isPrivate: true }, [admin]);
    const client = await givenClient(realm, member, { all_public_streams: true });
    await sendTo(realm, admin, closed.channelId, 'closed');
    await sendTo(realm, admin, open.channelId, 'open @**all**');
    const events = await client.poll();
    expect(said(events)).toEqual(['open @**all**']);
    expect(events[0].flags).toEqual([]);
    await givenChangedUser(realm, member, { role: 600 });
    await sendTo(realm, admin, open.channelId, 'open again');
    expect(await client.poll()).toEqual([]);
  });

  it('the queue that it was sent from always gets it, with the local id, which no other queue gets (4.1/echo)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [admin]);
    const types = { event_types: ['message'] };
    const client = await givenClient(realm, member, { ...types, narrow: [['channel', 'random']] });
    const [second, foreign] = await Promise.all([
      givenClient(realm, member, { ...types, all_public_streams: true }),
      givenClient(realm, admin),
    ]);
    const echo = { queue_id: client.queueId, local_id: '17.02' };
    const id = await sendTo(realm, member, channelId, 'mine', echo);
    expect(await client.poll()).toMatchObject([{ id: eventIdOf(id), local_message_id: '17.02' }]);
    for (const other of [second, foreign]) {
      const [event] = await other.poll();
      expect(event.id).toBe(eventIdOf(id));
      expect(event).not.toHaveProperty('local_message_id');
    }
    await sendTo(realm, admin, realm.channels.general, 'forged', { queue_id: client.queueId, local_id: '1' });
    expect(await client.poll()).toEqual([]);
  });
});

describe('flags of a message', () => {
  it('say that the reader is mentioned, by name or by a wildcard', async () => {
    const realm = await newRealm();
    const { admin, member, moderator } = realm.people;
    const { general } = realm.channels;
    const client = await givenClient(realm, member, { event_types: ['message'] });
    await sendTo(realm, admin, general, '@**Max Member** look');
    await sendTo(realm, admin, general, '@**all** look');
    await sendTo(realm, admin, general, '@**topic** look');
    const early = [...(await client.poll()), ...(await client.poll())];
    await sendTo(realm, member, general, 'here I am', { read_by_sender: true });
    await sendTo(realm, admin, general, '@**topic** look again');
    await sendTo(realm, moderator, general, '@_**Max Member** nothing');
    const late = [...(await client.poll()), ...(await client.poll())];
    const flags = [...early, ...late].map((event) => event.flags.sort());
    const topic = ['topic_wildcard_mentioned', 'wildcard_mentioned'];
    expect(flags).toEqual([
      ['mentioned'],
      ['stream_wildcard_mentioned', 'wildcard_mentioned'],
      [],
      ['read'],
      topic,
      [],
    ]);
  });
});

describe('what a queue filters', () => {
  it('events are filtered by their types, and unknown types never come', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { event_types: ['chess', 'message'] });
    await givenUser(realm);
    await sendTo(realm, realm.people.admin, realm.channels.general, 'hello');
    expect(said(await client.poll())).toEqual(['hello']);
  });

  it.each<[string, unknown, string[]]>([
    ['a channel by its name', [['stream', 'GENERAL']], ['general']],
    ['a channel by its id', [{ operator: 'channel', operand: 'ID' }], ['general']],
    ['a topic', [['topic', 'Hi']], ['general', 'random']],
    ['a sender by their address', [['sender', 'ADMIN@example.com']], ['general', 'random', 'direct']],
    ['a sender who sent nothing', [['sender', 'owner@example.com']], []],
    ['direct messages', [['is', 'dm']], ['direct']],
    ['direct messages by their older name', [['is', 'private']], ['direct']],
    ['mentions', [['is', 'mentioned']], []],
    [
      'two conditions',
      [
        ['stream', 'general'],
        ['topic', 'other'],
      ],
      [],
    ],
  ])('messages are filtered by the narrow: %s', async (_, narrow, heard) => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const given = JSON.parse(JSON.stringify(narrow).replace('"ID"', String(realm.channels.general)));
    const client = await givenClient(realm, member, { narrow: given, event_types: ['message'] });
    await sendTo(realm, admin, realm.channels.general, 'general');
    await sendTo(realm, admin, realm.channels.random, 'random');
    await sendTo(realm, admin, [member.userId], 'direct');
    expect(said(await client.poll())).toEqual(heard);
  });

  it('events other than messages are not filtered by the narrow', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { narrow: [['channel', 'nowhere']] });
    await givenUser(realm);
    expect(said(await client.poll())).toContain('realm_user');
  });
});

describe('events with an audience', () => {
  it('reach users who can see the channel', async () => {
    const realm = await newRealm();
    const { admin, member, guest, owner } = realm.people;
    const clients = await Promise.all([admin, member, guest].map((person) => givenClient(realm, person)));
    await givenChannel(realm, { isPrivate: true }, [owner]);
    const heard = await Promise.all(clients.map(async (client) => said(await client.poll())));
    expect(heard).toEqual([['stream'], [], []]);
  });

  it('reach administrators, members, or just some people', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const clients = await Promise.all([admin, member, guest].map((person) => givenClient(realm, person)));
    const setting = (property: string) => ({ type: 'realm', op: 'update', property, value: true });
    await commit(realm.log, 3, () => ({
      writes: [],
      entries: [
        { ...eventFor(setting('administrators')), hearers: { everyone: 'administrators' } },
        { ...eventFor(setting('members')), hearers: { everyone: 'members' } },
        { ...eventFor(setting('the guest')), hearers: { users: [guest.userId] } },
      ],
      result: undefined,
    }));
    const heard = await Promise.all(
      clients.map(async (client) => (await client.poll()).map(({ property }) => property)),
    );
    expect(heard).toEqual([['administrators', 'members'], ['members'], ['the guest']]);
  });

  it('about a message reach users who may read that message', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const protectedHistory = { isPrivate: true, historyPublicToSubscribers: false };
    const { channelId, name } = await givenChannel(realm, protectedHistory, [admin]);
    const client = await givenClient(realm, member, { event_types: ['reaction'] });
    const early = await sendTo(realm, admin, channelId, 'early');
    await realm.call(subscribe, admin, { subscriptions: [{ name }], principals: [member.userId] });
    const late = await sendTo(realm, admin, channelId, 'late');
    const { userId: user_id } = admin;
    const reaction = {
      ...{ type: 'reaction', op: 'add', user_id },
      ...{ emoji_name: 'smile', emoji_code: '1f604', reaction_type: 'unicode_emoji' },
    };
    for (const message of [early, late]) {
      const about = {
        ...eventFor({ ...reaction, message_id: message }),
        hearers: { message, channel: channelId },
      };
      await commit(realm.log, 1, () => ({ writes: [], entries: [about], result: undefined }));
    }
    expect((await client.poll()).map(({ message_id }) => message_id)).toEqual([late]);
  });

  it('have the form that the client understands', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { client_capabilities: {} });
    const { general } = realm.channels;
    const place = { stream_id: general, topic_name: '' };
    const payload = { type: 'user_topic', ...place, visibility_policy: 1, last_updated: 0 };
    const entry = { ...eventFor(payload), hearers: { users: [realm.people.member.userId] } };
    await commit(realm.log, 1, () => ({ writes: [], entries: [entry], result: undefined }));
    await sendTo(realm, realm.people.admin, general, 'x', { topic: '' });
    expect(await client.poll()).toMatchObject([
      { topic_name: 'general chat' },
      { message: { subject: 'general chat' } },
    ]);
  });
});
