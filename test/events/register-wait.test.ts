import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { handler as addReaction } from '../../functions/reactions/add.ts';
import { SETTLE, WHOLE } from '../../shared/log/log.ts';
import { BatchGetCommand, QueryCommand } from '../../shared/table/commands.ts';
import { type ItemName, isOf, type Key, peopleOf, userOf } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { sendTo } from '../support/event-queue.ts';
import { givenBot, givenUser } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const names = ['owner', 'admin', 'member', 'guest', 'bot'] as const;
type Name = (typeof names)[number];

/** An organization in which nothing was written lately, with messages, a bot of the administrator, and a conversation. */
async function quietRealm(): Promise<TestRealm> {
  const realm = await newRealm();
  const { admin, member, owner } = realm.people;
  await givenBot(realm, admin);
  for (const sender of [owner, member]) await sendTo(realm, sender, realm.channels.general, 'before');
  await sendTo(realm, owner, [member.userId], 'hello');
  realm.pass(WHOLE);
  return realm;
}

/** Registers somebody for everything in another container: how long (ms) that waits, and what it reads. */
async function watchedRegistration(realm: TestRealm, name: Name) {
  const waits: number[] = [];
  const wanted: Key[] = [];
  const found: Key[] = [];
  const watched = (store: Send): Send => {
    return async (command) => {
      wanted.push(...keysOf(command));
      const answer = (await store(command)) as { Items?: Key[]; Responses?: Record<string, Key[]> };
      found.push(...(answer.Items ?? []), ...Object.values(answer.Responses ?? {}).flat());
      return answer;
    };
  };
  const container = realm.container(watched, { wait: async (ms) => void waits.push(ms) });
  const { status } = await container.call(register, realm.people[name], { include_subscribers: true });
  expect(status).toBe(200);
  return { waits, wanted, found };
}

/** The keys that a command asks for. A query names a partition only. */
function keysOf(command: object): Key[] {
  if (command instanceof BatchGetCommand) {
    return Object.values(command.input.RequestItems ?? {}).flatMap(({ Keys = [] }) => Keys as Key[]);
  }
  if (!(command instanceof QueryCommand)) return [];
  const [pk] = Object.values(command.input.ExpressionAttributeValues ?? {});
  return [{ pk, sk: '' }];
}

/** Sends a message, which somebody reads. */
const newsReadBy = (name: Name) => async (realm: TestRealm) => {
  const messages = [await sendTo(realm, realm.people.admin, realm.channels.general, 'news')];
  await realm.call(updateFlags, realm.people[name], { messages, op: 'add', flag: 'read' });
};

describe('a registration', () => {
  it.each(names)('reads nothing that commits may leave out of the owners of a slot: %s', async (name) => {
    const realm = await quietRealm();
    const { userId } = realm.people[name];
    const owners = name === 'bot' ? [realm.people.member.userId] : [];
    const { wanted, found } = await watchedRegistration(realm, name);
    const read = [...wanted, ...found];
    const areRead = (kind: ItemName): readonly Key[] => read.filter(isOf(kind));
    expect(areRead('slot')).not.toEqual([]);
    expect(areRead('subscriber')).not.toEqual([]);
    for (const kind of ['sent', 'topic', 'reaction', 'reactions', 'topicPolicy'] as const)
      expect(areRead(kind), kind).toEqual([]);
    const people = read.flatMap((at) => userOf(at) ?? []);
    expect(new Set(people)).toEqual(new Set([userId, ...owners]));
    const conversations = areRead('conversation').map(({ pk }) => pk.slice(pk.lastIndexOf('/') + 1));
    expect(conversations.filter((one) => !peopleOf(one).includes(userId))).toEqual([]);
    expect(areRead('participant').filter(({ sk }) => !sk.endsWith(`${userId}`))).toEqual([]);
  });

  it.each<[string, Name, (realm: TestRealm) => Promise<unknown>]>([
    [
      'a message in a topic in which its sender has written',
      'member',
      ({ call, people: { member } }) =>
        call(send, member, { ...greeting, content: 'again', queue_id: 'q', local_id: '1' }),
    ],
    ['what somebody else has read', 'member', newsReadBy('owner')],
    [
      'a reaction',
      'member',
      async (realm) => {
        const message_id = await sendTo(realm, realm.people.owner, realm.channels.general, 'news');
        await realm.call(addReaction, realm.people.member, { emoji_name: 'tada' }, { path: { message_id } });
      },
    ],
    [
      'a direct message between others',
      'admin',
      (realm) => sendTo(realm, realm.people.owner, [realm.people.member.userId], 'again'),
    ],
    [
      'the first direct message between others',
      'guest',
      (realm) => sendTo(realm, realm.people.owner, [realm.people.admin.userId], 'hello'),
    ],
  ])('does not wait for %s', async (_, name, change) => {
    const realm = await quietRealm();
    await change(realm);
    expect((await watchedRegistration(realm, name)).waits).toEqual([]);
  });

  it.each<[string, Name, (realm: TestRealm) => Promise<unknown>]>([
    ['what the same user has read', 'owner', newsReadBy('owner')],
    ['what the owner of a bot has read', 'bot', newsReadBy('member')],
    [
      'a new topic',
      'member',
      ({ call, people: { owner } }) => call(send, owner, { ...greeting, topic: 'new', content: 'first' }),
    ],
    [
      'a direct message, by which its conversation is the newest',
      'member',
      (realm) => sendTo(realm, realm.people.owner, [realm.people.member.userId], 'again'),
    ],
    [
      'a direct message to so many that its key does not name them',
      'guest',
      async (realm) => {
        const others = await Promise.all(Array.from({ length: 12 }, () => givenUser(realm)));
        realm.pass(WHOLE);
        return sendTo(
          realm,
          realm.people.owner,
          others.map(({ userId }) => userId),
          'hello',
        );
      },
    ],
  ])('waits until everything before it is visible, after %s', async (_, name, change) => {
    const realm = await quietRealm();
    await change(realm);
    expect((await watchedRegistration(realm, name)).waits).toEqual([SETTLE]);
  });
});

const greeting = { type: 'channel', to: 'general', topic: 'hi' };
