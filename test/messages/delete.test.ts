import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as listTopics } from '../../functions/topics/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key, sortPrefix } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenClient, said, sendTo } from '../support/event-queue.ts';
import {
  givenBot,
  givenChangedChannel,
  givenChannel,
  givenRealmSettings,
  givenSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { react } from '../support/reactions.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { firstOf, loggedAfter, storedConversation, storedCount, storedTopic } from '../support/stored.ts';

const remove = (realm: TestRealm, as: Person, message_id: number): Promise<Reply> =>
  realm.call(deleteMessage, as, {}, { path: { message_id } });

const fetched = (realm: TestRealm, as: Person, message_id: number): Promise<Reply> =>
  realm.call(getMessage, as, {}, { path: { message_id } });

const success = { status: 200 };
const invalid = { status: 400, body: { code: 'BAD_REQUEST', msg: 'Invalid message(s).' } };
const refused = { status: 400, body: { code: 'BAD_REQUEST' } };

const topicsOf = async (realm: TestRealm, as: Person, stream_id: number): Promise<Reply['body'][]> =>
  (await realm.call(listTopics, as, {}, { path: { stream_id } })).body.topics;

describe('DELETE /messages/{message_id}', () => {
  it('removes the message for everybody, with an event', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const { general } = realm.channels;
    const types = { event_types: ['delete_message'] };
    const [bulk, single] = await Promise.all([
      givenClient(realm, admin, { ...types, client_capabilities: { bulk_message_deletion: true } }),
      givenClient(realm, guest, { ...types, client_capabilities: {} }),
    ]);
    const id = await sendTo(realm, member, general, 'hello', { topic: '' });
    expect(await remove(realm, member, id)).toMatchObject(success);
    for (const person of [member, admin]) expect(await fetched(realm, person, id)).toMatchObject(invalid);
    const about = { type: 'delete_message', message_type: 'stream', stream_id: general };
    const [event] = await bulk.poll();
    expect(event).toEqual({ id: event.id, ...about, message_ids: [id], topic: 'general chat' });
    const [other] = await single.poll();
    expect(other).toEqual({ id: other.id, ...about, message_id: id, topic: 'general chat' });
    expect(await remove(realm, member, id)).toMatchObject(invalid);
    expect(await react(realm, member, id)).toMatchObject(invalid);
  });

  it('sends the event for a direct message only to its participants, and removes the conversation with its last message', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const types = { event_types: ['delete_message'] };
    const [mine, foreign] = await Promise.all([
      givenClient(realm, admin, types),
      givenClient(realm, owner, types),
    ]);
    const first = await sendTo(realm, member, [admin.userId], 'one');
    const second = await sendTo(realm, member, [admin.userId], 'two');
    expect(await remove(realm, member, second)).toMatchObject(success);
    expect(await storedConversation(realm, [member, admin])).toMatchObject({
      maxId: first,
      arrived: 2,
      left: 1,
    });
    expect(await remove(realm, member, first)).toMatchObject(success);
    expect(await storedConversation(realm, [member, admin])).toBeUndefined();
    const events = await mine.poll();
    expect(events.map(({ message_id, message_type }) => [message_id, message_type])).toEqual([
      [second, 'private'],
      [first, 'private'],
    ]);
    expect(events[0]).not.toHaveProperty('stream_id');
    expect(await foreign.poll()).toEqual([]);
    // It can begin again, and only who may begin one may do that.
    await givenRealmSettings(realm, { direct_message_initiator_group: systemGroups.nobody.id });
    const again = { type: 'direct', to: [admin.userId], content: 'three' };
    expect(await realm.call(send, member, again)).toMatchObject(refused);
    await givenRealmSettings(realm, { direct_message_initiator_group: systemGroups.everyone.id });
    const third = await sendTo(realm, member, [admin.userId], 'three');
    expect(await storedConversation(realm, [member, admin])).toMatchObject({ maxId: third });
  });

  it('leaves no hole in the log, and keeps the events that came just before the message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenSettings(realm, member, { automatically_follow_topics_policy: 1 });
    const client = await givenClient(realm, member, {
      event_types: ['user_topic', 'message', 'delete_message'],
    });
    const id = await sendTo(realm, member, realm.channels.general, 'hello');
    await sendTo(realm, admin, realm.channels.general, 'after');
    await remove(realm, member, id);
    // The deletion changes the oldest message of the channel too, so its event comes a moment later.
    const told = [...(await client.poll()), ...(await client.poll())];
    expect(said(told)).toEqual(['user_topic', 'hello', 'after', 'delete_message']);
    const kinds = (await loggedAfter(realm, id - 2)).map((entry) =>
      entry.kind === 'message' ? 'message' : entry.payload.type,
    );
    // The last one tells which message is the first of the channel now.
    expect(kinds).toEqual(['user_topic', 'message', 'message', 'delete_message', 'stream']);
  });

  it('a retried send does not bring back a message that was deleted meanwhile', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const echo = { queue_id: 'q', local_id: '1' };
    const id = await sendTo(realm, member, realm.channels.general, 'hello', echo);
    await remove(realm, member, id);
    expect(await sendTo(realm, member, realm.channels.general, 'hello', echo)).toBe(id);
    expect(await fetched(realm, member, id)).toMatchObject(invalid);
  });
});

