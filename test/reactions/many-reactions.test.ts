import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { key } from '../../shared/table/keys.ts';
import { sendTo } from '../support/event-queue.ts';
import { exported } from '../support/export-request.ts';
import { givenEmoji, givenUser } from '../support/given.ts';
import { fetched } from '../support/messages.ts';
import { leftIn, workedOff } from '../support/outbox.ts';
import {
  givenReactions,
  react,
  reactionsTo,
  storedReactions,
  storedSummary,
  THUMB,
  unreact,
} from '../support/reactions.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const success = { status: 200 };
const refusedWith = (code: string) => ({ status: 400, body: { code } });

/** An organization with a message to which more people reacted than its summary holds. */
async function popular(count = 40): Promise<{ readonly realm: TestRealm; readonly id: number }> {
  const realm = await newRealm();
  await givenEmoji(realm, 'party');
  const id = await sendTo(realm, realm.people.admin, realm.channels.general, 'hello');
  await givenReactions(realm, id, count);
  expect(await storedSummary(realm, id)).toMatchObject({ count, isFull: true });
  return { realm, id };
}

describe('reactions that do not fit into the summary', () => {
  it('are shown after the first ones, in each fetch', async () => {
    const { realm, id } = await popular();
    const { member, admin } = realm.people;
    await react(realm, member, id, { emoji_name: 'tada' });
    await react(realm, admin, id);
    const shown = await reactionsTo(realm, member, id);
    expect(shown).toHaveLength(42);
    expect(shown.map(({ user_id }) => user_id)).toEqual([
      ...Array.from({ length: 40 }, (_, i) => 500_000 + i),
      member.userId,
      admin.userId,
    ]);
    for (const query of [{}, { message_ids: [id] }]) {
      const { body } = await fetched(realm, member, query);
      expect(body.messages.find((message: { id: number }) => message.id === id).reactions).toEqual(shown);
    }
  });

  it('are exported with the others', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    const people = await Promise.all(Array.from({ length: 30 }, () => givenUser(realm)));
    for (const person of people) expect(await react(realm, person, id)).toMatchObject(success);
    expect(await storedSummary(realm, id)).toMatchObject({ count: 30, isFull: true });
    const { records } = await exported(realm, 'public');
    expect(records.messages?.find((message) => message.id === id)?.reactions).toEqual(
      people.map(({ userId }) => ({ ...THUMB, user_id: userId })),
    );
  });

  it('can be added once, removed once, and added again', async () => {
    const { realm, id } = await popular();
    const { member, admin } = realm.people;
    for (let round = 0; round < 2; round++) {
      expect(await react(realm, member, id)).toMatchObject(success);
      expect(await react(realm, member, id)).toMatchObject(refusedWith('REACTION_ALREADY_EXISTS'));
      expect(await react(realm, admin, id)).toMatchObject(success);
      expect(await storedSummary(realm, id)).toMatchObject({ count: 42 });
      for (const person of [member, admin]) {
        expect(await unreact(realm, person, id)).toMatchObject(success);
        expect(await unreact(realm, person, id)).toMatchObject(refusedWith('REACTION_DOES_NOT_EXIST'));
      }
      expect(await storedSummary(realm, id)).toMatchObject({ count: 40 });
      expect(await reactionsTo(realm, member, id)).toHaveLength(40);
    }
  });

  it('cannot be repeated when one of the first is removed', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await react(realm, member, id);
    await givenReactions(realm, id, 40);
    expect(await react(realm, admin, id)).toMatchObject(success);
    expect(await unreact(realm, member, id)).toMatchObject(success);
    expect(await react(realm, admin, id)).toMatchObject(refusedWith('REACTION_ALREADY_EXISTS'));
    expect(await react(realm, member, id)).toMatchObject(success);
    const shown = (await reactionsTo(realm, member, id)).map(({ user_id }) => user_id);
    expect(shown).toHaveLength(42);
    expect(shown.slice(-2)).toEqual([admin.userId, member.userId]);
  });

  it('join those with the same emoji under its name, even if it was deactivated since', async () => {
    const { realm, id } = await popular();
    const { member, admin } = realm.people;
    const party = { emoji_name: 'party', emoji_code: '1', reaction_type: 'realm_emoji' };
    expect(await react(realm, member, id, party)).toMatchObject(success);
    await react(realm, member, id, { emoji_name: 'thumbs_up' });
    const gone = { delete: key('emojiName', { realm: realm.realm, name: 'party' }) };
    await realm.outside.table.transact([gone], realm.outside.uuid());
    expect(await react(realm, admin, id, party)).toMatchObject(success);
    const shown = await reactionsTo(realm, member, id);
    expect(shown.slice(-3)).toEqual([
      { ...party, user_id: member.userId },
      { ...THUMB, user_id: member.userId },
      { ...party, user_id: admin.userId },
    ]);
  });

  it('are limited to 2,000, and a removed one makes room for another', async () => {
    const { realm, id } = await popular(1_999);
    const { member, admin } = realm.people;
    expect(await react(realm, member, id)).toMatchObject(success);
    expect(await react(realm, admin, id)).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', msg: 'This message has too many reactions.' },
    });
    expect(await reactionsTo(realm, member, id)).toHaveLength(2_000);
    await unreact(realm, member, id);
    const both = await Promise.all([member, admin].map((each) => react(realm.container(), each, id)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await reactionsTo(realm, member, id)).toHaveLength(2_000);
  });

  it('are deleted with their message', async () => {
    const { realm, id } = await popular(250);
    const { admin } = realm.people;
    expect(await realm.call(deleteMessage, admin, {}, { path: { message_id: id } })).toMatchObject(success);
    expect(await storedSummary(realm, id)).toMatchObject({ isGone: true, expires: expect.any(Number) });
    expect(await leftIn(realm)).toMatchObject([{ kind: 'reactions', messageIds: [id] }]);
    await workedOff(realm);
    expect(await storedReactions(realm, id)).toMatchObject([{ sk: 'summary', isGone: true }]);
  });

  it.each([
    ['a code that is too long for a key', { emoji_code: 'x'.repeat(3_000), reaction_type: 'unicode_emoji' }],
    ['a code with the sign that separates keys', { emoji_code: '1f44d/500000' }],
    ['an empty code', { emoji_code: '' }],
  ])('are not added or removed by %s', async (_, emoji) => {
    const { realm, id } = await popular();
    const { member } = realm.people;
    expect(await unreact(realm, member, id, emoji)).toMatchObject(refusedWith('REACTION_DOES_NOT_EXIST'));
    expect(await react(realm, member, id, { emoji_name: '+1', ...emoji })).toMatchObject(
      refusedWith('BAD_REQUEST'),
    );
    expect(await storedSummary(realm, id)).toMatchObject({ count: 40 });
  });
});
