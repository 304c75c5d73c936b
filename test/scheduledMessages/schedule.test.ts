import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as create } from '../../functions/scheduledMessages/create.ts';
import { handler as remove } from '../../functions/scheduledMessages/delete.ts';
import { handler as list } from '../../functions/scheduledMessages/list.ts';
import { handler as update } from '../../functions/scheduledMessages/update.ts';
import { MAX_SCHEDULED } from '../../shared/domain/scheduled/scheduled-message.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const at = (scheduled_message_id: number | string) => ({ path: { scheduled_message_id } });

/** A time so many seconds from now; the default is beyond what gets a queue message at once. */
const inSeconds = (realm: TestRealm, seconds = 3_600) => Math.floor(realm.outside.now() / 1000) + seconds;

async function scheduled(realm: TestRealm, as: Person, given: object = {}): Promise<number> {
  const { status, body } = await realm.call(create, as, {
    type: 'channel',
    to: realm.channels.general,
    topic: 'lunch',
    content: 'Soup *now*',
    scheduled_delivery_timestamp: inSeconds(realm),
    ...given,
  });
  expect([status, body.msg]).toEqual([200, '']);
  return body.scheduled_message_id;
}

const listed = async (realm: TestRealm, as: Person) => (await realm.call(list, as)).body.scheduled_messages;

describe('scheduled messages (companion facts 2.3)', () => {
  it('can be created, listed, registered, changed and deleted, with events only for their user', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, member);
    const other = await givenClient(realm, admin);
    const later = inSeconds(realm, 7_200);
    const id = await scheduled(realm, member, { scheduled_delivery_timestamp: later });
    const direct = await scheduled(realm, member, {
      type: 'direct',
      to: [admin.userId, member.userId],
      content: 'Hi',
    });
    const first = {
      scheduled_message_id: id,
      type: 'stream',
      to: realm.channels.general,
      topic: 'lunch',
      content: 'Soup *now*',
      rendered_content: '<p>Soup <em>now</em></p>',
      scheduled_delivery_timestamp: later,
      failed: false,
    };
    const second = {
      scheduled_message_id: direct,
      type: 'private',
      to: [admin.userId],
      content: 'Hi',
      rendered_content: '<p>Hi</p>',
      scheduled_delivery_timestamp: expect.any(Number),
      failed: false,
    };
    expect(await listed(realm, member)).toEqual([second, first]);
    expect(await listed(realm, admin)).toEqual([]);
    const asked = { fetch_event_types: ['scheduled_messages'] };
    expect((await realm.call(register, member, asked)).body.scheduled_messages).toEqual([second, first]);
    const changed = {
      ...first,
      to: [admin.userId],
      type: 'private',
      content: 'Stew',
      rendered_content: '<p>Stew</p>',
    };
    const { topic, ...after } = changed;
    await realm.call(update, member, { type: 'private', to: [admin.userId], content: 'Stew' }, at(id));
    await realm.call(remove, member, {}, at(direct));
    expect(await listed(realm, member)).toEqual([after]);
    const event = { type: 'scheduled_messages', id: expect.any(Number) };
    expect(await client.poll()).toEqual([
      { ...event, op: 'add', scheduled_messages: [first] },
      { ...event, op: 'add', scheduled_messages: [second] },
      { ...event, op: 'update', scheduled_message: after },
      { ...event, op: 'remove', scheduled_message_id: direct },
    ]);
    expect(await other.poll()).toEqual([]);
  });

  it('keep time, topic and text that a change does not name', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { random } = realm.channels;
    const id = await scheduled(realm, member);
    const time = inSeconds(realm, 9_000);
    for (const change of [
      { to: random },
      { topic: 'dinner' },
      { content: 'Stew' },
      { scheduled_delivery_timestamp: time },
    ])
      expect((await realm.call(update, member, change, at(id))).status).toBe(200);
    expect(await listed(realm, member)).toMatchObject([
      { to: random, topic: 'dinner', content: 'Stew', scheduled_delivery_timestamp: time },
    ]);
  });

  it.each([
    ['a time that is now', { scheduled_delivery_timestamp: 0 }],
    ['a channel without a topic', { topic: undefined }],
    ['two channels', { to: [1, 2] }],
    ['an unknown channel', { to: 999_999 }],
    ['nobody', { type: 'direct', to: [] }],
    ['a bare user', { type: 'direct', to: 7 }],
    ['an unknown user', { type: 'direct', to: [999_999] }],
    ['a name', { to: 'general' }],
    ['no text', { content: ' \n' }],
    ['an unknown type', { type: 'mail' }],
  ])('are refused with %s, and nothing is scheduled', async (_, given) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const before = await lastNumber(realm);
    const parameters = {
      type: 'channel',
      to: realm.channels.general,
      topic: 'lunch',
      content: 'x',
      scheduled_delivery_timestamp: inSeconds(realm),
      ...given,
    };
    const { status, body } = await realm.call(create, member, parameters);
    expect([status, body.result]).toEqual([400, 'error']);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect(await listed(realm, member)).toEqual([]);
  });

  it.each([
    ['nothing', {}],
    ['a type alone', { type: 'direct' }],
    ['a past time', { scheduled_delivery_timestamp: 1 }],
    ['an unknown channel', { to: 999_999 }],
    ['an empty text', { content: '' }],
  ])('cannot be changed to %s, and nothing changes', async (_, change) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await scheduled(realm, member);
    const before = await listed(realm, member);
    expect((await realm.call(update, member, change, at(id))).status).toBe(400);
    expect(await listed(realm, member)).toEqual(before);
  });

  it('need a topic when a direct message becomes a channel message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await scheduled(realm, member, { type: 'direct', to: [admin.userId] });
    const change = { type: 'channel', to: realm.channels.general };
    expect((await realm.call(update, member, change, at(id))).status).toBe(400);
    expect((await realm.call(update, member, { ...change, topic: 'now' }, at(id))).status).toBe(200);
  });

  it('are refused for a channel that the caller cannot see, as when sending', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
    const id = await scheduled(realm, member);
    expect((await realm.call(update, member, { to: channelId }, at(id))).status).toBe(400);
  });

  it('get a 404 if they are unknown or belong to another user, and nothing changes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await scheduled(realm, member);
    for (const unknown of [id, 999_999, 0, '9'.repeat(15)]) {
      for (const handler of [update, remove]) {
        const { status, body } = await realm.call(handler, admin, { content: 'x' }, at(unknown));
        expect([status, body.code]).toEqual([404, 'BAD_REQUEST']);
      }
    }
    expect(await listed(realm, member)).toHaveLength(1);
  });

  it('are limited to 100 for each user', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let i = 0; i < MAX_SCHEDULED; i++) await scheduled(realm, member);
    const { status } = await realm.call(create, member, {
      type: 'direct',
      to: [member.userId],
      content: 'x',
      scheduled_delivery_timestamp: inSeconds(realm),
    });
    expect(status).toBe(400);
  });

  it('are either changed or deleted by two concurrent requests', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await scheduled(realm, member);
    const late = realm.container(meanwhile(() => realm.call(remove, member, {}, at(id))));
    expect((await late.call(update, member, { content: 'b' }, at(id))).status).toBe(404);
    expect(await listed(realm, member)).toEqual([]);
  });
});
