import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as getHistory } from '../../functions/messages/getHistory.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import {
  givenChangedChannel,
  givenChannel,
  givenCrowd,
  givenGroup,
  givenRealmSettings,
} from '../support/given.ts';
import { fetched, historyOf, invalid, refused, success, update } from '../support/message-update.ts';
import { react, reactionsTo } from '../support/reactions.ts';
import { newRealm } from '../support/realm.ts';
import { storedMessage, storedUserTopic } from '../support/stored.ts';

const inserted = (text: string): string => `<span class="highlight_text_inserted">${text}</span>`;
const deleted = (text: string): string => `<span class="highlight_text_deleted">${text}</span>`;

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('PATCH /messages/{message_id} with content', () => {
  it('replaces the content, renders it, and sends an event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const client = await givenClient(realm, admin, { event_types: ['update_message'] });
    const id = await sendTo(realm, member, general, 'hello *you*');
    realm.pass(5_000);
    expect(await update(realm, member, id, { content: '/me waves @**Adam Admin**  \n' })).toMatchObject(
      success,
    );
    const message = await fetched(realm, admin, id);
    const [event] = await client.poll();
    expect(message).toMatchObject({
      content: '/me waves @**Adam Admin**',
      is_me_message: true,
      flags: ['mentioned'],
      last_edit_timestamp: event.edit_timestamp,
      edit_history: [{ user_id: member.userId, timestamp: event.edit_timestamp }],
    });
    expect(message).not.toHaveProperty('last_moved_timestamp');
    expect(event.edit_timestamp).toBeGreaterThanOrEqual(message.timestamp + 5);
    const { rendered } = await storedMessage(realm, id);
    expect(rendered).toContain('user-mention');
    expect(event).toEqual({
      id: event.id,
      type: 'update_message',
      user_id: member.userId,
      edit_timestamp: event.edit_timestamp,
      message_id: id,
      message_ids: [id],
      rendering_only: false,
      stream_id: general,
      stream_name: 'general',
      orig_content: 'hello *you*',
      orig_rendered_content: '<p>hello <em>you</em></p>',
      content: '/me waves @**Adam Admin**',
      rendered_content: rendered,
      is_me_message: true,
      flags: ['mentioned'],
    });
  });

  it('sends each user the flags of the message for them', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['update_message'] });
    const id = await sendTo(realm, member, realm.channels.general, '@**Adam Admin** look');
    for (const flag of ['read', 'starred']) {
      await realm.call(updateFlags, admin, { messages: [id], op: 'add', flag });
    }
    await update(realm, member, id, { content: 'look' });
    await update(realm, member, id, { content: 'look @**all**' });
    const flags = (await client.poll()).map((event) => event.flags.sort());
    expect(flags).toEqual([
      ['read', 'starred'],
      ['read', 'starred', 'stream_wildcard_mentioned', 'wildcard_mentioned'],
    ]);
    expect((await fetched(realm, admin, id)).flags.sort()).toEqual(flags[1]);
  });

  it('sends the event for a direct message only to its participants', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const [mine, foreign] = await Promise.all(
      [admin, owner].map((each) => givenClient(realm, each, { event_types: ['update_message'] })),
    );
    const id = await sendTo(realm, member, [admin.userId], 'psst');
    expect(await update(realm, member, id, { content: 'hush' })).toMatchObject(success);
    const [event] = (await mine?.poll()) ?? [];
    expect(event).toMatchObject({ message_id: id, content: 'hush', flags: [] });
    expect(event).not.toHaveProperty('stream_id');
    expect(await foreign?.poll()).toEqual([]);
    expect(await update(realm, member, id, { topic: 'x' })).toMatchObject(refused);
    expect(await update(realm, member, id, { stream_id: realm.channels.general })).toMatchObject(refused);
  });

  it('stores empty content as "(deleted)", and truncates content that is too long', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    await update(realm, member, id, { content: ' \n ' });
    expect((await fetched(realm, member, id)).content).toBe('(deleted)');
    await update(realm, member, id, { content: 'é'.repeat(10_001) });
    expect([...(await fetched(realm, member, id)).content]).toHaveLength(10_000);
  });

  it('keeps reactions', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    await react(realm, member, id);
    await update(realm, member, id, { content: 'hi' });
    expect(await reactionsTo(realm, member, id)).toHaveLength(1);
  });

  it('makes newly mentioned users follow the topic, but not those who were mentioned before', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const { general } = realm.channels;
    const id = await sendTo(realm, member, general, 'hello');
    await update(realm, member, id, { content: 'hello @**Adam Admin**' });
    expect(await storedUserTopic(realm, admin, general, 'hi')).toMatchObject({ policy: visibility.followed });
    expect(await storedUserTopic(realm, moderator, general, 'hi')).toBeUndefined();
  });
});

