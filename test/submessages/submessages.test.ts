import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as add } from '../../functions/submessages/add.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { exported } from '../support/export-request.ts';
import { meanwhile } from '../support/faults.ts';
import { givenChangedChannel, givenChannel, givenSettings } from '../support/given.ts';
import { move, update } from '../support/message-update.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const success = { status: 200 };
const refused = { status: 400, body: { code: 'BAD_REQUEST' } };
const POLL = '/poll Noon?\n- Yes\n- No';
const VOTE = { type: 'vote', key: 'canned,0', vote: 1 };

/** Bytes of the data that changes a question, without the question. */
const QUESTION_BYTES = JSON.stringify({ type: 'question', question: '' }).length;

const submit = (realm: TestRealm, as: Person, message_id: number, data: unknown) =>
  realm.call(add, as, {
    message_id,
    msg_type: 'widget',
    content: typeof data === 'string' ? data : JSON.stringify(data),
  });

async function submessagesOf(realm: TestRealm, as: Person, message_id: number) {
  const { body } = await realm.call(getMessage, as, {}, { path: { message_id } });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return body.message.submessages as { id: number; sender_id: number; content: string }[];
}

async function givenWidget(content = POLL) {
  const realm = await newRealm();
  const { member } = realm.people;
  const id = await sendTo(realm, member, realm.channels.general, content);
  return { realm, id, ...realm.people };
}

describe('POST /submessage', () => {
  it('gives a poll its question and options in the send, and each vote an event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['message', 'submessage'] });
    const message_id = await sendTo(realm, member, realm.channels.general, POLL);
    expect(await submit(realm, admin, message_id, VOTE)).toMatchObject(success);
    const poll = { widget_type: 'poll', extra_data: { question: 'Noon?', options: ['Yes', 'No'] } };
    const shared = { message_id, msg_type: 'widget' };
    const first = { ...shared, id: message_id, sender_id: member.userId, content: JSON.stringify(poll) };
    const vote = { ...shared, sender_id: admin.userId, content: JSON.stringify(VOTE) };
    const [message, event] = await client.poll();
    expect(message).toMatchObject({ message: { submessages: [first] } });
    const { id, submessage_id, ...rest } = event as unknown as Record<string, unknown>;
    expect(rest).toEqual({ type: 'submessage', ...vote });
    expect(await submessagesOf(realm, member, message_id)).toEqual([first, { ...vote, id: submessage_id }]);
  });

  it('keeps both of two concurrent votes', async () => {
    const { realm, id, admin, guest } = await givenWidget();
    const late = realm.container(meanwhile(() => submit(realm, guest, id, VOTE)));
    expect(await submit(late, admin, id, VOTE)).toMatchObject(success);
    const [, ...votes] = await submessagesOf(realm, admin, id);
    expect(votes.map(({ sender_id }) => sender_id).sort()).toEqual([admin.userId, guest.userId].sort());
  });

  it('refuses users who cannot read the message, and sends them no event', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const client = await givenClient(realm, guest, { event_types: ['submessage'] });
    const id = await sendTo(realm, member, [admin.userId], POLL);
    expect(await submit(realm, guest, id, VOTE)).toMatchObject(refused);
    expect(await submit(realm, guest, id + 1_000, VOTE)).toMatchObject(refused);
    expect(await submit(realm, admin, id, VOTE)).toMatchObject(success);
    expect(await client.poll()).toEqual([]);
    expect(await submessagesOf(realm, admin, id)).toHaveLength(2);
  });

  it('requires the first one to be from the sender of the message', async () => {
    const { realm, id, member, admin } = await givenWidget('hello');
    expect(await submit(realm, admin, id, VOTE)).toMatchObject(refused);
    expect(await submit(realm, member, id, { widget_type: 'zform' })).toMatchObject(success);
    expect(await submit(realm, admin, id, [1])).toMatchObject(success);
    expect(await submessagesOf(realm, admin, id)).toHaveLength(2);
  });

  it.each([
    ['a vote', POLL, { ...VOTE, vote: -1 }],
    ['an option', POLL, { type: 'new_option', idx: 0, option: 'Maybe' }],
    ['a task', '/todo', { type: 'new_task', key: 2, task: 'cake', desc: '', completed: false }],
    ['a strike', '/todo a\nb', { type: 'strike', key: '0,canned' }],
  ])('lets any reader add %s', async (_, content, data) => {
    const { realm, id, admin } = await givenWidget(content);
    expect(await submit(realm, admin, id, data)).toMatchObject(success);
  });

  it.each([
    ['question', POLL, { type: 'question', question: 'One?' }],
    ['title', '/todo', { type: 'new_task_list_title', title: 'Party' }],
  ])('lets only the sender change the %s', async (_, content, data) => {
    const { realm, id, member, admin } = await givenWidget(content);
    expect(await submit(realm, admin, id, data)).toMatchObject(refused);
    expect(await submit(realm, member, id, data)).toMatchObject(success);
    expect(await submessagesOf(realm, admin, id)).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['no JSON', '{"type":'],
    ['an empty text', ''],
    ['a list', [VOTE]],
    ['null', null],
    ['an unknown type', { type: 'cheer' }],
    ['the name of a property of all objects', { type: 'constructor' }],
    ['two votes in one', { ...VOTE, vote: 2 }],
    ['a vote without a key', { type: 'vote', vote: 1 }],
    ['an option with a negative number', { type: 'new_option', idx: -1, option: 'Maybe' }],
    ['a task in a poll', { type: 'strike', key: '0,canned' }],
    ['2,001 bytes', { type: 'question', question: 'x'.repeat(2_001 - QUESTION_BYTES) }],
  ])('refuses %s and changes nothing', async (_, data) => {
    const { realm, id, member } = await givenWidget();
    expect(await submit(realm, member, id, data)).toMatchObject(refused);
    expect(await submessagesOf(realm, member, id)).toHaveLength(1);
  });

  it('accepts 2,000 bytes', async () => {
    const { realm, id, member } = await givenWidget();
    const question = 'x'.repeat(2_000 - QUESTION_BYTES);
    expect(await submit(realm, member, id, { type: 'question', question })).toMatchObject(success);
  });

  it('refuses any type but `widget`', async () => {
    const { realm, id, member } = await givenWidget();
    const parameters = { message_id: id, msg_type: 'text', content: JSON.stringify(VOTE) };
    expect(await realm.call(add, member, parameters)).toMatchObject(refused);
  });

  it('refuses one in an archived channel', async () => {
    const { realm, id, member } = await givenWidget();
    await givenChangedChannel(realm, realm.channels.general, { isArchived: true });
    expect(await submit(realm, member, id, VOTE)).toMatchObject(refused);
  });

  it('allows 50 KB for each message', async () => {
    const { realm, id, member } = await givenWidget();
    const option = 'x'.repeat(1_900);
    const replies: number[] = [];
    for (let idx = 0; idx < 30; idx++) {
      replies.push((await submit(realm, member, id, { type: 'new_option', idx, option })).status);
    }
    expect(replies.indexOf(400)).toBe(25);
    expect(await submessagesOf(realm, member, id)).toHaveLength(26);
    expect(await submit(realm, member, id, VOTE)).toMatchObject(success);
  });
});

