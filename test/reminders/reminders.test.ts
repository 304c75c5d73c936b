import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as remove } from '../../functions/messages/delete.ts';
import { handler as create } from '../../functions/reminders/create.ts';
import { handler as drop } from '../../functions/reminders/delete.ts';
import { handler as list } from '../../functions/reminders/list.ts';
import { handler as worker } from '../../functions/workers/outbox.ts';
import { MAX_REMINDERS } from '../../shared/domain/scheduled/reminder.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile, mishaps, unheard } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';
import { queued, runQueue } from '../support/worker-run.ts';

const HOUR = 3_600;
const at = (reminder_id: number | string) => ({ path: { reminder_id } });
const inAnHour = (realm: TestRealm) => Math.floor(realm.outside.now() / 1000) + HOUR;

async function reminded(realm: TestRealm, as: Person, message_id: number, note?: string) {
  const scheduled_delivery_timestamp = inAnHour(realm);
  const given = { message_id, scheduled_delivery_timestamp, ...(note !== undefined && { note }) };
  const { status, body } = await realm.call(create, as, given);
  expect([status, body.msg]).toEqual([200, '']);
  const id = body.reminder_id as number;
  return {
    kind: 'due',
    realm: realm.realm,
    userId: as.userId,
    what: 'reminder',
    id,
    at: scheduled_delivery_timestamp,
  };
}

const listed = async (realm: TestRealm, as: Person) => (await realm.call(list, as)).body.reminders;

const run = (realm: TestRealm, ...dues: readonly object[]) =>
  runQueue(
    realm,
    worker,
    dues.map((due) => queued(JSON.stringify(due))),
  );

describe('reminders of messages (companion facts 2.4)', () => {
  it('can be created, listed, registered and deleted, with events only for their user', async () => {
    const realm = await newRealm();
    const { member, owner, admin } = realm.people;
    const message = await sent(realm, owner, { to: realm.channels.general, topic: 'lunch' }, 'Soup @**all**');
    const client = await givenClient(realm, member);
    const other = await givenClient(realm, admin);
    const due = await reminded(realm, member, message, '\n  Bread? \n');
    const reminder = {
      reminder_id: due.id,
      type: 'private',
      to: [member.userId],
      content: expect.stringContaining('```quote\n  Bread?\n```'),
      rendered_content: expect.stringContaining('<blockquote>'),
      scheduled_delivery_timestamp: due.at,
      failed: false,
      reminder_target_message_id: message,
    };
    expect(await listed(realm, member)).toEqual([reminder]);
    expect(await listed(realm, admin)).toEqual([]);
    const asked = { fetch_event_types: ['reminders'] };
    expect((await realm.call(register, member, asked)).body.reminders).toEqual([reminder]);
    expect((await realm.call(drop, member, {}, at(due.id))).status).toBe(200);
    expect(await listed(realm, member)).toEqual([]);
    expect(await client.poll()).toEqual([
      { type: 'reminders', id: expect.any(Number), op: 'add', reminders: [reminder] },
      { type: 'reminders', id: expect.any(Number), op: 'remove', reminder_id: due.id },
    ]);
    expect(await other.poll()).toEqual([]);
  });

  it('come once at their time as a direct message of the notice bot, and mention nobody', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const message = await sent(realm, owner, { to: realm.channels.general, topic: 'lunch' }, 'Soup @**all**');
    const due = await reminded(realm, member, message);
    await run(realm, due);
    expect(await listed(realm, member)).toHaveLength(1);
    realm.pass((HOUR + 1) * 1000);
    const client = await givenClient(realm, member, { event_types: ['message', 'reminders'] });
    await run(realm.container(mishaps({ transact: [unheard] })), due, due);
    await run(realm, due);
    expect(await listed(realm, member)).toEqual([]);
    const heard = await client.poll();
    expect(heard.map(({ type, op }) => `${type} ${op ?? ''}`)).toEqual(['reminders remove', 'message ']);
    const { message: notice, flags } = heard[1];
    expect(notice).toMatchObject({ type: 'private', content: expect.stringContaining('Soup') });
    expect(notice.sender_id).not.toBe(owner.userId);
    expect(flags).toEqual([]);
  });

  it('quote the message as it was when they were created, if it is deleted', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const message = await sent(realm, member, { people: [owner] }, 'Soup');
    const due = await reminded(realm, member, message);
    await realm.call(remove, owner, {}, { path: { message_id: message } });
    realm.pass((HOUR + 1) * 1000);
    const client = await givenClient(realm, member, { event_types: ['message'] });
    await run(realm, due);
    expect(await client.poll()).toMatchObject([{ message: { content: expect.stringContaining('Soup') } }]);
  });

  it.each([
    ['a past time', { scheduled_delivery_timestamp: 1 }],
    ['an unknown message', { message_id: 999_999 }],
    ['no message at all', { message_id: 0 }],
    ['a note that is too long', { note: 'x'.repeat(501) }],
  ])('are refused with %s, and nothing is stored', async (_, given) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const message_id = await sent(realm, member, { to: realm.channels.general, topic: 'lunch' });
    const before = await lastNumber(realm);
    const parameters = { message_id, scheduled_delivery_timestamp: inAnHour(realm), ...given };
    const { status, body } = await realm.call(create, member, parameters);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it('are refused for a message that the caller cannot read, like an unknown one', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
    const message_id = await sent(realm, owner, { to: channelId, topic: 'lunch' });
    const ask = async (id: number) => {
      const given = { message_id: id, scheduled_delivery_timestamp: inAnHour(realm) };
      return (await realm.call(create, member, given)).body;
    };
    expect(await ask(message_id)).toEqual(await ask(999_999));
  });

  it('get a 404 if they are unknown or belong to another user', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { id } = await reminded(realm, member, await sent(realm, admin, { people: [member] }));
    for (const unknown of [id, 999_999, 0]) {
      const { status, body } = await realm.call(drop, admin, {}, at(unknown));
      expect([status, body.code]).toEqual([404, 'BAD_REQUEST']);
    }
    expect(await listed(realm, member)).toHaveLength(1);
  });

  it('are limited to 100 for each user, and can be deleted once', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const message = await sent(realm, admin, { people: [member] });
    let last = 0;
    for (let i = 0; i < MAX_REMINDERS; i++) last = (await reminded(realm, member, message)).id;
    const given = { message_id: message, scheduled_delivery_timestamp: inAnHour(realm) };
    expect((await realm.call(create, member, given)).status).toBe(400);
    const late = realm.container(meanwhile(() => realm.call(drop, member, {}, at(last))));
    expect((await late.call(drop, member, {}, at(last))).status).toBe(404);
  });
});