describe('who may edit the content, and when', () => {
  it('hidden and missing messages are refused in the same words', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin]);
    const closed = await sendTo(realm, admin, channelId, 'closed');
    const direct = await sendTo(realm, admin, [owner.userId], 'psst');
    for (const id of [closed, direct, closed + 1_000, realm.channels.general, 0, 2 ** 52]) {
      expect(await update(realm, member, id, { content: 'x' }), `${id}`).toMatchObject(invalid);
      expect(await update(realm, member, id, { topic: 'x' }), `${id}`).toMatchObject(invalid);
      const path = { message_id: id };
      expect(await realm.call(getHistory, member, {}, { path }), `${id}`).toMatchObject(invalid);
    }
  });

  it('only its sender may edit it, not even administrators', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    expect(await update(realm, owner, id, { content: 'x' })).toMatchObject(refused);
    expect((await fetched(realm, member, id)).content).toBe('hello');
  });

  it('allow_message_editing and message_content_edit_limit_seconds limit it', async () => {
    const realm = await newRealm({ message_content_edit_limit_seconds: 60 });
    const { owner } = realm.people;
    const id = await sendTo(realm, owner, realm.channels.general, 'hello');
    realm.pass(70_000);
    expect(await update(realm, owner, id, { content: 'in time' })).toMatchObject(success);
    realm.pass(30_000);
    expect(await update(realm, owner, id, { content: 'late' })).toMatchObject(refused);
    await givenRealmSettings(realm, { message_content_edit_limit_seconds: null });
    expect(await update(realm, owner, id, { content: 'any time' })).toMatchObject(success);
    await givenRealmSettings(realm, { allow_message_editing: false });
    expect(await update(realm, owner, id, { content: 'never' })).toMatchObject(refused);
    expect((await fetched(realm, owner, id)).content).toBe('any time');
  });

  it('nobody may edit messages in an archived channel', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await sendTo(realm, member, channelId, 'hello');
    await givenChangedChannel(realm, channelId, { isArchived: true });
    expect(await update(realm, member, id, { content: 'x' })).toMatchObject(refused);
    expect(await update(realm, member, id, { topic: 'x' })).toMatchObject(refused);
  });

  it('specification 4.1 rule 3: new content needs the same permissions for mentions as a send', async () => {
    const realm = await newRealm({ can_mention_many_users_group: systemGroups.nobody.id });
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    await givenCrowd(realm, channelId, 20);
    await givenGroup(realm, {
      name: 'cooks',
      members: [admin],
      settings: { can_mention_group: systemGroups.nobody.id },
    });
    const id = await sendTo(realm, member, channelId, 'hello');
    expect(await update(realm, member, id, { content: '@**all**' })).toMatchObject({
      status: 400,
      body: { code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED' },
    });
    expect(await update(realm, member, id, { content: '@*cooks*' })).toMatchObject(refused);
    expect(await update(realm, member, id, { content: '@_*cooks* `@**all**`' })).toMatchObject(success);
  });

  it.each<[string, object]>([
    ['nothing to change', {}],
    ['only flags of a move', { send_notification_to_old_thread: true }],
    ['a mode without a move', { content: 'x', propagate_mode: 'change_all' }],
    ['an unknown mode', { topic: 'x', propagate_mode: 'change_some' }],
    ['content and channel', { content: 'x', stream_id: 1 }],
    ['a channel that cannot be', { stream_id: 0 }],
    ['the place where it is', { topic: 'hi' }],
    ['a topic with a control character', { topic: 'a\u0007' }],
  ])('%s is refused', async (_, change) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    expect(await update(realm, member, id, { ...change })).toMatchObject(refused);
    expect(await fetched(realm, member, id)).not.toHaveProperty('edit_history');
  });
});

