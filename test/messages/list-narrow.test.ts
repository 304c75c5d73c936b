import { describe, expect, it } from 'vitest';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { givenChannel, givenGroup, givenUserTopic } from '../support/given.ts';
import { fetched, flagged, givenMessages, idsIn, sent } from '../support/messages.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** A little of everything, under short names. */
async function conversation() {
  const realm = await newRealm();
  const { member, admin, guest, owner } = realm.people;
  const { general, random } = realm.channels;
  const ids = {
    lunch: await sent(realm, member, { to: general, topic: 'Lunch' }),
    lunch2: await sent(realm, admin, { to: general, topic: 'lunch' }),
    tea: await sent(realm, admin, { to: general, topic: 'tea' }),
    elsewhere: await sent(realm, member, { to: random, topic: 'lunch' }),
    empty: await sent(realm, member, { to: random, topic: '' }),
    resolved: await sent(realm, member, { to: random, topic: '✔ done' }),
    pair: await sent(realm, member, { people: [admin] }),
    answer: await sent(realm, admin, { people: [member] }),
    three: await sent(realm, guest, { people: [admin, member] }),
    other: await sent(realm, owner, { people: [admin] }),
    note: await sent(realm, admin, { people: [admin] }),
  };
  return { realm, ids, people: realm.people, channels: realm.channels };
}

type Names = Awaited<ReturnType<typeof conversation>>['ids'];

/** The names of the messages that the administrator finds in a narrow. */
async function found({ realm, ids }: { realm: TestRealm; ids: Names }, narrow: unknown): Promise<string[]> {
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const result = await idsIn(realm, realm.people.admin, { narrow });
  return result.map((id) => names.get(id) ?? String(id));
}

