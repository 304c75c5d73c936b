import { describe, expect, it } from 'vitest';
import { attributeInMessage } from '../../shared/model/message/reaction.ts';
import { key } from '../../shared/table/keys.ts';
import { sendTo } from '../support/event-queue.ts';
import { exported } from '../support/export-request.ts';
import { move } from '../support/message-update.ts';
import { fetched } from '../support/messages.ts';
import { workedOff } from '../support/outbox.ts';
import { react, reactionsTo, storedSummary, THUMB, unreact } from '../support/reactions.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { loggedAfter, storedMessage, storedTopic } from '../support/stored.ts';

const TADA = { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji' } as const;
const thumb = { type: 'unicode_emoji', code: THUMB.emoji_code } as const;

const storeInMessage = (realm: TestRealm, id: number, userId: number, seq: number) =>
  realm.outside.table.update(key('slot', { realm: realm.realm, seq: id }), {
    set: { [attributeInMessage(thumb, userId)]: { name: '+1', seq } },
  });

/** A message to which people reacted with a thumb while an earlier release was running. */
async function givenOld(realm: TestRealm, people: readonly Person[]): Promise<number> {
  const id = await sendTo(realm, realm.people.owner, realm.channels.general, 'hello');
  for (const [i, { userId }] of people.entries()) await storeInMessage(realm, id, userId, i + 1);
  return id;
}

describe('reactions that an earlier release stored in the message', () => {
  it('are shown before later ones, in each fetch and in exports', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await givenOld(realm, [member, admin]);
    await react(realm, member, id, TADA);
    const shown = [
      { ...THUMB, user_id: member.userId },
      { ...THUMB, user_id: admin.userId },
      { ...TADA, user_id: member.userId },
    ];
    expect(await reactionsTo(realm, admin, id)).toEqual(shown);
    const { body } = await fetched(realm, admin);
    expect(body.messages.at(-1).reactions).toEqual(shown);
    const { records } = await exported(realm, 'public');
    expect(records.messages?.find((message) => message.id === id)?.reactions).toEqual(shown);
  });

  it('cannot be repeated, are joined by their name, and can be removed', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await givenOld(realm, [member]);
    expect((await react(realm, member, id)).body).toMatchObject({ code: 'REACTION_ALREADY_EXISTS' });
    expect(await react(realm, admin, id, { emoji_name: 'thumbs_up' })).toMatchObject({ status: 200 });
    expect(await reactionsTo(realm, member, id)).toMatchObject([THUMB, THUMB]);
    expect(await unreact(realm, member, id)).toMatchObject({ status: 200 });
    expect((await unreact(realm, member, id)).body).toMatchObject({ code: 'REACTION_DOES_NOT_EXIST' });
    expect(await reactionsTo(realm, member, id)).toMatchObject([{ user_id: admin.userId }]);
    expect(await react(realm, member, id)).toMatchObject({ status: 200 });
    expect(await reactionsTo(realm, member, id)).toHaveLength(2);
    expect(Object.keys(await storedMessage(realm, id)).filter((name) => name.includes('/'))).toEqual([]);
    const ops = (await loggedAfter(realm, id)).map((entry) => entry.kind === 'event' && entry.payload.op);
    expect(ops).toEqual(['add', 'remove', 'add']);
  });

  it('are shown once if functions of both releases stored them, and are removed at once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    await react(realm, member, id);
    await storeInMessage(realm, id, member.userId, id);
    expect(await reactionsTo(realm, member, id)).toHaveLength(1);
    expect(await unreact(realm, member, id)).toMatchObject({ status: 200 });
    expect(await reactionsTo(realm, member, id)).toEqual([]);
    expect(await storedSummary(realm, id)).toMatchObject({ count: 0, bytes: 0 });
  });

  it('make their users participants of another topic after a move', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const id = await givenOld(realm, [member, admin]);
    expect(await move(realm, owner, id, { topic: 'cake' })).toMatchObject({ status: 200 });
    await workedOff(realm);
    expect(await storedTopic(realm, realm.channels.general, 'cake')).toMatchObject({ participants: 3 });
  });
});