describe('two at once', () => {
  it('prev_content_sha256 refuses the second of two edits with EXPECTATION_MISMATCH', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    const expected = { prev_content_sha256: sha('hello') };
    const contents = ['one', 'two', 'three'];
    const replies = await Promise.all(
      contents.map((content) => update(realm.container(), member, id, { content, ...expected })),
    );
    const codes = replies.map(({ body }) => body.code ?? 'success').sort();
    expect(codes).toEqual(['EXPECTATION_MISMATCH', 'EXPECTATION_MISMATCH', 'success']);
    const fields = new Set(replies.map(({ body }) => body.field_name));
    expect(fields).toEqual(new Set([undefined, 'prev_content_sha256']));
    const winner = contents[replies.findIndex(({ status }) => status === 200)];
    expect((await fetched(realm, member, id)).content).toBe(winner);
  });

  it('without it both edits happen, one after the other, and the last event has what is stored', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['update_message'] });
    const id = await sendTo(realm, member, realm.channels.general, '0');
    for (let round = 0; round < 4; round++) {
      const replies = await Promise.all(
        ['a', 'b'].map((each) => update(realm.container(), member, id, { content: `${each}${round}` })),
      );
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    }
    const events = await client.poll();
    expect(events).toHaveLength(8);
    expect(events.slice(1).map((event) => event.orig_content)).toEqual(
      events.slice(0, -1).map((event) => event.content),
    );
    expect((await fetched(realm, member, id)).content).toBe(events.at(-1).content);
    expect(await historyOf(realm, member, id)).toHaveLength(9);
  });

  it('the deletion of a message that was edited very often removes all its earlier texts', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, '0');
    for (let i = 1; i <= 45; i++) await update(realm, member, id, { content: `${i}` });
    const edits = { realm: realm.realm, messageId: id };
    expect(await realm.outside.table.all('edit', edits)).toHaveLength(35);
    expect((await realm.call(deleteMessage, member, {}, { path: { message_id: id } })).status).toBe(200);
    expect(await realm.outside.table.all('edit', edits)).toEqual([]);
  });

  it('an edit does not bring back a message that is deleted at the same time', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let round = 0; round < 5; round++) {
      const id = await sendTo(realm, member, realm.channels.general, 'hello');
      const path = { message_id: id };
      const [edited, deleted] = await Promise.all([
        update(realm.container(), member, id, { content: 'x' }),
        realm.container().call(deleteMessage, member, {}, { path }),
      ]);
      expect(deleted.status).toBe(200);
      expect([200, 400]).toContain(edited.status);
      expect(await update(realm, member, id, { content: 'y' })).toMatchObject(invalid);
      const kept = await realm.outside.table.all('edit', { realm: realm.realm, messageId: id });
      expect(kept, 'texts of a deleted message').toEqual([]);
    }
  });
});

