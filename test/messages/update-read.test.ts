import { describe, expect, it } from 'vitest';
import { handler as update } from '../../functions/messages/update.ts';
import { flagged, flagsFor, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

/** Which of these messages are unread; what the service itself posts about a move is left out. */
async function unread(
  realm: TestRealm,
  as: Person,
  among: readonly number[],
  more: unknown[] = [],
): Promise<number[]> {
  const found = await idsIn(realm, as, { narrow: [['is', 'unread'], ...more] });
  return found.filter((id) => among.includes(id));
}

describe('what was read stays read when messages move', () => {
  it('to another name of the topic, and back', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = (await sentMany(realm, member, { to: general, topic: 'before' }, 4)) as [
      number,
      number,
      number,
      number,
    ];
    await flagged(realm, admin, 'add', 'read', [ids[0], ids[2]]);
    for (const topic of ['after', 'before', '✔ before']) {
      const { body } = await realm.call(
        update,
        member,
        { topic, propagate_mode: 'change_all' },
        { path: { message_id: ids[0] } },
      );
      expect(body.result).toBe('success');
      expect(await unread(realm, admin, ids)).toEqual([ids[1], ids[3]]);
    }
    const later = await sent(realm, member, { to: general, topic: '✔ before' });
    await flagged(realm, admin, 'add', 'read', [ids[1], later]);
    await flagged(realm, admin, 'remove', 'read', [ids[0]]);
    expect(await unread(realm, admin, ids)).toEqual([ids[0], ids[3]]);
    expect(await flagsFor(realm, admin, later)).toEqual(['read']);
    const narrow = [
      ['channel', general],
      ['topic', '✔ before'],
    ];
    expect(await idsIn(realm, admin, { narrow })).toEqual(expect.arrayContaining([...ids, later]));
    const first = await idsIn(realm, admin, { narrow, anchor: 'first_unread', num_before: 0, num_after: 1 });
    expect(first[0]).toBe(ids[0]);
  });

  it('to another channel', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = (await sentMany(realm, member, { to: general, topic: 'before' }, 3)) as [
      number,
      number,
      number,
    ];
    await flagged(realm, admin, 'add', 'read', [ids[0], ids[2]]);
    const { body } = await realm.call(
      update,
      member,
      { stream_id: random, propagate_mode: 'change_all' },
      { path: { message_id: ids[0] } },
    );
    expect(body.result).toBe('success');
    expect(await unread(realm, admin, ids)).toEqual([ids[1]]);
    expect(await unread(realm, admin, ids, [['channel', random]])).toEqual([ids[1]]);
  });
});
