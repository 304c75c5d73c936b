import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Send } from '../../shared/table/table.ts';
import { givenChannel } from '../given.ts';
import { fetched, flagged, givenMessages, idsIn, sent } from '../message.ts';
import { newRealm, type Person, type TestRealm } from '../realm.ts';

/** Round trips of a fetch in a warm container, and all that it reads. */
async function cost(realm: TestRealm, as: Person, query: Readonly<Record<string, unknown>>) {
  const container = realm.container();
  const first = await fetched(container, as, query);
  expect(first.status).toBe(200);
  const cold = container.meter.roundTrips;
  container.meter.reset();
  await fetched(container, as, query);
  const { roundTrips: warm, calls, readUnits, writeUnits } = container.meter;
  expect(writeUnits).toBe(0);
  return { cold, warm, calls: calls.length, readUnits };
}

describe('GET /messages: cost', () => {
  it('round trips', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const channel = await sent(realm, member, { to: general }, '@**Adam Admin**');
    await sent(realm, member, { people: [admin] });
    await flagged(realm, admin, 'add', 'starred', [channel]);
    const trips = async (query: Readonly<Record<string, unknown>>) => {
      const { cold, warm } = await cost(realm, admin, query);
      return [cold, warm];
    };
    const topic = [
      ['channel', 'general'],
      ['topic', 'topic'],
    ];
    for (const narrow of [
      topic,
      [['channel', general]],
      [['dm', [member.userId]]],
      [['dm', member.email]],
      [['id', channel]],
    ])
      expect(await trips({ narrow })).toEqual([3, 2]);
    expect(await trips({ narrow: topic, anchor: String(channel), num_after: 50 })).toEqual([3, 2]);
    expect(await trips({ narrow: topic, anchor: 'first_unread', num_after: 50 })).toEqual([4, 3]);
    expect(await trips({ message_ids: [channel] })).toEqual([3, 2]);
    expect(await trips({})).toEqual([3, 2]);
    expect(await trips({ narrow: [['sender', member.email]] })).toEqual([3, 2]);
    expect(await trips({ narrow: [['is', 'mentioned']] })).toEqual([3, 2]);
    expect(await trips({ narrow: [['is', 'dm']] })).toEqual([4, 3]);
    expect(await trips({ narrow: [['is', 'starred']] })).toEqual([4, 3]);
    expect(await trips({ narrow: [['topic', 'topic']] })).toEqual([4, 3]);
    // Where the first unread message of all is must be found before what is around it can be read.
    expect(await trips({ anchor: 'first_unread', num_after: 50 })).toEqual([5, 4]);
  });

  it('twenty messages cost the same in a short history and in a long one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const short = await givenChannel(realm, {}, [member, admin]);
    const long = await givenChannel(realm, {}, [member, admin]);
    await givenMessages(realm, member, long.channelId, (i) => `t${i % 2}`, 2_000);
    await givenMessages(realm, member, short.channelId, (i) => `t${i % 2}`, 60);
    for (const narrow of [
      (id: number) => [['channel', id]],
      (id: number) => [
        ['channel', id],
        ['topic', 't1'],
      ],
    ]) {
      const query = { num_before: 20 };
      const [a, b] = [
        await cost(realm, admin, { ...query, narrow: narrow(short.channelId) }),
        await cost(realm, admin, { ...query, narrow: narrow(long.channelId) }),
      ];
      expect(b).toEqual(a);
    }
  });

  it('what other people write to each other costs nothing', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general } = realm.channels;
    await sent(realm, member, { people: [admin] });
    await givenMessages(realm, member, general, () => 'seen', 30);
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    const query = { num_before: 20 };
    await givenMessages(realm, member, secret.channelId, () => 'secret', 250);
    const some = await cost(realm, owner, query);
    await givenMessages(realm, member, secret.channelId, () => 'secret', 750);
    const more = await cost(realm, owner, query);
    expect(more).toEqual(some);
    expect(more.warm).toBe(3);
  });
});

/** An index that does not show what was written after this number of the log. */
const lagging =
  (last: number) =>
  (send: Send): Send =>
  async (command) => {
    const answer = await send(command);
    if (!(command instanceof QueryCommand) || command.input.IndexName === undefined) return answer;
    const { Items = [], ...rest } = answer as QueryCommandOutput;
    return { ...rest, Items: Items.filter(({ sk }) => Number(sk) <= last) };
  };

describe('GET /messages: indexes that lag', () => {
  it('do not hide what was just sent', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const old = await sent(realm, member, { to: general });
    const behind = realm.container(lagging(old));
    const channel = await sent(realm, member, { to: general });
    const direct = await sent(realm, member, { people: [admin] });
    for (const as of [member, admin]) {
      expect(await idsIn(behind, as, { narrow: [['channel', general]] })).toEqual([old, channel]);
      expect(
        await idsIn(behind, as, {
          narrow: [
            ['channel', general],
            ['topic', 'topic'],
          ],
        }),
      ).toEqual([old, channel]);
      expect(await idsIn(behind, as, { narrow: [['is', 'dm']] })).toEqual([direct]);
      const other = as === member ? admin : member;
      expect(await idsIn(behind, as, { narrow: [['dm', [other.userId]]] })).toEqual([direct]);
      expect(await idsIn(behind, as)).toEqual([old, channel, direct]);
      const after = { anchor: String(channel), num_before: 0, num_after: 5, narrow: [['channel', general]] };
      expect(await idsIn(behind, as, after)).toEqual([channel]);
    }
  });
});