describe('GET /messages/{message_id}/history', () => {
  it('returns every version, the oldest first', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'one');
    await update(realm, member, id, { content: 'two' });
    await update(realm, admin, id, { topic: 'other', send_notification_to_new_thread: false });
    await update(realm, member, id, {
      content: '*three*',
      topic: '',
      send_notification_to_new_thread: false,
    });
    const history = await historyOf(realm, admin, id);
    const rendered = (text: string) => ({ content: text, rendered_content: `<p>${text}</p>` });
    expect(history.map(({ timestamp, ...rest }) => rest)).toEqual([
      { user_id: member.userId, topic: 'hi', ...rendered('one') },
      {
        user_id: member.userId,
        topic: 'hi',
        ...rendered('two'),
        prev_content: 'one',
        prev_rendered_content: '<p>one</p>',
        content_html_diff: `<div><p>${inserted('two')}${deleted('one')}</p></div>`,
      },
      { user_id: admin.userId, topic: 'other', prev_topic: 'hi', ...rendered('two') },
      {
        user_id: member.userId,
        topic: 'general chat',
        prev_topic: 'other',
        content: '*three*',
        rendered_content: '<p><em>three</em></p>',
        prev_content: 'two',
        prev_rendered_content: '<p>two</p>',
        content_html_diff: `<div><p>${deleted('two')}<em>${inserted('three')}</em></p></div>`,
      },
    ]);
  });

  it('returns texts that are stored in the message, in items of their own, and by earlier releases', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, '0');
    const texts = ['0'];
    for (let i = 1; i <= 14; i++) texts.push(i === 7 ? 'long '.repeat(900).trim() : `${i}`);
    for (const content of texts.slice(1)) await update(realm, member, id, { content });
    const told = async (): Promise<string[]> =>
      (await historyOf(realm, member, id)).map(({ content }) => content);
    expect(await told()).toEqual(texts);
    const at = { realm: realm.realm, messageId: id };
    expect((await realm.outside.table.all('edit', at)).length).toBeGreaterThan(5);
    // As earlier releases stored all of them.
    const { history = [] } = await storedMessage(realm, id);
    for (const { seq, before } of history) {
      if (before) await realm.outside.table.put(key('edit', { ...at, seq }), { seq, ...before });
    }
    const change = { set: { history: history.map(({ before: _, ...revision }) => revision) } };
    await realm.outside.table.update(key('slot', { realm: realm.realm, seq: id }), change);
    expect(await told()).toEqual(texts);
    await update(realm, member, id, { content: 'last' });
    expect(await told()).toEqual([...texts, 'last']);
  });

  it('limits the diffs to what fits into a reply, and prefers the newest versions', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const long = (word: string): string => `${word} `.repeat(4_000).trim();
    const id = await sendTo(realm, member, realm.channels.general, long('a'));
    for (let i = 0; i < 40; i++) await update(realm, member, id, { content: long('bc'[i % 2] ?? '') });
    const versions = await historyOf(realm, member, id);
    const compared = versions.map((version) => version.content_html_diff !== undefined);
    expect(compared.at(-1)).toBe(true);
    expect(compared).toEqual([...compared].sort());
    // Half a million bytes; two versions take some 16,000 of them.
    expect(compared.filter(Boolean).length).toBe(31);
    for (const { content_html_diff: diff = '' } of versions) expect(diff.length).toBeLessThan(20_000);
  });

  it('is also returned with the message, without long texts except the one before the last edit', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'one');
    await update(realm, member, id, { content: '*two*' });
    const moved = { topic: 'other', send_notification_to_new_thread: false };
    await update(realm, admin, id, moved);
    await update(realm, member, id, { content: 'three' });
    const history = async () => (await fetched(realm, admin, id)).edit_history;
    const common = { timestamp: expect.any(Number) };
    const edits = [
      {
        ...common,
        user_id: member.userId,
        prev_content: '*two*',
        prev_rendered_content: '<p><em>two</em></p>',
      },
      { ...common, user_id: admin.userId, prev_topic: 'hi', topic: 'other' },
      { ...common, user_id: member.userId, prev_content: 'one', prev_rendered_content: '<p>one</p>' },
    ];
    expect(await history()).toEqual(edits);
    const long = 'long '.repeat(1_999).trim();
    await update(realm, member, id, { content: long });
    await update(realm, member, id, { content: 'five' });
    const [five, four, third] = await history();
    expect([five.prev_content, four.prev_content, third.prev_content]).toEqual([long, undefined, undefined]);
    await update(realm, member, id, { content: 'six' });
    expect((await history())[0].prev_content).toBe('five');

    await givenRealmSettings(realm, { message_edit_history_visibility_policy: 'moves' });
    expect(await history()).toEqual([edits[1]]);
    await givenRealmSettings(realm, { message_edit_history_visibility_policy: 'none' });
    expect(await history()).toBeUndefined();
  });

  it('costs a fetch no further read, and fits into the item whatever the texts are', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'one');
    const container = realm.container();
    await fetched(container, member, id);
    container.meter.reset();
    await fetched(container, member, id);
    const before = container.meter.roundTrips;
    for (const content of [':tada:'.repeat(500), '😀'.repeat(10_000), '**x** '.repeat(1_600), 'end']) {
      expect(await update(realm, member, id, { content })).toMatchObject(success);
    }
    container.meter.reset();
    expect((await fetched(container, member, id)).edit_history[0].prev_content).toContain('**x**');
    expect(container.meter.roundTrips).toBe(before);
  });

  it('returns one version of a message that was never changed', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'one');
    expect(await historyOf(realm, member, id)).toMatchObject([{ content: 'one', user_id: member.userId }]);
  });
});