describe('GET /messages: narrows', () => {
  it('find messages of a channel, by its name in any case or by its id', async () => {
    const given = await conversation();
    const { general } = given.channels;
    for (const narrow of [
      [['channel', 'general']],
      [['stream', ' GENERAL ']],
      [['channel', general]],
      [{ operator: 'channel', operand: 'General' }],
      [{ operator: 'stream', operand: general, negated: false }],
    ])
      expect(await found(given, narrow)).toEqual(['lunch', 'lunch2', 'tea']);
  });

  it('find messages of a topic, in one channel or in all', async () => {
    const given = await conversation();
    const { general } = given.channels;
    expect(
      await found(given, [
        ['channel', general],
        ['topic', 'LUNCH'],
      ]),
    ).toEqual(['lunch', 'lunch2']);
    expect(
      await found(given, [
        ['subject', 'lunch'],
        ['stream', 'general'],
      ]),
    ).toEqual(['lunch', 'lunch2']);
    expect(await found(given, [['topic', 'lunch']])).toEqual(['lunch', 'lunch2', 'elsewhere']);
    for (const name of ['', 'general chat'])
      expect(
        await found(given, [
          ['channel', 'random'],
          ['topic', name],
        ]),
      ).toEqual(['empty']);
    expect(
      await found(given, [
        ['channel', 'random'],
        ['topic', 'x'.repeat(5_000)],
      ]),
    ).toEqual([]);
    expect(await found(given, [['topic', 'never']])).toEqual([]);
  });

  it('find direct messages with exactly the given users', async () => {
    const given = await conversation();
    const { member, admin, guest, owner } = given.people;
    for (const operand of [[member.userId], [member.userId, admin.userId], member.email, [member.email]])
      expect(await found(given, [{ operator: 'dm', operand }])).toEqual(['pair', 'answer']);
    expect(await found(given, [['pm-with', `${guest.email}, ${member.email}`]])).toEqual(['three']);
    expect(await found(given, [['dm', [admin.userId]]])).toEqual(['note']);
    expect(await found(given, [['dm', []]])).toEqual([]);
    expect(await found(given, [['pm_with', [owner.userId]]])).toEqual(['other']);
    expect(await found(given, [['dm', [owner.userId, guest.userId]]])).toEqual([]);
  });

  it('find direct messages in which a user takes part', async () => {
    const given = await conversation();
    const { member, guest, admin } = given.people;
    const including = (operand: unknown) => found(given, [{ operator: 'dm-including', operand }]);
    expect(await including(member.userId)).toEqual(['pair', 'answer', 'three']);
    expect(await including(guest.email)).toEqual(['three']);
    expect(await including(admin.userId)).toEqual(['pair', 'answer', 'three', 'other', 'note']);
  });

  it('find messages of a sender, a single message, and all direct messages', async () => {
    const given = await conversation();
    const { guest, admin } = given.people;
    expect(await found(given, [['sender', guest.email]])).toEqual(['three']);
    expect(await found(given, [['sender', admin.userId]])).toEqual(['lunch2', 'tea', 'answer', 'note']);
    expect(await found(given, [['id', given.ids.tea]])).toEqual(['tea']);
    expect(await found(given, [['id', String(given.ids.tea)]])).toEqual(['tea']);
    expect(await found(given, [['id', 999_999]])).toEqual([]);
    for (const word of ['dm', 'private'])
      expect(await found(given, [['is', word]])).toEqual(['pair', 'answer', 'three', 'other', 'note']);
  });

  it('find messages in resolved or followed topics, and messages with alert words', async () => {
    const given = await conversation();
    const { realm, people, channels } = given;
    expect(await found(given, [['is', 'resolved']])).toEqual(['resolved']);
    expect(await found(given, [['is', 'alerted']])).toEqual([]);
    await givenUserTopic(realm, people.admin, channels.general, 'TEA', visibility.followed);
    await givenUserTopic(realm, people.admin, channels.general, 'lunch', visibility.unmuted);
    expect(await found(given, [['is', 'followed']])).toEqual(['tea']);
    expect(
      await found(given, [{ operator: 'is', operand: 'followed', negated: true }, ['channel', 'general']]),
    ).toEqual(['lunch', 'lunch2']);
  });

  it('find starred messages', async () => {
    const given = await conversation();
    const { realm, people, ids } = given;
    await flagged(realm, people.admin, 'add', 'starred', [ids.tea, ids.pair, ids.note]);
    await flagged(realm, people.admin, 'remove', 'starred', [ids.pair]);
    expect(await found(given, [['is', 'starred']])).toEqual(['tea', 'note']);
    expect(
      await found(given, [
        ['is', 'starred'],
        ['is', 'dm'],
      ]),
    ).toEqual(['note']);
    expect(
      await found(given, [{ operator: 'is', operand: 'starred', negated: true }, ['channel', 'general']]),
    ).toEqual(['lunch', 'lunch2']);
  });

  it('find unread messages', async () => {
    const given = await conversation();
    const { realm, people, ids } = given;
    const all = Object.values(ids);
    const left = [ids.tea, ids.three];
    await flagged(
      realm,
      people.admin,
      'add',
      'read',
      all.filter((id) => !left.includes(id)),
    );
    expect(await found(given, [['is', 'unread']])).toEqual(['tea', 'three']);
    expect(
      await found(given, [
        ['is', 'unread'],
        ['channel', 'general'],
      ]),
    ).toEqual(['tea']);
    expect(
      await found(given, [
        ['is', 'unread'],
        ['is', 'dm'],
      ]),
    ).toEqual(['three']);
    await flagged(realm, people.admin, 'remove', 'read', [ids.lunch]);
    expect(
      await found(given, [
        ['is', 'unread'],
        ['channel', 'general'],
      ]),
    ).toEqual(['lunch', 'tea']);
    expect(
      await found(given, [
        ['channel', 'general'],
        ['topic', 'lunch'],
        ['is', 'unread'],
      ]),
    ).toEqual(['lunch']);
    expect(
      await found(given, [{ operator: 'is', operand: 'unread', negated: true }, ['channel', 'general']]),
    ).toEqual(['lunch2']);
  });

  it('find mentions by name, by group and by wildcards', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general } = realm.channels;
    const group = await givenGroup(realm, { members: [admin] });
    const topic = 'mentions';
    await sent(realm, admin, { to: general, topic });
    const name = await sent(realm, member, { to: general, topic }, '@**Adam Admin** look');
    const byGroup = await sent(realm, member, { to: general, topic }, `@*${group.name}* look`);
    const channel = await sent(realm, member, { to: general, topic }, '@**all** look');
    const inTopic = await sent(realm, member, { to: general, topic }, '@**topic** look');
    const elsewhere = await sent(realm, member, { to: general, topic: 'not mine' }, '@**topic** look');
    await sent(realm, member, { to: general, topic }, '@_**Adam Admin** look');
    const narrow = [['is', 'mentioned']];
    expect(await idsIn(realm, admin, { narrow })).toEqual([name, byGroup, channel, inTopic]);
    expect(await idsIn(realm, owner, { narrow })).toEqual([channel]);
    expect(await idsIn(realm, member, { narrow })).toEqual([channel, inTopic, elsewhere]);
    expect(await idsIn(realm, admin, { narrow: [...narrow, ['channel', general]] })).toEqual([
      name,
      byGroup,
      channel,
      inTopic,
    ]);
  });

  it('find messages that meet all conditions, any of which can be negated', async () => {
    const given = await conversation();
    const { member } = given.people;
    const not = (operator: string, operand: unknown) => ({ operator, operand, negated: true });
    expect(await found(given, [['channel', 'general'], not('topic', 'lunch')])).toEqual(['tea']);
    expect(await found(given, [['channel', 'general'], not('sender', member.userId)])).toEqual([
      'lunch2',
      'tea',
    ]);
    expect(await found(given, [not('is', 'dm'), not('channel', 'random')])).toEqual([
      'lunch',
      'lunch2',
      'tea',
    ]);
    expect(
      await found(given, [['is', 'dm'], not('dm', [member.userId]), not('dm-including', member.email)]),
    ).toEqual(['other', 'note']);
    expect(await found(given, [['channel', 'general'], not('id', given.ids.tea)])).toEqual([
      'lunch',
      'lunch2',
    ]);
    expect(
      await found(given, [
        ['channel', 'general'],
        ['channel', 'random'],
      ]),
    ).toEqual([]);
    expect(
      await found(given, [
        ['in', 'all'],
        ['near', given.ids.tea],
        ['topic', 'tea'],
      ]),
    ).toEqual(['tea']);
  });

  it.each([
    [[['channel', 'nowhere']]],
    [[['channel', 4_242]]],
    [[['channel', 0]]],
    [[['channel', -1]]],
    [
      [
        ['channel', 1e15],
        ['topic', 'x'],
      ],
    ],
    [[['dm', [-1]]]],
    [[['dm-including', 1e15]]],
    [[['channel', 'x'.repeat(3_000)]]],
    [[['sender', 'nobody@example.com']]],
    [[['sender', 'x'.repeat(3_000)]]],
    [[['sender', -1]]],
    [[['dm', [1, 2]]]],
    [[['dm', ' , ']]],
    [[['dm', Array.from({ length: 100 }, (_, i) => i + 1)]]],
    [[['id', 'seven']]],
    [[['is', 'green']]],
    [[['in', 'there']]],
    [[['has', 'legs']]],
    [[['with', 5]]],
    [[['with', 'five']]],
    [[['with', 2 ** 31]]],
    [
      [
        ['with', 5],
        ['with', 5],
        ['dm', []],
      ],
    ],
    [[['channels', 'private']]],
    [[['streams', 'all']]],
    [[['group-pm-with', 5_000]]],
    [[['mentions', 5_000]]],
    [[['id', 2 ** 31]]],
    [[['colour', 'green']]],
    [[{ operator: 'is', operand: 'dm', negated: true }, ['is', 'dm']]],
  ])('are refused with BAD_NARROW if they are invalid: %#', async (narrow) => {
    const { people, ...realm } = await newRealm();
    const { status, body } = await fetched({ people, ...realm }, people.member, { narrow });
    expect([status, body.code]).toEqual([400, 'BAD_NARROW']);
    expect(body.desc).toBeTypeOf('string');
  });

  it.each(
    ['channel', 'topic', 'channels'].flatMap((operator) =>
      ['dm', 'is', 'dm-including', 'group-pm-with'].map((other) => [operator, other] as const),
    ),
  )('are refused with BAD_NARROW for %s together with %s, unless one is negated', async (operator, other) => {
    const realm = await newRealm();
    const operands = [
      operator === 'channels' ? 'public' : 'general',
      other === 'is' ? 'dm' : 'admin@example.com',
    ];
    const narrow = [operator, other].map((name, i) => ({ operator: name, operand: operands[i] }));
    const { status, body } = await fetched(realm, realm.people.member, { narrow });
    expect([status, body.code]).toEqual([400, 'BAD_NARROW']);
    const negated = narrow.map((term, i) => ({ ...term, negated: i === 0 }));
    expect((await fetched(realm, realm.people.member, { narrow: negated })).status).toBe(200);
  });

  it.each([
    [[['channel', ['general']]]],
    [[['sender', ['member@example.com']]]],
    [[['topic', 7]]],
    [[['dm', 7]]],
    [[['id', [7]]]],
    [[['is', 7]]],
    [[['in', 7]]],
    [[['has', 7]]],
    [[['channels', 7]]],
    [[['mentions', [7]]]],
    [[['group-pm-with', [7]]]],
    [[['with', [7]]]],
    [[['is', null]]],
    [[['is']]],
    [[{ operand: 'x' }]],
    [[{ operator: 'is', operand: 'dm', negated: 'no' }]],
    [Array.from({ length: 51 }, () => ['is', 'dm'])],
  ])('are refused with BAD_REQUEST if they are malformed: %#', async (narrow) => {
    const realm = await newRealm();
    const { status, body } = await fetched(realm, realm.people.member, { narrow });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('GET /messages: searches that look through much', () => {
  it('continue beyond the part of the log that one read returns', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general, random } = realm.channels;
    const old = [
      await sent(realm, admin, { to: general, topic: 'old' }),
      await sent(realm, admin, { people: [owner] }),
      await sent(realm, admin, { to: random, topic: 'old' }),
    ];
    const noise = await givenChannel(realm, {}, [member]);
    await givenMessages(realm, member, noise.channelId, () => 'noise', 250);
    await givenMessages(realm, member, general, () => 'other', 30);
    const narrow = [['sender', admin.email]];
    expect(await idsIn(realm, owner, { narrow, num_before: 10 })).toEqual(old);
    expect(await idsIn(realm, owner, { narrow, num_before: 2 })).toEqual(old.slice(1));
    expect(await idsIn(realm, owner, { narrow, anchor: 'oldest', num_before: 0, num_after: 2 })).toEqual(
      old.slice(0, 2),
    );
    expect(await idsIn(realm, owner, { num_before: 32 })).toHaveLength(32);
  });
});
