import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/messages/get.ts';
import { key } from '../../shared/table/keys.ts';
import { move } from '../support/message-update.ts';
import { fetched, flagged, flagsFor, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

describe('GET /messages: mentions, read states and stars', () => {
  it('a topic mention counts only for participants of the topic', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    await sent(realm, admin, { to: general, topic: 'mine' });
    const narrow = [['is', 'mentioned']];
    const right: number[] = [];
    for (let i = 0; i < 6; i++) {
      await sent(realm, member, { to: general, topic: `theirs ${i}` }, '@**topic**');
      right.push(await sent(realm, member, { to: general, topic: 'mine' }, '@**topic**'));
      if (i % 3 === 0) right.push(await sent(realm, member, { to: general }, '@**Adam Admin**'));
    }
    for (const count of [1, 3, 5, 20]) {
      expect(await idsIn(realm, admin, { narrow, num_before: count })).toEqual(right.slice(-count));
      const after = { narrow, anchor: 'oldest', num_before: 0, num_after: count };
      expect(await idsIn(realm, admin, after)).toEqual(right.slice(0, count));
    }
    const unread = { narrow, anchor: 'first_unread', num_before: 0, num_after: 1 };
    expect((await fetched(realm, admin, unread)).body.anchor).toBe(right[0]);
    // The same if the anchor itself is left out.
    const behind = { ...unread, include_anchor: false };
    expect((await fetched(realm, admin, behind)).body.anchor).toBe(right[0]);
    await flagged(realm, admin, 'add', 'read', right.slice(0, 5));
    expect((await fetched(realm, admin, unread)).body.anchor).toBe(right[5]);
    const container = realm.container();
    await fetched(container, admin, { narrow });
    container.meter.reset();
    await fetched(container, admin, { narrow });
    // One more than usual: whether the reader takes part in the topics that are mentioned.
    expect(container.meter.roundTrips).toBe(3);
  });

  it('a topic mention without participation of the reader is not their first mention', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    await sent(realm, member, { to: random, topic: 'theirs' }, '@**topic**');
    const first = await sent(realm, member, { to: general }, '@**Adam Admin**');
    await sent(realm, member, { to: random }, '@**Adam Admin**');
    const hint = { channels: [random], dialogues: [], isSparse: true };
    await realm.outside.table.put(key('places', { realm: realm.realm, email: admin.email }), hint);
    for (const include_anchor of [true, false]) {
      const window = { anchor: 'first_unread', num_before: 0, num_after: 1, include_anchor };
      const { body } = await fetched(realm.container(), admin, { narrow: [['is', 'mentioned']], ...window });
      expect(body.anchor).toBe(first);
    }
  });

  it('a message that moved is unread if it was unread where it came from', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general } = realm.channels;
    const [read, unread, ...left] = (await sentMany(realm, member, { to: general, topic: 'old' }, 4)) as [
      number,
      number,
      ...number[],
    ];
    const here = await sent(realm, member, { to: general, topic: 'new' });
    await flagged(realm, admin, 'add', 'read', [read, left[0] as number]);
    for (const id of [read, unread]) await move(realm, owner, id, { topic: 'new' });
    const narrow = [
      ['channel', general],
      ['topic', 'new'],
    ];
    expect(await idsIn(realm, admin, { narrow })).toEqual([read, unread, here]);
    expect(await idsIn(realm, admin, { narrow: [...narrow, ['is', 'unread']] })).toEqual([unread, here]);
    const first = { narrow, anchor: 'first_unread', num_before: 1, num_after: 1 };
    expect((await fetched(realm, admin, first)).body).toMatchObject({
      anchor: unread,
      messages: [{ id: read, flags: ['read'] }, { id: unread, flags: [] }, { id: here }],
    });
    await flagged(realm, admin, 'add', 'read', [unread]);
    expect((await fetched(realm, admin, first)).body.anchor).toBe(here);
    expect(await flagsFor(realm, admin, unread)).toEqual(['read']);
    const container = realm.container();
    await fetched(container, admin, first);
    container.meter.reset();
    await fetched(container, admin, first);
    expect(container.meter.roundTrips).toBe(2);
  });

  it('a starred message that moved since is returned as it is now', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { general, random } = realm.channels;
    const id = await sent(realm, member, { to: general, topic: 'old' });
    await flagged(realm, owner, 'add', 'starred', [id]);
    await move(realm, owner, id, { topic: 'new', stream_id: random });
    const starredIn = (channel: number, topic: string): unknown => [
      ['is', 'starred'],
      ['channel', channel],
      ['topic', topic],
    ];
    expect(await idsIn(realm, owner, { narrow: starredIn(random, 'new') })).toEqual([id]);
    expect(await idsIn(realm, owner, { narrow: starredIn(general, 'old') })).toEqual([]);
    const { body } = await fetched(realm, owner, { narrow: [['is', 'starred']] });
    const alone = await realm.call(get, owner, {}, { path: { message_id: id } });
    expect(body.messages).toEqual([alone.body.message]);
    expect(body.messages).toMatchObject([{ display_recipient: 'random', subject: 'new' }]);
  });
});