describe('a topic whose messages are deleted', () => {
  it('has the right counts and ends for the remaining messages, in whatever order others are deleted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member, admin]);
    const say = (topic: string): Promise<number> => sendTo(realm, member, channelId, 'x', { topic });
    const [a, b, c, d] = [await say('tea'), await say('Tea'), await say('TEA'), await say('tea')];
    const cake = await say('cake');
    await remove(realm, admin, b);
    expect(await storedTopic(realm, channelId, 'tea')).toMatchObject({ maxId: d });
    await remove(realm, admin, d);
    // It is spelled as its newest message spells it.
    expect(await storedTopic(realm, channelId, 'tea')).toMatchObject({ maxId: c, topic: 'TEA' });
    await remove(realm, admin, a);
    expect(await storedTopic(realm, channelId, 'tea')).toMatchObject({ maxId: c });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 2 });
    expect(await firstOf(realm, channelId)).toBe(c);
    await remove(realm, admin, c);
    expect(await storedTopic(realm, channelId, 'tea')).toBeUndefined();
    expect(await topicsOf(realm, member, channelId)).toEqual([{ name: 'cake', max_id: cake }]);
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(cake);
    await remove(realm, admin, cake);
    expect(await topicsOf(realm, member, channelId)).toEqual([]);
    expect(await firstOf(realm, channelId)).toBeNull();
    const again = await say('tea');
    expect(await storedTopic(realm, channelId, 'tea')).toMatchObject({ participants: 1 });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(again);
  });

  it('has no participants left once it is empty, however many there were', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const id = await sendTo(realm, realm.people.admin, channelId, 'hello');
    const { table, uuid } = realm.outside;
    const place = { realm: realm.realm, channelId, topic: 'hi' };
    for (let start = 0; start < 120; start += 60) {
      await table.transact(
        Array.from({ length: 60 }, (_, i) => ({
          put: key('participant', { ...place, userId: 900_000 + start + i }),
          item: { userId: 900_000 + start + i },
        })),
        uuid(),
      );
    }
    expect(await remove(realm, realm.people.admin, id)).toMatchObject(success);
    expect(await storedTopic(realm, channelId, 'hi')).toBeUndefined();
    const prefix = sortPrefix('participant', { topic: 'hi' });
    expect(await table.all('participant', place, { prefix })).toEqual([]);
  });

  it('is right after many concurrent deletions, and each of them happens', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const ids: number[] = [];
    for (let i = 0; i < 7; i++) ids.push(await sendTo(realm, member, channelId, `${i}`));
    const [kept, ...gone] = ids;
    const replies = await Promise.all(gone.map((id) => remove(realm.container(), admin, id)));
    expect(replies.map(({ status }) => status)).toEqual(gone.map(() => 200));
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({
      maxId: kept,
      arrived: 7,
      left: 6,
    });
  });

  it.each([
    ['the newest one, as another arrives', 1],
    ['the only one, as another arrives', 0],
  ])('is right after the deletion of %s just before', async (_, before) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    if (before > 0) await sendTo(realm, member, channelId, 'older');
    const id = await sendTo(realm, member, channelId, 'deleted');
    let arrived: number | undefined;
    const slow = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (arrived === undefined && /TransactWrite/.test(command.constructor.name)) {
            arrived = 0;
            arrived = await sendTo(realm, admin, channelId, 'arrives');
          }
          return store(command);
        },
    );
    expect(await remove(slow, member, id)).toMatchObject(success);
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({
      maxId: arrived,
      arrived: before + 2,
      left: 1,
    });
  });

  it.each([
    ['the oldest one, as the next one goes', 0, 1],
    ['the next one, as the oldest one goes', 1, 0],
  ])('%s: the channel still knows its oldest message, in whatever topic', async (_, slowly, meanwhile) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const ids: number[] = [];
    for (const topic of ['a', 'b', 'b', 'c'])
      ids.push(await sendTo(realm, member, channelId, 'x', { topic }));
    let other: Promise<Reply> | undefined;
    const slow = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (/TransactWrite/.test(command.constructor.name)) {
            other ??= remove(realm, admin, ids[meanwhile] as number);
            await other;
          }
          return store(command);
        },
    );
    expect(await remove(slow, admin, ids[slowly] as number)).toMatchObject(success);
    expect(await other).toMatchObject(success);
    expect(await firstOf(realm, channelId)).toBe(ids[2]);
  });

  it('does not vanish if a new message arrives while the last one is deleted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    for (let round = 0; round < 6; round++) {
      const topic = `topic ${round}`;
      const old = await sendTo(realm, member, channelId, 'old', { topic });
      const [deleted, id] = await Promise.all([
        remove(realm.container(), admin, old),
        sendTo(realm.container(), member, channelId, 'new', { topic }),
      ]);
      expect(deleted).toMatchObject(success);
      expect(await storedTopic(realm, channelId, topic)).toMatchObject({ maxId: id });
    }
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 6 });
  });
});

