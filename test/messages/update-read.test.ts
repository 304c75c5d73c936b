import { describe, expect, it } from 'vitest';
import { handler as update } from '../../functions/messages/update.ts';
import { loadReadStates } from '../../shared/model/message/read-state.ts';
import { move, sayMany } from '../support/message-update.ts';
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

describe('the read state of messages that move', () => {
  it('stays the same when a topic is renamed', async () => {
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

  it('keeps an unread message unread in another topic when the read state of the first topic is compacted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member, member, member, member, member], general, 'before', 400);
    const left = [ids[5], ids[200]] as [number, number];
    for (const id of left)
      expect(await move(realm, member, id, { topic: 'after', propagate_mode: 'change_one' })).toMatchObject({
        status: 200,
      });
    realm.pass(120_000);
    const others = ids.filter((id) => !left.includes(id));
    for (let start = 0; start < others.length; start += 100)
      await flagged(realm, admin, 'add', 'read', others.slice(start, start + 100));
    const [state] = await loadReadStates(realm.outside.table, realm.realm, admin.userId);
    expect(state?.floor).toBeGreaterThan(left[1]);
    expect(await unread(realm, admin, ids)).toEqual(left);
  });
});

describe('the read state of messages that move to another channel', () => {
  it('depends on the floor of that channel, and stays the same when they move within it', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sentMany(realm, member, { to: general, topic: 'before' }, 3);
    const [first = 0, second = 0, third = 0] = ids;
    await flagged(realm, admin, 'add', 'read', [first, third]);
    const moved = async (change: object) => {
      const options = { path: { message_id: first } };
      const { body } = await realm.call(update, member, { ...change, propagate_mode: 'change_all' }, options);
      expect(body.result).toBe('success');
    };
    await moved({ stream_id: random });
    expect(await unread(realm, admin, ids)).toEqual(ids);
    await flagged(realm, admin, 'add', 'read', [second]);
    await moved({ topic: 'after' });
    expect(await unread(realm, admin, ids)).toEqual([first, third]);
    expect(await unread(realm, admin, ids, [['channel', random]])).toEqual([first, third]);
    await flagged(realm, admin, 'add', 'read', [first]);
    await flagged(realm, admin, 'remove', 'read', [second]);
    await moved({ topic: '✔ after' });
    expect(await unread(realm, admin, ids, [['channel', random]])).toEqual([second, third]);
    expect(await flagsFor(realm, admin, first)).toEqual(['read']);
  });
});
