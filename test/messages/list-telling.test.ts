import { describe, expect, it } from 'vitest';
import { fetched, flagged, flagsFor, sent } from '../message.ts';
import { newRealm } from '../realm.ts';

describe('GET /messages: how a message is told', () => {
  it('a channel message', async () => {
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

  it('a direct message, to both sides', async () => {
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

  it('as it was written, with the empty topic, and with an avatar, where that is asked for', async () => {
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

  it('flags', async () => {
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
