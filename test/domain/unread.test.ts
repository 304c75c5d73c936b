import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadUnread, type Unread, unreadObject } from '../../shared/domain/flags/unread.ts';
import { Reader } from '../../shared/domain/reader/reader.ts';
import { loadReadStates } from '../../shared/model/message/read-state.ts';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { accessCaller } from '../../shared/model/user/caller.ts';
import { QueryCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import { givenChannel, givenMutedChannel, givenUser, givenUserTopic } from '../support/given.ts';
import { move, say } from '../support/message-update.ts';
import { flagged, flagsFor, givenMessages, idsIn, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const load = ({ outside, realm }: TestRealm, { userId }: Person): Promise<Unread> =>
  loadUnread(outside, new Reader(outside, realm, userId));

/** What `POST /register` would tell. */
async function told(realm: TestRealm, as: Person, given: { upTo?: number; emptyTopicName?: boolean } = {}) {
  const { standing } = await accessCaller(realm.outside, realm.realm, as.userId, undefined);
  return unreadObject(await load(realm, as), standing, { upTo: 1e9, emptyTopicName: true, ...given });
}

const floorOf = async (
  { outside, realm }: TestRealm,
  { userId }: Person,
  channelId: number,
): Promise<number> => (await outside.table.get('subscription', { realm, userId, channelId }))?.readFloor ?? 0;

describe('unread_msgs', () => {
  it('groups unread messages by topic, pair and group', async () => {
    const realm = await newRealm();
    const { member, admin, owner, guest } = realm.people;
    const { general, random } = realm.channels;
    const a = await sent(realm, member, { to: general, topic: 'Tea' });
    const b = await sent(realm, member, { to: general, topic: 'tea' });
    const c = await sent(realm, member, { to: random, topic: '' });
    const d = await sent(realm, member, { people: [admin] });
    const e = await sent(realm, admin, { people: [admin] });
    const f = await sent(realm, owner, { people: [admin, guest] });
    await sent(realm, admin, { to: general, topic: 'own' }, 'x', { read_by_sender: true });
    const read = await sent(realm, member, { to: general, topic: 'read' });
    await flagged(realm, admin, 'add', 'read', [read]);
    expect(await told(realm, admin)).toEqual({
      count: 6,
      pms: [
        { other_user_id: member.userId, sender_id: member.userId, unread_message_ids: [d] },
        { other_user_id: admin.userId, sender_id: admin.userId, unread_message_ids: [e] },
      ],
      streams: [
        { stream_id: general, topic: 'tea', unread_message_ids: [a, b] },
        { stream_id: random, topic: '', unread_message_ids: [c] },
      ],
      huddles: [
        {
          user_ids_string: [owner, admin, guest]
            .map(({ userId }) => userId)
            .sort((x, y) => x - y)
            .join(','),
          unread_message_ids: [f],
        },
      ],
      mentions: [],
      old_unreads_missing: false,
    });
    const older = await told(realm, admin, { upTo: b, emptyTopicName: false });
    expect(older).toMatchObject({ count: 2, pms: [], huddles: [] });
    const named = await told(realm, admin, { emptyTopicName: false });
    expect(named.streams[1]).toMatchObject({ topic: 'general chat' });
  });

  it('lists mentions, and does not count muted messages', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    await sent(realm, admin, { to: general, topic: 'mine' });
    const name = await sent(realm, member, { to: random, topic: 'loud' }, '@**Adam Admin**');
    const all = await sent(realm, member, { to: random, topic: 'loud' }, '@**all**');
    const mine = await sent(realm, member, { to: general, topic: 'mine' }, '@**topic**');
    await sent(realm, member, { to: general, topic: 'theirs' }, '@**topic**');
    const followed = await sent(realm, member, { to: random, topic: 'followed' }, '@**all**');
    expect((await told(realm, admin)).mentions).toEqual([name, all, mine, followed]);
    await givenMutedChannel(realm, admin, random);
    await givenUserTopic(realm, admin, random, 'Followed', visibility.followed);
    await givenUserTopic(realm, admin, random, 'loud', visibility.inherit);
    const muted = await told(realm, admin);
    expect(muted.mentions).toEqual([name, mine, followed]);
    expect(muted.count).toBe(4);
    await givenUserTopic(realm, admin, general, 'theirs', visibility.muted);
    expect((await told(realm, admin)).count).toBe(3);
    expect(muted.streams.flatMap(({ unread_message_ids }) => unread_message_ids)).toHaveLength(6);
  });

  it('contains only messages that the reader received', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    await sent(realm, member, { to: channelId });
    await sent(realm, member, { people: [guest] });
    expect(await told(realm, admin)).toMatchObject({ count: 0, streams: [], pms: [] });
  });

  it('takes two round trips, and no more reads for a longer history of read messages', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const costs: number[] = [];
    let unread: readonly number[] = [];
    for (const length of [300, 900]) {
      const ids = await givenMessages(realm, member, general, (i) => `t${i % 3}`, length);
      realm.pass(120_000);
      await flagged(realm, admin, 'add', 'read', [...unread, ...ids.slice(0, -20)]);
      unread = ids.slice(-20);
      realm.pass(120_000);
      for (let i = 0; i < 3; i++) await (await load(realm, admin)).upkeep();
      const container = realm.container();
      const { messages } = await load(container, admin);
      expect(messages.map(({ id }) => id)).toEqual(unread.toReversed());
      expect(container.meter.roundTrips).toBe(2);

      costs.push(container.meter.readUnits);
    }
    // Rounding of read units aside.
    expect(costs[1]).toBeLessThanOrEqual((costs[0] as number) + 2);
  });

  it('does not read the end of the log for a user who receives no messages', async () => {
    const realm = await newRealm();
    const alone = await givenUser(realm);
    const log = `"${partition('slot', { realm: realm.realm })}"`;
    const container = realm.container((send) => async (command) => {
      if (command instanceof QueryCommand && JSON.stringify(command.input).includes(log))
        throw new Error('no log');
      return send(command);
    });
    const unheard: unknown[] = [];
    const note = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', note);
    expect(await load(container, alone)).toMatchObject({ messages: [], missing: false });
    await wait(20);
    process.off('unhandledRejection', note);
    expect(unheard).toEqual([]);
  });

  it('contains the newest 5,000, and says that there are older ones', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await givenMessages(realm, member, realm.channels.general, () => 'flood', 5_030, '');
    const unread = await load(realm, admin);
    expect(unread.missing).toBe(true);
    expect(unread.messages).toHaveLength(5_000);
    expect(unread.messages.at(-1)?.id).toBe(ids[30]);
  });
});

