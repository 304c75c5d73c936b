import { describe, expect, test } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { audit } from '../support/audit/audit.ts';
import { type Event, givenClient, said } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

const FLOOD = 300;
const AT_ONCE = 10;
/** A number taken by one write, and given back by one tombstone. */
const UNITS = 2;
/** Bytes that a read unit takes, and what a tombstone takes at most with its key. */
const READ_UNIT = 4_096;
const TOMBSTONE = 300;

describe('a flood of refused sends', () => {
  test('costs two write units each, and leaves nothing in the log that delays readers', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const closed = await givenChannel(realm, { isPrivate: true }, [owner]);
    const refused = { type: 'channel', to: closed.channelId, topic: 't', content: 'let me in' };
    const client = await givenClient(realm, owner, { event_types: ['message'] });
    const flood = realm.container();
    await flood.call(send, member, refused);
    flood.meter.reset();
    for (let sent = 0; sent < FLOOD; sent += AT_ONCE) {
      const replies = Array.from({ length: AT_ONCE }, () => flood.call(send, member, refused));
      for (const { status } of await Promise.all(replies)) {
        expect(status).toBe(400);
      }
    }
    expect(flood.meter.writeUnits).toBeLessThanOrEqual(UNITS * FLOOD);

    await realm.call(send, owner, { ...refused, to: 'general' });
    const reader = realm.container();
    const events: Event[] = [];
    while (events.length === 0) events.push(...(await client.poll({}, reader)));
    expect(said(events)).toEqual([refused.content]);
    expect(reader.meter.readUnits).toBeLessThanOrEqual(20 + (2 * FLOOD * TOMBSTONE) / READ_UNIT);
    expect(await audit(realm)).toEqual([]);
  });

  test('writes nothing if the key is not valid', async () => {
    const realm = (await newRealm()).container();
    const stranger = { ...realm.people.member, apiKey: 'x'.repeat(32) };
    const message = { type: 'channel', to: 'general', topic: 't', content: 'hello' };
    for (let sent = 0; sent < 20; sent++) {
      expect((await realm.call(send, stranger, message)).status).toBe(401);
    }
    expect(realm.meter.writeUnits).toBe(0);
  });
});
