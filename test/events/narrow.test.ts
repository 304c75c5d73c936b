import { describe, expect, it } from 'vitest';
import { givenClient } from '../support/event-queue.ts';
import { idsIn, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

const topics = ['tea', 'Lunch', '✔ tea', ''];
const contents = ['text', '@**Adam Admin**', '@**all** https://a.example'];

describe('the narrow of a queue', () => {
  it('delivers the messages that a fetch of the same narrow finds', async () => {
    const realm = await newRealm();
    const { member, admin, guest, owner } = realm.people;
    const { general, random } = realm.channels;
    const narrows = [
      [['channel', 'GENERAL']],
      [
        ['stream', general],
        ['topic', 'tea'],
      ],
      [['topic', '']],
      [['topic', 'general chat']],
      [['sender', member.email]],
      [
        ['from', owner.userId],
        ['is', 'dm'],
      ],
      [['is', 'private']],
      [['is', 'mentioned']],
      [['is', 'resolved']],
      [['is', 'alerted']],
    ];
    const types = { event_types: ['message'] };
    const clients = await Promise.all(
      narrows.map(async (narrow) => ({
        narrow,
        client: await givenClient(realm, admin, { ...types, narrow }),
      })),
    );
    for (let i = 0; i < 24; i++) {
      const as = [member, owner][i % 2] ?? member;
      const place =
        i % 3 === 0
          ? { people: i % 6 === 0 ? [admin] : [admin, guest] }
          : { to: i % 5 === 0 ? random : general, topic: topics[i % 4] ?? 'tea' };
      await sent(realm, as, place, contents[i % 3]);
    }
    for (const { narrow, client } of clients) {
      const events = await client.poll();
      const heard = events.map(({ message }: { message: { id: number } }) => message.id);
      expect(heard, JSON.stringify(narrow)).toEqual(await idsIn(realm, admin, { narrow }));
    }
  });
});