describe('a message with submessages', () => {
  it('keeps them when it is edited or moved, and in an export', async () => {
    const { realm, id, member, admin, owner } = await givenWidget();
    await submit(realm, admin, id, VOTE);
    const before = await submessagesOf(realm, member, id);
    expect(await update(realm, member, id, { content: 'No poll.' })).toMatchObject(success);
    expect(await move(realm, admin, id, { stream_id: realm.channels.random })).toMatchObject(success);
    expect(await submessagesOf(realm, owner, id)).toEqual(before);
    await givenSettings(realm, owner, { allow_private_data_export: true });
    const { records } = await exported(realm, 'public');
    expect(records.messages?.find((each) => each.id === id)).toMatchObject({ submessages: before });
  });

  it('that moves during a vote sends its event in the new channel', async () => {
    const { realm, id, member, admin, guest } = await givenWidget();
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin, member]);
    const there = await givenClient(realm, admin, { event_types: ['submessage'] });
    const here = await givenClient(realm, guest, { event_types: ['submessage'] });
    const late = realm.container(meanwhile(() => move(realm, admin, id, { stream_id: channelId })));
    expect(await submit(late, member, id, VOTE)).toMatchObject(success);
    expect(await there.poll()).toMatchObject([{ type: 'submessage', message_id: id }]);
    expect(await here.poll()).toEqual([]);
    expect(await submessagesOf(realm, member, id)).toHaveLength(2);
  });

  it('that is deleted during a vote refuses it, and late clients get earlier ones once', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, admin, { event_types: ['message', 'submessage'] });
    const id = await sendTo(realm, member, realm.channels.general, POLL);
    await submit(realm, admin, id, VOTE);
    const gone = () => realm.call(deleteMessage, admin, {}, { path: { message_id: id } });
    const late = realm.container(meanwhile(gone));
    expect(await submit(late, member, id, VOTE)).toMatchObject(refused);
    expect(await client.poll()).toMatchObject([
      { type: 'message', message: { submessages: [{ id }] } },
      { type: 'submessage', message_id: id },
    ]);
  });
});
