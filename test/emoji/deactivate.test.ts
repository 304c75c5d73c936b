import { describe, expect, test } from 'vitest';
import { handler as deactivate } from '../../functions/emoji/deactivate.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as react } from '../../functions/reactions/add.ts';
import { handler as getStatus } from '../../functions/users/getStatus.ts';
import { handler as setStatus } from '../../functions/users/setStatus.ts';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { edited, storedChannel } from '../support/channel-state.ts';
import { fetched, listed, upload } from '../support/emoji.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const remove = (realm: TestRealm, as: Person, name: string) =>
  realm.call(deactivate, as, {}, { path: { emoji_name: name } });

describe('DELETE /realm/emoji/{emoji_name} (4.9)', () => {
  test('answers 404 with BAD_REQUEST if no active emoji has the name (4.9/unknown, 4.9/emoji_name)', async () => {
    const realm = await newRealm();
    await upload(realm, realm.people.member, 'party');
    await remove(realm, realm.people.member, 'party');
    // Neither an unknown name, nor a built-in emoji, nor one that was deactivated, nor another spelling.
    for (const name of ['nothing', 'smile', 'party', 'Party', 'x'.repeat(300), 'é'.repeat(3_000)]) {
      const { status, body } = await remove(realm, realm.people.admin, name);
      expect([status, body.code], name).toEqual([404, 'BAD_REQUEST']);
      expect(body.msg).toContain('There is no emoji named');
    }
  });

  test('lets its author and organization administrators deactivate an emoji (4.9/own, 4.9/administrators, 4.9/reply)', async () => {
    const realm = await newRealm();
    const { member, moderator, admin, owner, guest } = realm.people;
    for (const [as, status] of [
      [guest, 400],
      [moderator, 400],
      [member, 200],
      [admin, 200],
      [owner, 200],
    ] as const) {
      await upload(realm, member, 'party');
      const reply = await remove(realm, as, 'party');
      expect([reply.status, reply.body.code]).toEqual([status, status === 200 ? undefined : 'BAD_REQUEST']);
      if (status === 200) expect(reply.body).toEqual({ result: 'success', msg: '' });
    }
    // A user without the permission learns that the emoji exists; a missing one is reported first (wire facts 11).
    expect((await remove(realm, guest, 'nothing')).status).toBe(404);
  });

  test('leaves the emoji visible where it was used (2.8/name, 3/deactivated-emoji)', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    await upload(realm, member, 'party');
    const id = await sent(realm, member, { to: realm.channels.general }, 'hello :party:');
    const reaction = { emoji_name: 'party' };
    expect((await realm.call(react, member, reaction, { path: { message_id: id } })).status).toBe(200);
    await realm.call(setStatus, member, { emoji_name: 'party' });
    const { channelId } = await givenChannel(realm);
    await edited(realm, realm.people.admin, channelId, { description: 'for a :party:' });
    const look = async () => {
      const { message } = (await realm.call(getMessage, member, {}, { path: { message_id: id } })).body;
      const { status } = (await realm.call(getStatus, guest, undefined, { path: { user: member.userId } }))
        .body;
      return [
        message.content,
        message.reactions,
        status,
        (await storedChannel(realm, channelId)).renderedDescription,
      ];
    };
    const before = await look();
    await remove(realm, member, 'party');
    const [emoji] = await listed(realm, guest);
    expect(emoji).toMatchObject({ name: 'party', deactivated: true, author_id: member.userId });
    expect(await look()).toEqual(before);
    expect(before).toMatchObject([
      expect.stringContaining(emoji?.source_url ?? ''),
      [reaction],
      reaction,
      expect.stringContaining(emoji?.source_url ?? ''),
    ]);
    expect((await fetched(realm, emoji?.source_url ?? '')).status).toBe(200);
    // New texts and reactions do not know it any more.
    const later = await sent(realm, member, { to: realm.channels.general }, 'hello :party:');
    const { message } = (await realm.call(getMessage, member, {}, { path: { message_id: later } })).body;
    expect(message.content).toBe('<p>hello :party:</p>');
    expect((await realm.call(react, member, reaction, { path: { message_id: later } })).status).toBe(400);
  });

  test('sends one event for two concurrent requests', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    await upload(realm, member, 'party');
    const client = await givenClient(realm, member, { event_types: ['realm_emoji'] });
    const replies = await Promise.all([
      remove(realm.container(), admin, 'party'),
      remove(realm.container(), member, 'party'),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await client.poll()).toHaveLength(1);
  });
});

describe('events of emoji (wire facts 11)', () => {
  test('send all emoji to older clients, and only the changed one to clients with the capability', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const fetch = { fetch_event_types: ['realm_emoji'], event_types: ['realm_emoji'] };
    const plain = await givenClient(realm, guest, fetch);
    const individual = await givenClient(realm, guest, {
      ...fetch,
      client_capabilities: { individual_emoji_changes: true },
    });
    expect(plain.state.realm_emoji).toEqual({});
    await upload(realm, member, 'party');
    const [emoji] = await listed(realm);
    if (!emoji) throw new Error('no emoji');
    expect(await plain.poll()).toEqual([
      { id: expect.any(Number), type: 'realm_emoji', op: 'update', realm_emoji: { [emoji.id]: emoji } },
    ]);
    expect(await individual.poll()).toEqual([
      { id: eventIdOf(Number(emoji.id) + 1), type: 'realm_emoji', op: 'add', emoji },
    ]);

    await remove(realm, member, 'party');
    const gone = { ...emoji, deactivated: true };
    expect(await plain.poll()).toEqual([
      { id: expect.any(Number), type: 'realm_emoji', op: 'update', realm_emoji: { [emoji.id]: gone } },
    ]);
    expect(await individual.poll()).toEqual([
      {
        id: expect.any(Number),
        type: 'realm_emoji',
        op: 'update_one',
        emoji_id: emoji.id,
        data: { deactivated: true },
      },
    ]);
    expect((await givenClient(realm, guest, fetch)).state.realm_emoji).toEqual({ [emoji.id]: gone });
  });
});
