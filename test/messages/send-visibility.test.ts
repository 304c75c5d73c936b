import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import type { ReadEntry } from '../../shared/log/slot.ts';
import {
  givenBot,
  givenChannel,
  givenMutedChannel,
  givenSettings,
  givenSubscription,
  givenUser,
  givenUserTopic,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter, storedUserTopic } from '../support/stored.ts';

const sendTo = async (realm: TestRealm, as: Person, to: number, content = 'x', topic = 'hi') =>
  (await realm.call(send, as, { type: 'channel', to, topic, content })).body;

/** Entries of the log in few words: what, and for whom. */
const told = (entries: readonly ReadEntry[]) =>
  entries.map((entry) =>
    entry.kind === 'message'
      ? `message ${entry.id}`
      : `${entry.payload.type} ${JSON.stringify(entry.hearers)}`,
  );

describe('specification 4.1: automatic_new_visibility_policy', () => {
  it('rule 2: follows a topic that the sender begins, with an event just before the message (4.1/automatic_new_visibility_policy, 4.1/user_topic)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const start = await lastNumber(realm);
    const { id, automatic_new_visibility_policy } = await sendTo(realm, member, general, 'x', 'Plans');
    expect(automatic_new_visibility_policy).toBe(3);
    const entries = await loggedAfter(realm, start);
    expect(told(entries)).toEqual([`user_topic {"users":[${member.userId}]}`, `message ${id}`]);
    expect(entries[0]).toMatchObject({
      seq: id - 1,
      payload: {
        type: 'user_topic',
        stream_id: general,
        topic_name: 'Plans',
        visibility_policy: 3,
        last_updated: expect.closeTo(Date.now() / 1000, -2),
      },
    });
    expect(await storedUserTopic(realm, member, general, 'plans')).toMatchObject({
      policy: 3,
      topic: 'Plans',
    });
  });

  it('is neither changed nor reported by the next message', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await sendTo(realm, member, realm.channels.general);
    const start = await lastNumber(realm);
    const reply = await sendTo(realm, member, realm.channels.general);
    expect(reply).not.toHaveProperty('automatic_new_visibility_policy');
    expect(told(await loggedAfter(realm, start))).toEqual([`message ${reply.id}`]);
  });

  it('does not follow a topic that another user began', async () => {
    const realm = await newRealm();
    const { general } = realm.channels;
    await sendTo(realm, realm.people.admin, general, 'x', 'Hi');
    expect(await sendTo(realm, realm.people.member, general)).not.toHaveProperty(
      'automatic_new_visibility_policy',
    );
  });

  it('unmutes a topic of a muted channel on sending to it, even a muted one (4.1/automatic_new_visibility_policy)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    await givenMutedChannel(realm, member, general);
    await sendTo(realm, admin, general, 'x', 'hi');
    await givenUserTopic(realm, member, general, 'hi', 1);
    expect(await sendTo(realm, member, general)).toMatchObject({ automatic_new_visibility_policy: 2 });
    expect(await storedUserTopic(realm, member, general, 'hi')).toMatchObject({ policy: 2 });
  });

  it('follows a new topic of a muted channel: following wins over unmuting', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await givenMutedChannel(realm, member, realm.channels.general);
    expect(await sendTo(realm, member, realm.channels.general)).toMatchObject({
      automatic_new_visibility_policy: 3,
    });
  });

  it('depends on the settings of the sender', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    await sendTo(realm, admin, general);
    await givenSettings(realm, member, { automatically_follow_topics_policy: 1 });
    expect(await sendTo(realm, member, general)).toMatchObject({ automatic_new_visibility_policy: 3 });
  });

  it('counts only messages since the subscription as earlier ones if history is protected', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: false }, [
      admin,
    ]);
    await sendTo(realm, admin, channelId);
    await givenSubscription(realm, member, channelId);
    expect(await sendTo(realm, member, channelId)).toMatchObject({ automatic_new_visibility_policy: 3 });
    await givenSubscription(realm, moderator, channelId);
    await sendTo(realm, admin, channelId);
    expect(await sendTo(realm, moderator, channelId)).not.toHaveProperty('automatic_new_visibility_policy');
  });

  it('never applies to bots and direct messages', async () => {
    const realm = await newRealm();
    const { member, bot, guest } = realm.people;
    await givenSettings(realm, bot, { automatically_follow_topics_policy: 1 });
    await givenSettings(realm, member, { automatically_follow_topics_policy: 1 });
    expect(await sendTo(realm, bot, realm.channels.general)).not.toHaveProperty(
      'automatic_new_visibility_policy',
    );
    const direct = { type: 'direct', to: [guest.userId], topic: 'hi', content: 'x' };
    expect((await realm.call(send, member, direct)).body).not.toHaveProperty(
      'automatic_new_visibility_policy',
    );
  });

  it('is changed once by three concurrent messages of one sender', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    // They take part already, so that only the policy itself can hold the others off.
    await givenSettings(realm, member, { automatically_follow_topics_policy: 4 });
    await sendTo(realm, member, realm.channels.general);
    await givenSettings(realm, member, { automatically_follow_topics_policy: 2 });
    const start = await lastNumber(realm);
    const replies = await Promise.all(
      [1, 2, 3].map(() => sendTo(realm.container(), member, realm.channels.general)),
    );
    expect(replies.filter((reply) => reply.automatic_new_visibility_policy === 3)).toHaveLength(1);
    const kinds = (await loggedAfter(realm, start)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['event', 'message', 'message', 'message']);
  });
});