describe('who may delete', () => {
  it('hidden and missing messages are refused in the same words (4.2/delete-any-content)', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [admin]);
    const closed = await sendTo(realm, admin, channelId, 'closed');
    const direct = await sendTo(realm, admin, [owner.userId], 'psst');
    for (const id of [closed, direct, closed + 1_000, realm.channels.general, 0, 2 ** 52]) {
      expect(await remove(realm, member, id), `${id}`).toMatchObject(invalid);
    }
    // Specification 4.2: deleting any message needs content access.
    expect(await remove(realm, owner, closed)).toMatchObject(invalid);
    expect(await fetched(realm, admin, closed)).toMatchObject(success);
  });

  it('users may delete their own messages within the time limit of the organization, and administrators any message (4.2/delete-any-organization, 4.2/delete-own-organization)', async () => {
    const realm = await newRealm({ message_content_delete_limit_seconds: 600 });
    const { member, admin, guest } = realm.people;
    const { general } = realm.channels;
    const [early, late, other] = [
      await sendTo(realm, member, general, 'early'),
      await sendTo(realm, member, general, 'late'),
      await sendTo(realm, admin, general, 'other'),
    ];
    expect(await remove(realm, member, other)).toMatchObject(refused);
    expect(await remove(realm, guest, early)).toMatchObject(refused);
    expect(await remove(realm, member, early)).toMatchObject(success);
    realm.pass(700_000);
    expect(await remove(realm, member, late)).toMatchObject(refused);
    expect(await remove(realm, admin, late)).toMatchObject(success);
    await givenRealmSettings(realm, { message_content_delete_limit_seconds: null });
    const old = await sendTo(realm, member, general, 'old');
    realm.pass(10_000_000_000);
    expect(await remove(realm, member, old)).toMatchObject(success);
  });

  it('specification 4.2: both the groups of the organization and those of the channel give the permission (4.2/can_delete_any_message_group, 4.2/can_delete_own_message_group, 4.2/delete-own-any)', async () => {
    const realm = await newRealm({
      can_delete_any_message_group: systemGroups.nobody.id,
      can_delete_own_message_group: systemGroups.nobody.id,
    });
    const { member, admin, moderator } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member, moderator]);
    const say = (): Promise<number> => sendTo(realm, member, channelId, 'x');
    const mayDelete = async (as: Person): Promise<boolean> =>
      (await remove(realm, as, await say())).status === 200;
    expect(await mayDelete(member)).toBe(false);
    expect(await mayDelete(admin)).toBe(false);
    const groups = (await givenChannel(realm)).groups;
    await givenChangedChannel(realm, channelId, {
      groups: { ...groups, can_delete_own_message_group: systemGroups.members.id },
    });
    expect(await mayDelete(member)).toBe(true);
    expect(await mayDelete(moderator)).toBe(false);
    await givenChangedChannel(realm, channelId, {
      groups: { ...groups, can_delete_any_message_group: systemGroups.moderators.id },
    });
    // Who may delete any message may delete their own; the limit of time is not for them.
    expect(await mayDelete(moderator)).toBe(true);
    expect(await mayDelete(member)).toBe(false);
    const old = await say();
    realm.pass(10_000_000);
    expect(await remove(realm, moderator, old)).toMatchObject(success);
  });

  it('nobody may delete their own messages in a channel that they can no longer read (4.2/delete-own-content)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const groups = { can_delete_own_message_group: systemGroups.members.id };
    const { channelId, name } = await givenChannel(realm, { isPrivate: true, groups }, [member, admin]);
    const id = await sendTo(realm, member, channelId, 'mine');
    await realm.call(unsubscribe, member, { subscriptions: [name] });
    expect(await remove(realm, member, id)).toMatchObject(invalid);
    await realm.call(subscribe, admin, { subscriptions: [{ name }], principals: [member.userId] });
    expect(await remove(realm, member, id)).toMatchObject(success);
  });

  it('owners may delete the messages of their bots', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const other = await givenUser(realm);
    const bot = await givenBot(realm, member);
    const { general } = realm.channels;
    await givenSubscription(realm, other, general);
    const id = await sendTo(realm, bot, general, 'beep');
    expect(await remove(realm, other, id)).toMatchObject(refused);
    expect(await remove(realm, member, id)).toMatchObject(success);
    const own = await sendTo(realm, bot, general, 'beep');
    expect(await remove(realm, bot, own)).toMatchObject(success);
    expect(await remove(realm, bot, await sendTo(realm, admin, general, 'x'))).toMatchObject(refused);
  });

  it('nobody may delete messages in an archived channel', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await sendTo(realm, member, channelId, 'hello');
    await givenChangedChannel(realm, channelId, { isArchived: true });
    for (const person of [member, admin]) expect(await remove(realm, person, id)).toMatchObject(refused);
    expect(await fetched(realm, member, id)).toMatchObject(success);
  });
});

