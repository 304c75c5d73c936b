import type { QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { handler as remove } from '../../functions/messages/delete.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { QueryCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { BUDGET, cost, tripsOf } from '../support/fetch-cost.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { flagged, givenMessages, idsIn, sent, sentMany } from '../support/messages.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** An organization in which a little of everything was said. */
async function lively() {
  const realm = await newRealm();
  const { member, admin, owner, guest } = realm.people;
  const { general, random } = realm.channels;
  const { channelId: open } = await givenChannel(realm, {}, [member]);
  const ids = {
    mention: await sent(realm, member, { to: general }, '@**Adam Admin**'),
    topicMention: await sent(realm, member, { to: general }, '@**topic**'),
    elsewhere: await sent(realm, member, { to: random }),
    resolved: await sent(realm, owner, { to: random, topic: '✔ done' }),
    pair: await sent(realm, member, { people: [admin] }),
    three: await sent(realm, member, { people: [admin, guest] }),
    unseen: await sent(realm, member, { to: open }),
  };
  await flagged(realm, admin, 'add', 'starred', [ids.mention, ids.pair, ids.unseen]);
  await flagged(realm, admin, 'add', 'read', [ids.mention]);
  return { realm, ids, open };
}

type Lively = Awaited<ReturnType<typeof lively>>;

const inTopic = [
  ['channel', 'general'],
  ['topic', 'topic'],
];

const narrows: Readonly<Record<string, (given: Lively) => unknown>> = {
  everything: () => [],
  'a channel by name': () => [['channel', 'general']],
  'a channel by id': ({ realm }) => [['channel', realm.channels.general]],
  'a channel that they are not subscribed to': ({ open }) => [['channel', open]],
  'a topic': () => inTopic,
  'a topic of all channels': () => [['topic', 'topic']],
  'a conversation by ids': ({ realm }) => [['dm', [realm.people.member.userId]]],
  'a conversation by email': ({ realm }) => [['dm', realm.people.member.email]],
  'all conversations': () => [['is', 'dm']],
  'conversations with somebody': ({ realm }) => [['dm-including', [realm.people.member.userId]]],
  'a sender': ({ realm }) => [['sender', realm.people.member.email]],
  'a sender in a channel': ({ realm }) => [
    ['channel', 'general'],
    ['sender', realm.people.member.userId],
  ],
  'an id': ({ ids }) => [['id', ids.mention]],
  'an id in a channel that they are not subscribed to': ({ ids }) => [['id', ids.unseen]],
  'what is starred': () => [['is', 'starred']],
  'what is starred in a channel': () => [
    ['is', 'starred'],
    ['channel', 'general'],
  ],
  'what is not starred in a channel': () => [
    { operator: 'is', operand: 'starred', negated: true },
    { operator: 'channel', operand: 'general' },
  ],
  'what is unread': () => [['is', 'unread']],
  'what is unread in a channel': () => [
    ['is', 'unread'],
    ['channel', 'general'],
  ],
  'what is read in a topic': () => [
    ...inTopic.map(([operator, operand]) => ({ operator, operand })),
    { operator: 'is', operand: 'unread', negated: true },
  ],
  'followed topics': () => [['is', 'followed']],
  'followed topics of a channel': () => [
    ['is', 'followed'],
    ['channel', 'general'],
  ],
  'resolved topics': () => [['is', 'resolved']],
  'what nobody can be in': () => [['is', 'alerted']],
};

describe('GET /messages: round trips (DESIGN 7)', () => {
  const shared = lively();

  it.each(Object.entries(narrows))('%s: 3 cold, 2 warm, whatever the anchor', async (_, narrowOf) => {
    const given = await shared;
    const { realm, ids } = given;
    const narrow = narrowOf(given);
    for (const window of [
      {},
      { anchor: 'oldest', num_before: 0, num_after: 20 },
      { anchor: String(ids.elsewhere), num_before: 2, num_after: 2 },
      { anchor: 'first_unread', num_before: 20, num_after: 20 },
    ]) {
      const [cold, warm] = await tripsOf(realm, realm.people.admin, { narrow, ...window });
      expect([window, cold, warm]).toEqual([window, expect.toBeOneOf([2, 3]), expect.toBeOneOf([1, 2])]);
    }
  });

  it('a fetch of mentions takes one more round trip if there is a topic mention', async () => {
    const { realm } = await shared;
    for (const anchor of ['oldest', 'newest', 'first_unread']) {
      const window = { narrow: [['is', 'mentioned']], anchor, num_before: 20, num_after: 20 };
      expect(await tripsOf(realm, realm.people.admin, window)).toEqual([4, 3]);
    }
  });

  it('a fetch by message ids takes the usual round trips', async () => {
    const { realm, ids } = await shared;
    expect(await tripsOf(realm, realm.people.admin, { message_ids: Object.values(ids) })).toEqual(BUDGET);
  });

  it('a fetch of starred messages that moved to another channel takes one more', async () => {
    const { realm, ids } = await lively();
    const { owner } = realm.people;
    const { general, random } = realm.channels;
    const narrow = [['is', 'starred']];
    await flagged(realm, owner, 'add', 'starred', [ids.mention, ids.elsewhere]);
    for (const [change, trips] of [
      [{ topic: 'another' }, BUDGET],
      [{ stream_id: random }, [4, 3]],
      [{ stream_id: general }, [4, 3]],
    ] as const) {
      const { status } = await move(realm, owner, ids.mention, change);
      expect(status).toBe(200);
      expect(await idsIn(realm, owner, { narrow })).toEqual([ids.mention, ids.elsewhere]);
      expect(await tripsOf(realm, owner, { narrow })).toEqual(trips);
    }
  });

  it('a fetch by guests who do not see everyone takes the usual round trips', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { member, admin, guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member, guest]);
    await sent(realm, member, { to: channelId });
    await sent(realm, admin, { people: [guest] });
    for (const narrow of [[], [['channel', channelId]], [['is', 'dm']], [['dm', [admin.userId]]]])
      expect(await tripsOf(realm, guest, { narrow })).toEqual(BUDGET);
  });

  it('messages that were marked as unread again or deleted since take no further round trips', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const [again, gone] = (await sentMany(realm, member, { to: general }, 2)) as [number, number];
    const later = await givenMessages(realm, member, general, () => 'topic', 120, '');
    await flagged(realm, admin, 'add', 'read', [again, gone, ...later]);
    await flagged(realm, admin, 'remove', 'read', [again, gone]);
    const { body } = await realm.call(remove, realm.people.owner, {}, { path: { message_id: gone } });
    expect(body.result).toBe('success');
    for (const narrow of [[], [['channel', general]]]) {
      const query = { narrow: [...narrow, ['is', 'unread']], num_before: 20 };
      expect(await idsIn(realm, admin, query)).toEqual([again]);
      expect(await tripsOf(realm, admin, query)).toEqual(BUDGET);
    }
  });

  it('many channels and conversations take no further round trips, even if one of them has most of the messages', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const others = await Promise.all(Array.from({ length: 30 }, () => givenUser(realm)));
    for (const other of others) await sent(realm, other, { people: [admin] });
    const busy = await givenUser(realm);
    const direct = await sentMany(realm, busy, { people: [admin] }, 60);
    const channels = await Promise.all(
      Array.from({ length: 30 }, () => givenChannel(realm, {}, [member, admin])),
    );
    for (const { channelId } of channels) await sent(realm, member, { to: channelId });
    const last = channels[0]?.channelId as number;
    const lively = await givenMessages(realm, member, last, () => 'topic', 150);
    for (const [narrow, newest] of [
      [[['is', 'dm']], direct],
      [[['topic', 'topic']], lively],
      [[['sender', member.userId]], lively],
      [[], lively],
    ] as const) {
      const query = { narrow, num_before: 50 };
      expect((await idsIn(realm, admin, query)).slice(1)).toEqual(newest.slice(-49));
      expect(await tripsOf(realm, admin, query)).toEqual(BUDGET);
    }
  });
});