describe('wire facts 3.10: people who are mentioned', () => {
  it('follow the topic, with an event before the message that the sender does not get', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const { general } = realm.channels;
    await sendTo(realm, member, general);
    const start = await lastNumber(realm);
    const reply = await sendTo(realm, member, general, '@**Mona Moderator** and @**adam admin**');
    expect(reply).toEqual({ result: 'success', msg: '', id: reply.id });
    expect(told(await loggedAfter(realm, start)).toSorted()).toEqual([
      `message ${reply.id}`,
      `user_topic {"users":[${admin.userId}]}`,
      `user_topic {"users":[${moderator.userId}]}`,
    ]);
    for (const who of [admin, moderator]) {
      expect(await storedUserTopic(realm, who, general, 'hi')).toMatchObject({ policy: 3 });
    }
  });

  it('get their event with that of the sender, numbered just below the message', async () => {
    const realm = await newRealm();
    const start = await lastNumber(realm);
    const { id } = await sendTo(realm, realm.people.member, realm.channels.general, '@**Adam Admin**');
    const entries = await loggedAfter(realm, start);
    expect(entries.map(({ seq }) => seq)).toEqual([id - 2, id - 1, id]);
  });

  it('do not change a policy that mutes or follows the topic, but follow one that they have unmuted', async () => {
    const realm = await newRealm();
    const { member, admin, moderator, owner } = realm.people;
    const { general } = realm.channels;
    await givenUserTopic(realm, admin, general, 'hi', 1);
    await givenUserTopic(realm, moderator, general, 'hi', 3);
    await givenUserTopic(realm, owner, general, 'hi', 2);
    const start = await lastNumber(realm);
    await sendTo(realm, member, general, '@**Adam Admin** @**Mona Moderator** @**Olive Owner**');
    const events = (await loggedAfter(realm, start)).filter(({ kind }) => kind === 'event');
    expect(told(events)).toEqual([
      `user_topic {"users":[${member.userId}]}`,
      `user_topic {"users":[${owner.userId}]}`,
    ]);
    expect(await storedUserTopic(realm, admin, general, 'hi')).toMatchObject({ policy: 1 });
  });

  it('do not follow if their settings say so, they are not subscribed, are bots, or are mentioned silently', async () => {
    const realm = await newRealm();
    const { member, admin, bot } = realm.people;
    const { general } = realm.channels;
    const outsider = await givenUser(realm, { fullName: 'Otto Outsider' });
    await givenSettings(realm, admin, { automatically_follow_topics_where_mentioned: false });
    await sendTo(realm, member, general);
    const start = await lastNumber(realm);
    const texts = '@**Adam Admin** @**Otto Outsider** @**Busy Bot** @_**Mona Moderator** `@**Olive Owner**`';
    const { id } = await sendTo(realm, member, general, texts);
    expect(told(await loggedAfter(realm, start))).toEqual([`message ${id}`]);
    for (const who of [admin, outsider, bot]) {
      expect(await storedUserTopic(realm, who, general, 'hi')).toBeUndefined();
    }
  });

  it('follow once if they mention themselves', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    await sendTo(realm, admin, general);
    const later = await sendTo(realm, member, general, '@**Max Member**');
    expect(later).not.toHaveProperty('automatic_new_visibility_policy');
    expect(await storedUserTopic(realm, member, general, 'hi')).toMatchObject({ policy: 3 });
    expect(await sendTo(realm, member, general, '@**Max Member**', 'new')).toMatchObject({
      automatic_new_visibility_policy: 3,
    });
  });

  it('follow only up to forty at once, as many as fit into one transaction', async () => {
    const realm = await newRealm();
    const people: Person[] = [];
    for (let i = 0; i < 50; i++) people.push(await givenUser(realm));
    const { channelId } = await givenChannel(realm, {}, people);
    const start = await lastNumber(realm);
    const content = people.map(({ userId }) => `@**|${userId}**`).join(' ');
    const { result } = await sendTo(realm, realm.people.member, channelId, content);
    expect(result).toBe('success');
    expect(await loggedAfter(realm, start)).toHaveLength(42);
  });

  it('follow once if two senders mention them at the same time', async () => {
    const realm = await newRealm();
    const { member, admin, bot } = realm.people;
    const { general } = realm.channels;
    const other = await givenBot(realm, admin);
    for (const as of [bot, other]) await sendTo(realm, as, general);
    const start = await lastNumber(realm);
    await Promise.all([bot, other].map((as) => sendTo(realm.container(), as, general, '@**Max Member**')));
    const events = (await loggedAfter(realm, start)).filter(({ kind }) => kind === 'event');
    expect(told(events)).toEqual([`user_topic {"users":[${member.userId}]}`]);
  });
});
