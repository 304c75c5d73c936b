import { describe, expect, it } from 'vitest';
import { handler as update } from '../../functions/messages/update.ts';
import { givenClient } from '../support/event-queue.ts';
import { fetched, flagged, flagsFor, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /messages: the form of a message', () => {
  it('a channel message has its channel and topic', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const id = await sent(realm, member, { to: general, topic: 'Tea' }, '**now**');
    const { body } = await fetched(realm, admin);
    expect(body.messages).toEqual([
      {
        id,
        type: 'stream',
        sender_id: member.userId,
        sender_email: member.email,
        sender_full_name: 'Max Member',
        sender_realm_str: expect.any(String),
        avatar_url: null,
        recipient_id: general,
        timestamp: expect.closeTo(Date.now() / 1000, -2),
        client: 'ParlanceTest',
        subject: 'Tea',
        topic_links: [],
        display_recipient: 'general',
        stream_id: general,
        content: '<p><strong>now</strong></p>',
        content_type: 'text/html',
        is_me_message: false,
        reactions: [],
        submessages: [],
        flags: [],
      },
    ]);
  });

  it('a message lists the links in its topic, also in its event and after a move', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['message', 'update_message'] });
    const link = (url: string) => ({ text: url, url });
    const topic = 'see (https://example.com/a?b=1#c), HTTP://x.org!';
    const id = await sent(realm, member, { to: realm.channels.general, topic });
    const links = [link('https://example.com/a?b=1#c'), link('HTTP://x.org')];
    const read = async () => (await fetched(realm, admin)).body.messages[0].topic_links;
    expect(await read()).toEqual(links);
    expect(await client.poll()).toMatchObject([{ message: { topic_links: links } }]);
    const other = 'ftp://x http:// https:///y js://z a.com https://y.org/';
    const to = { topic: other, send_notification_to_new_thread: false };
    expect((await realm.call(update, admin, to, { path: { message_id: id } })).status).toBe(200);
    expect(await read()).toEqual([link('https://y.org/')]);
    expect(await client.poll()).toMatchObject([{ topic_links: [link('https://y.org/')] }]);
  });

  it('a direct message has the same form for both participants', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const id = await sent(realm, member, { people: [guest] }, '/me waves');
    for (const person of [member, guest]) {
      const { body } = await fetched(realm, person);
      expect(body.messages).toMatchObject([
        {
          id,
          type: 'private',
          subject: '',
          is_me_message: true,
          display_recipient: [
            { id: member.userId, email: member.email, full_name: 'Max Member', is_mirror_dummy: false },
            { id: guest.userId, email: guest.email, full_name: 'Gus Guest', is_mirror_dummy: false },
          ],
        },
      ]);
      expect(body.messages[0]).not.toHaveProperty('stream_id');
    }
  });

  it('a client may request Markdown, the name of the empty topic and avatars', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await sent(realm, member, { to: realm.channels.general, topic: '' }, '**now**');
    const plain = await fetched(realm, admin);
    expect(plain.body.messages).toMatchObject([{ subject: 'general chat' }]);
    const { body } = await fetched(realm, admin, {
      apply_markdown: false,
      allow_empty_topic_name: true,
      client_gravatar: false,
    });
    expect(body.messages).toMatchObject([
      {
        subject: '',
        content: '**now**',
        content_type: 'text/x-markdown',
        avatar_url: expect.stringMatching(/^http/),
      },
    ]);
  });

  it('a message has the flags of its reader', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const read = await sent(realm, member, { to: general }, 'x', { read_by_sender: true });
    const unread = await sent(realm, member, { to: general }, 'x', { read_by_sender: false });
    expect(await flagsFor(realm, member, read)).toEqual(['read']);
    expect(await flagsFor(realm, member, unread)).toEqual([]);
    expect(await flagsFor(realm, admin, read)).toEqual([]);
    await sent(realm, admin, { to: general });
    const all = await sent(realm, member, { to: general }, '@**Adam Admin** @**all** @**topic**');
    await flagged(realm, admin, 'add', 'starred', [all]);
    expect(await flagsFor(realm, admin, all)).toEqual([
      'starred',
      'mentioned',
      'stream_wildcard_mentioned',
      'topic_wildcard_mentioned',
      'wildcard_mentioned',
    ]);
    expect(await flagsFor(realm, realm.people.owner, all)).toEqual([
      'stream_wildcard_mentioned',
      'wildcard_mentioned',
    ]);
  });
});