const MINUTE = 60_000;

/** More messages elsewhere than a fetch reads of the end of a quiet log. */
async function givenLater(realm: TestRealm): Promise<void> {
  await givenMessages(realm, realm.people.member, realm.channels.general, () => 'later', 40);
  realm.pass(MINUTE);
}

describe('GET /messages: cost', () => {
  it('twenty messages cost the same in a short history and in a long one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const short = await givenChannel(realm, {}, [member, admin]);
    const long = await givenChannel(realm, {}, [member, admin]);
    await givenMessages(realm, member, long.channelId, (i) => `t${i % 2}`, 2_000);
    await givenMessages(realm, member, short.channelId, (i) => `t${i % 2}`, 60);
    await givenLater(realm);
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

  it('of messages at the end of the log, which every fetch reads, neither they nor summaries of reactions are read', {
    tags: ['units'],
  }, async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const [older, newest] = [
      await givenChannel(realm, {}, [member]),
      await givenChannel(realm, {}, [member]),
    ];
    await givenMessages(realm, member, older.channelId, () => 'topic', 20);
    await givenLater(realm);
    await givenMessages(realm, member, newest.channelId, () => 'topic', 20);
    realm.pass(MINUTE);
    const unitsOf = async (channelId: number): Promise<number> =>
      (await cost(realm, admin, { num_before: 20, narrow: [['channel', channelId]] })).readUnits;
    expect((await unitsOf(older.channelId)) - (await unitsOf(newest.channelId))).toBe(20 + 20);
  });

  it('direct messages between other users cost nothing', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general } = realm.channels;
    await sent(realm, member, { people: [admin, owner] });
    await givenMessages(realm, member, general, () => 'seen', 30);
    const secret = await givenChannel(realm, { isPrivate: true }, [member]);
    await givenMessages(realm, member, secret.channelId, () => 'secret', 250);
    const queries = [
      { num_before: 20 },
      { anchor: 'first_unread', num_before: 20, num_after: 20 },
      { narrow: [['is', 'dm']] },
      { narrow: [['is', 'unread']] },
      { narrow: [['sender', member.userId]] },
    ];
    const costs = async () => {
      const all = [];
      for (const query of queries) all.push(await cost(realm, owner, query));
      return all;
    };
    const some = await costs();
    await givenMessages(realm, member, secret.channelId, () => 'secret', 750);
    const more = await costs();
    expect(more).toEqual(some);
    for (const { cold, warm } of more) expect([cold, warm]).toEqual(BUDGET);
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

describe('GET /messages: an index that is ahead', () => {
  it('does not lose a message that moved here after the end of the log was read', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const id = await sent(realm, member, { to: random });
    realm.pass(MINUTE);
    const logRead = Promise.withResolvers<void>();
    const moved = logRead.promise.then(() => move(realm, admin, id, { stream_id: general }));
    const ahead = realm.container((send) => async (command) => {
      if (!(command instanceof QueryCommand)) return send(command);
      const { IndexName: index, ExpressionAttributeValues: values = {} } = command.input;
      if (index !== undefined) await moved;
      const answer = await send(command);
      if (Object.values(values).includes(partition('slot', realm))) logRead.resolve();
      return answer;
    });
    expect(await idsIn(ahead, member, { narrow: [['channel', general]] })).toEqual([id]);
  });
});

describe('GET /messages: indexes that lag', () => {
  it('do not hide what was just sent', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const old = await sent(realm, member, { to: general });
    const behind = realm.container(lagging(old));
    const channel = await sent(realm, member, { to: general });
    const direct = await sent(realm, member, { people: [admin] });
    // Twice, since the second time it is remembered where to look.
    for (const as of [member, admin, member, admin]) {
      expect(await idsIn(behind, as, { narrow: [['channel', general]] })).toEqual([old, channel]);
      expect(await idsIn(behind, as, { narrow: inTopic })).toEqual([old, channel]);
      expect(await idsIn(behind, as, { narrow: [['is', 'dm']] })).toEqual([direct]);
      expect(await idsIn(behind, as, { narrow: [['is', 'unread']] })).toEqual([old, channel, direct]);
      const other = as === member ? admin : member;
      expect(await idsIn(behind, as, { narrow: [['dm', [other.userId]]] })).toEqual([direct]);
      expect(await idsIn(behind, as)).toEqual([old, channel, direct]);
      const after = { anchor: String(channel), num_before: 0, num_after: 5, narrow: [['channel', general]] };
      expect(await idsIn(behind, as, after)).toEqual([channel]);
    }
  });
});
