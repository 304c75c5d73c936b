import { describe, expect, it } from 'vitest';
import { eventIdOf } from '../../shared/domain/event/queue.ts';
import { allocate, fill } from '../../shared/log/log.ts';
import { givenClient, said, sendTo } from '../support/event-queue.ts';
import { givenBot } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

describe('GET /events', () => {
  it('a subscriber gets an event for a message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const client = await givenClient(realm, member);
    const id = await sendTo(realm, admin, realm.channels.general, 'Hello *you*');
    const [event, ...rest] = await client.poll();
    expect(rest).toEqual([]);
    expect(event).toMatchObject({
      id: eventIdOf(id),
      type: 'message',
      flags: [],
      message: {
        id,
        sender_id: admin.userId,
        type: 'stream',
        stream_id: realm.channels.general,
        display_recipient: 'general',
        subject: 'hi',
        content: 'Hello *you*',
        content_type: 'text/x-markdown',
      },
    });
    expect(event).not.toHaveProperty('local_message_id');
    expect(event.message).not.toHaveProperty('flags');
    expect(await client.poll()).toEqual([]);
  });

  it('returns messages as HTML if the client asked for it', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member, { apply_markdown: true });
    await sendTo(realm, realm.people.admin, realm.channels.general, 'Hello *you*');
    const [event] = await client.poll();
    expect(event.message).toMatchObject({
      content: '<p>Hello <em>you</em></p>',
      content_type: 'text/html',
    });
  });

  it('returns unacknowledged events again, and none from before the registration', async () => {
    const realm = await newRealm();
    await sendTo(realm, realm.people.admin, realm.channels.general, 'early');
    const client = await givenClient(realm, realm.people.member);
    await sendTo(realm, realm.people.admin, realm.channels.general, 'one');
    const id = await sendTo(realm, realm.people.admin, realm.channels.general, 'two');
    expect(said(await client.poll({ last_event_id: -1 }))).toEqual(['one', 'two']);
    expect(said(await client.poll({ last_event_id: 5 }))).toEqual(['one', 'two']);
    expect(said(await client.poll({ last_event_id: eventIdOf(id) - 1 }))).toContain('two');
    expect(said(await client.poll({ last_event_id: eventIdOf(id) }))).toEqual([]);
  });

  it('ends a reply when it is full, and continues with the next poll', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const long = 'x'.repeat(9_000);
    for (let i = 0; i < 120; i++)
      await sendTo(realm, realm.people.admin, realm.channels.general, `${i} ${long}`);
    const numbers = [];
    for (let polls = 0; polls < 3; polls++) {
      const reply = await client.ask();
      expect(JSON.stringify(reply.body).length).toBeLessThan(2_000_000);
      const events = await client.poll();
      numbers.push(...events.map(({ message }) => Number.parseInt(message.content, 10)));
    }
    expect(numbers).toEqual(Array.from({ length: 120 }, (_, i) => i));
  });
});

describe('a poll that does not block', () => {
  it('acknowledges events that the client does not get, so that they are not read again', async () => {
    const realm = await newRealm();
    const client = await givenClient(realm, realm.people.member);
    const numbers = await allocate(realm.log, 250);
    for (const seq of numbers) await fill(realm.log, seq);
    expect(await client.poll()).toEqual([{ type: 'heartbeat', id: eventIdOf(await lastNumber(realm)) + 1 }]);
    expect(await client.poll()).toEqual([]);
  });
});

describe('bots', () => {
  it('have queues like users', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const bot = await givenBot(realm, member);
    const client = await givenClient(realm, bot);
    await sendTo(realm, member, [bot.userId], 'to the bot');
    expect(said(await client.poll())).toEqual(['to the bot']);
  });
});
