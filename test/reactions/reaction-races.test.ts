import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { key } from '../../shared/table/keys.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { meanwhile } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { workedOff } from '../support/outbox.ts';
import {
  givenReactions,
  react,
  reactionsTo,
  storedReactions,
  storedSummary,
  unreact,
} from '../support/reactions.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { loggedAfter, storedTopic } from '../support/stored.ts';

const success = { status: 200 };
const invalid = { status: 400, body: { code: 'BAD_REQUEST', msg: 'Invalid message(s).' } };
const remove = (realm: TestRealm, id: number) =>
  realm.call(deleteMessage, realm.people.admin, {}, { path: { message_id: id } });

describe.each([
  ['the first one', 0],
  ['one of a few', 3],
  ['one of many', 40],
])('a reaction, %s, while', (_, have) => {
  it('its message is deleted is refused, and nothing is left of it', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await givenReactions(realm, id, have);
    const late = realm.container(meanwhile(() => remove(realm, id)));
    expect(await react(late, member, id)).toMatchObject(invalid);
    await workedOff(realm);
    expect(await storedReactions(realm, id)).toMatchObject([{ isGone: true }]);
    const told = (await loggedAfter(realm, id)).flatMap((entry) =>
      entry.kind === 'event' ? entry.payload.type : [],
    );
    expect(told).not.toContain('reaction');
    expect(await storedTopic(realm, realm.channels.general, 'hi')).toBeUndefined();
  });

  it('its message moves to another channel is announced there', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin, member]);
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await givenReactions(realm, id, have);
    const there = await givenClient(realm, admin, { event_types: ['reaction'] });
    const here = await givenClient(realm, realm.people.guest, { event_types: ['reaction'] });
    const late = realm.container(meanwhile(() => move(realm, admin, id, { stream_id: channelId })));
    expect(await react(late, member, id)).toMatchObject(success);
    expect(await there.poll()).toMatchObject([{ type: 'reaction', op: 'add', message_id: id }]);
    expect(await here.poll()).toEqual([]);
    expect(await reactionsTo(realm, member, id)).toHaveLength(have + 1);
  });
});

describe('a message that functions of an earlier release moved again', () => {
  it('gets reactions in its present channel', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await move(realm, admin, id, { stream_id: realm.channels.random });
    const { moved } = (await storedSummary(realm, id)) ?? {};
    await move(realm, admin, id, { stream_id: realm.channels.general });
    const at = key('reactions', { realm: realm.realm, messageId: id });
    await realm.outside.table.update(at, { set: { moved, changed: moved } });
    const client = await givenClient(realm, admin, { event_types: ['reaction'] });
    expect(await react(realm, member, id)).toMatchObject(success);
    expect(await client.poll()).toMatchObject([{ message_id: id }]);
  });
});

describe('the last message of a topic that is deleted while a user reacts to it', () => {
  it.each([0, 3])('leaves no participants of the topic, with %d earlier reactions', async (have) => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { general } = realm.channels;
    const id = await sendTo(realm, admin, general, 'hello');
    await givenReactions(realm, id, have);
    const late = realm.container(meanwhile(() => react(realm, member, id)));
    expect(await remove(late, id)).toMatchObject(success);
    expect(await storedTopic(realm, general, 'hi')).toBeUndefined();
    const topic = { realm: realm.realm, channelId: general, topic: 'hi' };
    expect(await realm.outside.table.all('participant', topic)).toEqual([]);
  });
});

describe('a message that is deleted while it gets many reactions', () => {
  it('leaves no reactions behind', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const id = await sendTo(realm, admin, realm.channels.general, 'hello');
    await givenReactions(realm, id, 3);
    const late = realm.container(meanwhile(() => givenReactions(realm, id, 40)));
    expect(await remove(late, id)).toMatchObject(success);
    await workedOff(realm);
    expect(await storedReactions(realm, id)).toMatchObject([{ sk: 'summary', isGone: true }]);
  });
});

describe('two concurrent requests of one user', () => {
  it('add one reaction, even if the summary becomes full in between', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    const late = realm.container(
      meanwhile(async () => {
        await givenReactions(realm, id, 40);
        expect(await react(realm, member, id, { emoji_name: 'tada' })).toMatchObject(success);
      }),
    );
    expect(await react(late, member, id, { emoji_name: 'tada' })).toMatchObject({
      status: 400,
      body: { code: 'REACTION_ALREADY_EXISTS' },
    });
    expect(await reactionsTo(realm, member, id)).toHaveLength(41);
  });

  it('remove a reaction once', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    for (const have of [0, 40]) {
      await givenReactions(realm, id, have);
      await react(realm, member, id);
      const late = realm.container(meanwhile(() => unreact(realm, member, id)));
      expect(await unreact(late, member, id)).toMatchObject({ body: { code: 'REACTION_DOES_NOT_EXIST' } });
      expect(await storedSummary(realm, id)).toMatchObject({ count: have });
    }
  });

  it('send events in the order of the changes, even if the summary is full', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    await givenReactions(realm, id, 40);
    const late = realm.container(
      meanwhile(async () => {
        await react(realm, member, id);
        await unreact(realm, member, id);
      }),
    );
    expect(await react(late, member, id)).toMatchObject(success);
    const ops = (await loggedAfter(realm, id)).map((entry) => entry.kind === 'event' && entry.payload.op);
    expect(ops).toEqual(['add', 'remove', 'add']);
    expect(await reactionsTo(realm, member, id)).toHaveLength(41);
  });
});