describe('raising read floors', () => {
  it('a raised floor of a channel keeps unread messages below it, and deletes read states that it covers', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, (i) => `t${i % 30}`, 600);
    const left = [ids[3], ids[250], ids[599]] as number[];
    await flagged(
      realm,
      admin,
      'add',
      'read',
      ids.filter((id) => !left.includes(id)),
    );
    const before = await told(realm, admin);
    await (await load(realm, admin)).upkeep();
    // Nothing is old enough yet.
    expect(await floorOf(realm, admin, general)).toBeLessThan(ids[0] as number);
    realm.pass(120_000);
    for (let i = 0; i < 3; i++) await (await load(realm, admin)).upkeep();
    expect(await floorOf(realm, admin, general)).toBeGreaterThan(ids[550] as number);
    expect(await told(realm, admin)).toEqual(before);
    for (const id of left) expect(await flagsFor(realm, admin, id)).toEqual([]);
    expect(await flagsFor(realm, admin, ids[4] as number)).toEqual(['read']);
    expect((await loadReadStates(realm.outside.table, realm.realm, admin.userId)).length).toBeLessThan(10);
    await flagged(realm, admin, 'remove', 'read', [ids[4] as number]);
    await flagged(realm, admin, 'add', 'read', [ids[3] as number]);
    expect((await load(realm, admin)).messages.map(({ id }) => id)).toEqual([ids[599], ids[250], ids[4]]);
  });

  it('a raised floor decides which messages that move into the channel are unread', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId: quiet } = await givenChannel(realm, {}, [admin, member]);
    const { channelId: busy } = await givenChannel(realm, {}, [admin, member]);
    const [early, late] = [await say(realm, member, quiet, 'early'), await say(realm, member, quiet, 'late')];
    const moved = async (id: number) =>
      expect((await move(realm, admin, id, { stream_id: busy, topic: `from ${id}` })).status).toBe(200);
    await moved(early);
    const ids = await givenMessages(realm, member, busy, (i) => `t${i % 8}`, 300);
    await flagged(realm, admin, 'add', 'read', ids);
    realm.pass(120_000);
    await (await load(realm, admin)).upkeep();
    expect(await floorOf(realm, admin, busy)).toBeGreaterThan(ids[250] as number);
    await moved(late);
    const narrow = [
      { operator: 'channel', operand: busy },
      { operator: 'is', operand: 'unread' },
    ];
    // The floor was raised over it while it was there, so it is listed; the other one came under the floor.
    expect((await load(realm, admin)).messages.map(({ id }) => id)).toEqual([early]);
    expect(await idsIn(realm, admin, { narrow })).toEqual([early]);
    expect(await flagsFor(realm, admin, late)).toEqual(['read']);
  });

  it('a raise loses no flags that change at the same time', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = await givenMessages(realm, member, general, (i) => `t${i % 8}`, 400);
    const left = new Set(ids.filter((_, i) => i % 25 === 0));
    await flagged(
      realm,
      admin,
      'add',
      'read',
      ids.filter((id) => !left.has(id)),
    );
    realm.pass(120_000);
    const device = realm.container();
    for (let round = 0; round < 8; round++) {
      const [first] = left;
      const again = ids[round * 50 + 7] as number;
      const { upkeep } = await load(realm, admin);
      await Promise.all([
        upkeep(),
        first !== undefined && flagged(device, admin, 'add', 'read', [first]),
        flagged(device, admin, 'remove', 'read', [again]),
      ]);
      if (first !== undefined) left.delete(first);
      left.add(again);
      const unread = (await load(realm, admin)).messages.map(({ id }) => id);
      expect(unread.sort((a, b) => a - b)).toEqual([...left].sort((a, b) => a - b));
    }
    // Each of the raises met a change and gave way to it.
    await (await load(realm, admin)).upkeep();
    expect(await floorOf(realm, admin, general)).toBeGreaterThan(ids[300] as number);
    const unread = (await load(realm, admin)).messages.map(({ id }) => id);
    expect(unread.sort((a, b) => a - b)).toEqual([...left].sort((a, b) => a - b));
  });

  it('the floor of a direct conversation is raised too', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < 210; i++)
      ids.push(await sent(realm, member, { people: [admin] }, 'x', { read_by_sender: true }));
    realm.pass(120_000);
    await (await load(realm, member)).upkeep();
    const [state] = await loadReadStates(realm.outside.table, realm.realm, member.userId);
    expect(state?.floor).toBe(ids.at(-1));
    expect((await load(realm, member)).messages).toEqual([]);
    expect((await load(realm, admin)).messages).toHaveLength(210);
  });
});
