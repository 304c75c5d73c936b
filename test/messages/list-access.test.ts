import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/messages/get.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { onlyUser, roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { givenChannel, givenRealmSettings, givenSubscription, givenUser } from '../support/given.ts';
import { fetched, flagged, flagsFor, idsIn, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

/** The messages of one channel that a user finds, by all endpoints, which must agree. */
async function seenBy(
  realm: TestRealm,
  as: Person,
  channelId: number,
  ids: readonly number[],
): Promise<number[]> {
  const topics = await fetched(realm, as, {
    narrow: [
      ['channel', channelId],
      ['topic', 'topic'],
    ],
  });
  const channel = await fetched(realm, as, { narrow: [['channel', channelId]] });
  const oldest = await fetched(realm, as, {
    narrow: [['channel', channelId]],
    anchor: 'oldest',
    num_before: 0,
    num_after: 50,
  });
  const told = ({ status, body }: Awaited<ReturnType<typeof fetched>>): unknown =>
    status === 200 ? body.messages.map(({ id }: { id: number }) => id) : body.code;
  const byIds = await idsIn(realm, as, { message_ids: ids });
  for (const reply of [topics, channel, oldest]) {
    expect(told(reply)).toEqual(reply.status === 200 ? byIds : 'BAD_NARROW');
  }
  for (const id of ids) {
    const { status } = await realm.call(get, as, {}, { path: { message_id: id } });
    expect(status).toBe(byIds.includes(id) ? 200 : 400);
    const named = await fetched(realm, as, {
      narrow: [
        ['id', id],
        ['channel', channelId],
      ],
    });
    expect(told(named)).toEqual(named.status === 200 ? byIds.filter((each) => each === id) : 'BAD_NARROW');
  }
  return byIds;
}

describe('who may read a channel message', () => {
  it('everybody may read a public channel, guests only if they are subscribed (4.2/history_public_to_subscribers)', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const ids = [await sent(realm, member, { to: channelId })];
    expect(await seenBy(realm, admin, channelId, ids)).toEqual(ids);
    expect(await seenBy(realm, guest, channelId, ids)).toEqual([]);
    await givenSubscription(realm, guest, channelId);
    expect(await seenBy(realm, guest, channelId, ids)).toEqual(ids);
  });

  it('subscribers and users who may subscribe may read a private channel, and no role gives access to it', async () => {
    const realm = await newRealm();
    const { member, owner, admin, moderator, guest } = realm.people;
    const groups = { can_subscribe_group: onlyUser(moderator.userId) };
    const { channelId } = await givenChannel(realm, { isPrivate: true, groups }, [member]);
    const ids = [await sent(realm, member, { to: channelId }), await sent(realm, member, { to: channelId })];
    for (const person of [owner, admin, guest])
      expect(await seenBy(realm, person, channelId, ids)).toEqual([]);
    for (const person of [member, moderator])
      expect(await seenBy(realm, person, channelId, ids)).toEqual(ids);
    await givenSubscription(realm, admin, channelId);
    expect(await seenBy(realm, admin, channelId, ids)).toEqual(ids);
  });

  it('subscribers may read a protected history from their subscription on (4.2/history_public_to_subscribers)', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const groups = { can_subscribe_group: systemGroups.moderators.id };
    const { channelId } = await givenChannel(
      realm,
      { isPrivate: true, historyPublicToSubscribers: false, groups },
      [member],
    );
    const before = [
      await sent(realm, member, { to: channelId }),
      await sent(realm, member, { to: channelId }),
    ];
    await givenSubscription(realm, admin, channelId);
    const after = [
      await sent(realm, member, { to: channelId }),
      await sent(realm, member, { to: channelId }),
    ];
    const all = [...before, ...after];
    expect(await seenBy(realm, member, channelId, all)).toEqual(all);
    expect(await seenBy(realm, admin, channelId, all)).toEqual(after);
    expect(await seenBy(realm, moderator, channelId, all)).toEqual([]);
    const { body } = await fetched(realm, admin, {
      narrow: [['channel', channelId]],
      anchor: 'oldest',
      num_before: 0,
      num_after: 1,
    });
    expect(body.messages).toMatchObject([{ id: after[0] }]);
  });

  it('access ends with the subscription, even to starred messages', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isPrivate: true }, [member, admin]);
    const id = await sent(realm, member, { to: channelId });
    const own = await sent(realm, admin, { to: realm.channels.general });
    await flagged(realm, admin, 'add', 'starred', [own, id]);
    const starred = (): Promise<number[]> => idsIn(realm, admin, { narrow: [['is', 'starred']] });
    expect(await starred()).toEqual([id, own]);
    await realm.call(unsubscribe, admin, { subscriptions: [name] });
    expect(await seenBy(realm, admin, channelId, [id])).toEqual([]);
    expect(await starred()).toEqual([own]);
    const first = await fetched(realm, admin, {
      narrow: [['is', 'starred']],
      anchor: 'oldest',
      num_before: 0,
      num_after: 1,
    });
    expect(first.body.messages).toMatchObject([{ id: own }]);
    expect(await idsIn(realm, admin)).not.toContain(id);
  });

  it('a hidden channel is refused in the words of one that does not exist', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isPrivate: true }, [member]);
    const messages = await Promise.all(
      [name, channelId, 'no such channel', 999_999].flatMap((operand) =>
        [true, false].map((negated) =>
          fetched(realm, admin, { narrow: [{ operator: 'channel', operand, negated }] }),
        ),
      ),
    );
    expect(new Set(messages.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

describe('who may read a direct message', () => {
  it('only its participants may read it', async () => {
    const realm = await newRealm();
    const { member, admin, owner, guest } = realm.people;
    const id = await sent(realm, member, { people: [guest] });
    for (const person of [member, guest]) {
      expect(await idsIn(realm, person, { narrow: [['is', 'dm']] })).toEqual([id]);
      expect(await idsIn(realm, person, { message_ids: [id] })).toEqual([id]);
    }
    for (const person of [admin, owner]) {
      for (const query of [
        { message_ids: [id] },
        { narrow: [['id', id]] },
        { narrow: [['is', 'dm']] },
        { narrow: [['dm', [member.userId, guest.userId]]] },
        { narrow: [['dm-including', guest.userId]] },
        { narrow: [['sender', member.email]] },
        { anchor: String(id), num_before: 1, num_after: 1 },
      ])
        expect(await idsIn(realm, person, query), JSON.stringify(query)).toEqual([]);
      expect((await realm.call(get, person, {}, { path: { message_id: id } })).status).toBe(400);
    }
  });
});

describe('a message that the reader never received', () => {
  it('is found only by a narrow to its channel, with the flag `historical`', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const old = await sent(realm, member, { to: channelId }, '@**Adam Admin** @**all**');
    expect(await flagsFor(realm, admin, old)).toEqual(['read', 'historical']);
    await givenSubscription(realm, admin, channelId);
    const now = await sent(realm, member, { to: channelId });
    expect(await flagsFor(realm, admin, old)).toEqual(['read', 'historical']);
    expect(await flagsFor(realm, admin, now)).toEqual([]);
    expect(await idsIn(realm, admin, { narrow: [['channel', channelId]] })).toEqual([old, now]);
    expect(await idsIn(realm, admin)).toEqual([now]);
    expect(await idsIn(realm, admin, { narrow: [['sender', member.email]] })).toEqual([now]);
    expect(await idsIn(realm, admin, { narrow: [['is', 'mentioned']] })).toEqual([]);
    expect(
      await idsIn(realm, admin, {
        narrow: [
          ['is', 'mentioned'],
          ['channel', channelId],
        ],
      }),
    ).toEqual([]);
  });
});

describe('guests who do not see everyone', () => {
  it('get no personal data of senders whom they may not see', async () => {
    const realm = await newRealm();
    const { guest, owner } = realm.people;
    await givenRealmSettings(realm, { can_access_all_users_group: systemGroups.members.id });
    const stranger = await givenUser(realm, { fullName: 'Very Secret' });
    const { channelId } = await givenChannel(realm, {}, [guest]);
    const id = await sent(realm, stranger, { to: channelId });
    const known = await sent(realm, owner, { to: realm.channels.general });
    const { body } = await fetched(realm, guest);
    expect(body.messages).toMatchObject([
      { id, sender_id: stranger.userId, sender_full_name: 'Unknown user', sender_email: expect.any(String) },
      { id: known, sender_full_name: 'Olive Owner', sender_email: owner.email },
    ]);
    expect(JSON.stringify(body)).not.toContain('Secret');
    expect(JSON.stringify(body)).not.toContain(stranger.email);
    for (const operand of [stranger.email, 'nobody@example.com'])
      expect((await fetched(realm, guest, { narrow: [['sender', operand]] })).body.code).toBe('BAD_NARROW');
    const another = await givenUser(realm, { role: roles.guest });
    expect((await fetched(realm, another, { narrow: [['sender', owner.email]] })).body.code).toBe(
      'BAD_NARROW',
    );
  });
});