describe('two at once', () => {
  it('of two concurrent deletions exactly one succeeds', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    for (let round = 0; round < 5; round++) {
      const id = await sendTo(realm, member, realm.channels.general, 'hello');
      const replies = await Promise.all([member, admin].map((each) => remove(realm.container(), each, id)));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
    expect(await storedTopic(realm, realm.channels.general, 'hi')).toBeUndefined();
  });

  it('a reaction concurrent with the deletion leaves nothing of the message behind', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    for (let round = 0; round < 5; round++) {
      const id = await sendTo(realm, member, realm.channels.general, 'hello');
      const [deleted, reacted] = await Promise.all([
        remove(realm.container(), member, id),
        react(realm.container(), admin, id),
      ]);
      expect(deleted).toMatchObject(success);
      expect([200, 400]).toContain(reacted.status);
      expect(await fetched(realm, member, id)).toMatchObject(invalid);
    }
  });
});

describe('DESIGN 7', () => {
  it('a deletion takes 3 round trips, wherever the message is in its topic', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < 4; i++) ids.push(await sendTo(realm, member, realm.channels.general, 'x'));
    const container = realm.container();
    for (const i of [1, 3, 0, 2]) {
      container.meter.reset();
      expect(await remove(container, member, ids[i] as number)).toMatchObject(success);
      expect(container.meter.roundTrips).toBe(3);
    }
  });
});
