import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { MAX_WRITES } from '../../shared/log/commit.ts';
import { MAX_PARTICIPANTS } from '../../shared/model/message/leave.ts';
import { topicConversation } from '../../shared/model/message/message.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import type { Send } from '../../shared/table/table.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient, said } from '../support/event-queue.ts';
import { meanwhile, requestOf } from '../support/faults.ts';
import { givenChannel, givenSubscription, givenUser } from '../support/given.ts';
import {
  givenTwoChannels,
  historyOf,
  isCommit,
  move,
  refused,
  say,
  sayMany,
  success,
  toldOf,
  topicsOf,
  update,
} from '../support/message-update.ts';
import { deliver, kindsOf, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { react } from '../support/reactions.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { firstOf, lastNumber, storedCount, storedMessage, storedTopic } from '../support/stored.ts';
import { workOf } from '../support/work-queue.ts';

const all = { propagate_mode: 'change_all' };

/** A container whose indexes show what they showed when it first asked them. */
const frozen = (realm: TestRealm): TestRealm => {
  const answers = new Map<string, unknown>();
  return realm.container(
    (store: Send): Send =>
      async (command) => {
        const answer = await store(command);
        const { input } = command as { input: QueryCommandInput };
        if (input.IndexName === undefined) return answer;
        const { IndexName, ExpressionAttributeValues, Limit, ScanIndexForward } = input;
        const question = JSON.stringify({ IndexName, ExpressionAttributeValues, Limit, ScanIndexForward });
        if (!answers.has(question)) answers.set(question, answer);
        return answers.get(question);
      },
  );
};

describe('DESIGN 7: moving several messages', () => {
  it.each([false, true])(
    'two, five or twenty messages to another channel, %s, take three round trips, cold and warm',
    async (leaves) => {
      const realm = await newRealm();
      const { member, moderator } = realm.people;
      const { people, source, target } = await givenTwoChannels(realm, 18);
      for (const count of [2, 5, 20]) {
        const container = realm.container();
        for (const topic of [`tea ${count}`, `soup ${count}`]) {
          const ids = await sayMany(realm, people, source.channelId, topic, count);
          // More numbers than the newest part of the log covers: some of them are only in the index.
          if (topic === 'tea 20') for (const id of ids) await react(realm, moderator, id);
          const start = await lastNumber(realm);
          const asked = ids[1] as number;
          container.meter.reset();
          const reply = await update(container, member, asked, {
            topic: `${topic} later`,
            ...all,
            send_notification_to_old_thread: true,
            ...(leaves && { stream_id: target.channelId }),
          });
          expect(reply).toMatchObject(success);
          expect(container.meter.calls.filter(isCommit)).toMatchObject([{ depth: 3 }]);
          const { channelId } = leaves ? target : source;
          expect(await storedTopic(realm, source.channelId, topic)).toBeUndefined();
          const place = { arrived: count + 1, left: 0 };
          expect(await storedTopic(realm, channelId, `${topic} later`)).toMatchObject(place);
          expect(await toldOf(realm, start)).toEqual([ids.filter((id) => id !== asked), [asked]]);
          const readIn = topicConversation(channelId, leaves ? `${topic} later` : topic);
          const moved = { channelId, readIn, history: [{ userId: member.userId }] };
          for (const id of ids) expect(await storedMessage(realm, id)).toMatchObject(moved);
          await workedOff(realm);
          const participants = topic === 'tea 20' ? 21 : count;
          expect(await storedTopic(realm, channelId, `${topic} later`)).toMatchObject({ participants });
        }
      }
      expect(await audit(realm)).toEqual([]);
    },
  );

  it('the largest step to another channel is one transaction of at most a hundred writes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { people, source, target } = await givenTwoChannels(realm, 18);
    const ids = await sayMany(realm, people, source.channelId, 'tea', 20);
    for (let i = people.length; i < MAX_PARTICIPANTS; i++) {
      const person = await givenUser(realm);
      await givenSubscription(realm, person, source.channelId);
      await react(realm, person, ids[0] as number);
    }
    expect(await storedTopic(realm, source.channelId, 'tea')).toMatchObject({
      participants: MAX_PARTICIPANTS,
    });
    const sizes: number[] = [];
    const counting = realm.container(
      (store: Send): Send =>
        async (command) => {
          const { TransactItems } = (command as { input: { TransactItems?: object[] } }).input;
          if (TransactItems) sizes.push(TransactItems.length);
          return store(command);
        },
    );
    const change = {
      topic: 'cake',
      stream_id: target.channelId,
      ...all,
      send_notification_to_old_thread: true,
    };
    expect(await update(counting, member, ids[1] as number, change)).toMatchObject(success);
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeGreaterThan(85);
    expect(sizes[0]).toBeLessThanOrEqual(MAX_WRITES);
    expect(await storedTopic(realm, source.channelId, 'tea')).toBeUndefined();
    await workedOff(realm);
    expect(await storedTopic(realm, target.channelId, 'cake')).toMatchObject({
      arrived: 21,
      participants: 30,
    });
    expect(await audit(realm)).toEqual([]);
  });

  it('change_later takes three too, and leaves earlier messages where they were', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 9);
    await say(realm, member, random, 'tea');
    const container = realm.container();
    const change = { stream_id: random, propagate_mode: 'change_later' };
    expect(await update(container, member, ids[4] as number, change)).toMatchObject(success);
    expect(container.meter.roundTrips).toBe(3);
    expect(await storedTopic(realm, general, 'tea')).toMatchObject({ maxId: ids[3], left: 5 });
    expect(await storedTopic(realm, random, 'tea')).toMatchObject({ arrived: 7 });
    expect(await storedCount(realm, general)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, general)).toBe(ids[0]);
    expect(await firstOf(realm, random)).toBe(ids[4]);
  });
});

describe('messages that move by the attributes in their index', () => {
  it('keep their history, and only the message of the request gets the new content', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const [first, second] = (await sayMany(realm, [member], general, 'tea', 2)) as [number, number];
    await update(realm, member, first, { content: 'edited' });
    await move(realm, admin, first, { topic: 'Tea' });
    expect(await move(realm, member, second, { topic: 'cake', content: 'new', ...all })).toMatchObject(
      success,
    );
    expect(await move(realm, admin, second, { stream_id: random, ...all })).toMatchObject(success);
    expect(await historyOf(realm, admin, first)).toMatchObject([
      { content: 'x', topic: 'tea' },
      { content: 'edited', prev_content: 'x' },
      { topic: 'Tea', prev_topic: 'tea' },
      { topic: 'cake', prev_topic: 'Tea' },
      { topic: 'cake', prev_stream: general },
    ]);
    const stored = await Promise.all([first, second].map((id) => storedMessage(realm, id)));
    const cake = topicConversation(random, 'cake');
    expect(stored.map(({ content }) => content)).toEqual(['edited', 'new']);
    expect(stored.map(({ readIn }) => readIn)).toEqual([cake, cake]);
    await workedOff(realm);
    expect(await audit(realm)).toEqual([]);
  });

  it('keep a history of at most a hundred changes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const [first, second] = (await sayMany(realm, [member], general, 'tea', 2)) as [number, number];
    const { pk, sk } = await storedMessage(realm, first);
    const old = (seq: number) => ({ seq, userId: member.userId, timestamp: 1, channel: { from: 1, to: 2 } });
    const history = Array.from({ length: 99 }, (_, i) => old(99 - i));
    await realm.outside.table.update({ pk, sk } as never, { set: { history } });
    for (const topic of ['cake', 'pie', 'nuts']) {
      expect(await move(realm, member, second, { topic, ...all })).toMatchObject(success);
      await workedOff(realm);
    }
    const after = (await storedMessage(realm, first)).history ?? [];
    expect(after).toHaveLength(100);
    expect(after.slice(0, 3).map(({ topic }) => topic?.to)).toEqual(['nuts', 'pie', 'cake']);
    expect(await topicsOf(realm, [first, second])).toEqual(['nuts', 'nuts']);
  });

  it.each([
    ['one of them is deleted', 'delete'],
    ['one of them goes elsewhere', 'move'],
    ['one of them is edited', 'edit'],
    ['somebody reacts to one of them', 'react'],
    ['another one is sent to their topic', 'send'],
    ['one is sent to the other topic', 'join'],
  ])('lose nothing if, just before they move, %s', async (_, what) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = (await sayMany(realm, [member], general, 'tea', 4)) as [number, number, number, number];
    const deeds: Record<string, () => Promise<unknown>> = {
      delete: () => realm.call(deleteMessage, admin, {}, { path: { message_id: ids[2] } }),
      move: () => move(realm, admin, ids[2], { topic: 'pie' }),
      edit: () => update(realm, member, ids[2], { content: 'new' }),
      react: () => react(realm, admin, ids[2]),
      send: () => say(realm, admin, general, 'tea'),
      join: () => say(realm, admin, general, 'cake'),
    };
    const late = realm.container(meanwhile(deeds[what] as () => Promise<unknown>));
    expect(await move(late, member, ids[0], { topic: 'cake', ...all })).toMatchObject(success);
    const rest = what === 'delete' || what === 'move' ? [ids[0], ids[1], ids[3]] : ids;
    expect(new Set(await topicsOf(realm, rest))).toEqual(new Set(['cake']));
    if (what === 'move') expect(await topicsOf(realm, [ids[2]])).toEqual(['pie']);
    if (what === 'edit') expect((await storedMessage(realm, ids[2])).content).toBe('new');
    await workedOff(realm);
    const people = ['react', 'send', 'join'].includes(what) ? 2 : 1;
    expect(await storedTopic(realm, general, 'cake')).toMatchObject({ participants: people });
    expect(await audit(realm)).toEqual([]);
  });

  it('stay in another channel to which they just moved, if only the spelling changes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = (await sayMany(realm, [member], general, 'tea', 4)) as [number, number, number, number];
    const late = realm.container(meanwhile(() => move(realm, admin, ids[1], { stream_id: random })));
    expect(await move(late, member, ids[0], { topic: 'Tea', ...all })).toMatchObject(success);
    expect(await topicsOf(realm, ids)).toEqual(['Tea', 'tea', 'Tea', 'Tea']);
    expect(await storedMessage(realm, ids[1])).toMatchObject({ channelId: random });
    await workedOff(realm);
    expect(await audit(realm)).toEqual([]);
  });

  it('get the spelling of the last request, if only the spelling changes', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids = (await sayMany(realm, [member], general, 'tea', 4)) as [number, number, number, number];
    const late = realm.container(meanwhile(() => move(realm, admin, ids[2], { topic: 'TEA' })));
    expect(await move(late, member, ids[0], { topic: 'Tea', ...all })).toMatchObject(success);
    expect(await topicsOf(realm, ids)).toEqual(['Tea', 'Tea', 'Tea', 'Tea']);
    expect((await storedMessage(realm, ids[2])).history?.map(({ topic }) => topic)).toEqual([
      { from: 'TEA', to: 'Tea' },
      { from: 'tea', to: 'TEA' },
    ]);
  });

  it('include one that just arrived and leave out one that just left, even if the index lags', async () => {
    const realm = await newRealm({ can_move_messages_between_topics_group: systemGroups.members.id });
    const { member, admin, guest } = realm.people;
    const { general } = realm.channels;
    const ids = (await sayMany(realm, [member], general, 'tea', 4)) as [number, number, number, number];
    const behind = frozen(realm);
    const change = { topic: 'cake', ...all };
    // The indexes are asked before it is known that the guest may not.
    expect(await move(behind, guest, ids[0], change)).toMatchObject({ status: 400 });
    const later = await say(realm, admin, general, 'tea');
    behind.meter.reset();
    expect(await move(behind, member, ids[0], change)).toMatchObject(success);
    expect(behind.meter.roundTrips).toBe(3);
    expect(new Set(await topicsOf(realm, [...ids, later]))).toEqual(new Set(['cake']));
    expect(await storedTopic(realm, general, 'tea')).toBeUndefined();
    const next = { topic: 'tea', ...all };
    expect(await move(behind, guest, ids[0], next)).toMatchObject({ status: 400 });
    await move(realm, admin, ids[1], { topic: 'pie' });
    expect(await move(behind, member, ids[0], next)).toMatchObject(success);
    await workedOff(realm);
    expect(await topicsOf(realm, [...ids, later])).toEqual(['tea', 'pie', 'tea', 'tea', 'tea']);
    expect(await audit(realm)).toEqual([]);
  });

  it('move in spite of a lost reply, and not at all if the function ends before its commit', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 3);
    const change = { stream_id: random, topic: 'cake', ...all };
    const ended = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (requestOf(command) === 'transact') throw new Error('the function ended');
          return store(command);
        },
    );
    expect((await update(ended, member, ids[1] as number, change)).status).toBe(500);
    expect(await topicsOf(realm, ids)).toEqual(['tea', 'tea', 'tea']);
    expect(await leftIn(realm)).toEqual([]);
    let isLost = false;
    const unheard = realm.container(
      (store: Send): Send =>
        async (command) => {
          const reply = await store(command);
          if (!isLost && requestOf(command) === 'transact') {
            isLost = true;
            throw Object.assign(new Error('no reply'), { name: 'TimeoutError' });
          }
          return reply;
        },
    );
    const client = await givenClient(realm, admin, { event_types: ['message', 'update_message'] });
    expect(await update(unheard, member, ids[1] as number, change)).toMatchObject(success);
    expect(isLost).toBe(true);
    const events = await client.poll();
    expect(events.flatMap(({ message_ids }) => message_ids ?? [])).toEqual([ids[0], ids[2], ids[1]]);
    expect(said(events.filter(({ type }) => type === 'message'))).toHaveLength(1);
    await workedOff(realm);
    expect(await audit(realm)).toEqual([]);
    expect(await update(realm, member, ids[1] as number, change)).toMatchObject(refused);
  });
});

describe('participation of users who reacted to messages that moved', () => {
  it('follows a moment later, for each user once, wherever the messages are by then', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member, admin]);
    const id = await say(realm, member, channelId, 'tea');
    const people = await Promise.all(Array.from({ length: 52 }, () => givenUser(realm)));
    for (const person of people) await react(realm, person, id);
    const work = await workOf(realm, 'outbox');
    const [other, gone] = [
      await say(realm, member, channelId, 'tea'),
      await say(realm, admin, channelId, 'tea'),
    ];
    expect(await move(realm, member, id, { topic: 'cake', ...all })).toMatchObject(success);
    const messages = (await work.receive()).map(({ Body }) => Body ?? '');
    expect(messages.toSorted()).toEqual(messagesOf(await leftIn(realm)).toSorted());
    expect(kindsOf(await leftIn(realm))).toEqual(['people', 'policies']);
    expect(await move(realm, member, other, { topic: 'pie' })).toMatchObject(success);
    await realm.call(deleteMessage, admin, {}, { path: { message_id: gone } });
    const runs = await Promise.all([deliver(realm, messages), deliver(realm, messages)]);
    expect(runs.flatMap(({ batchItemFailures }) => batchItemFailures)).toEqual([]);
    await deliver(realm, messages);
    await workedOff(realm);
    // Two more than reacted: the senders came with their messages.
    expect(await storedTopic(realm, channelId, 'cake')).toMatchObject({ participants: 54 });
    expect(await storedTopic(realm, channelId, 'pie')).toMatchObject({ participants: 1 });
    expect(await leftIn(realm)).toEqual([]);
    expect(await audit(realm)).toEqual([]);
  });

  it('does not follow into a topic that the message is just leaving', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const [first, second] = (await sayMany(realm, [member], general, 'tea', 2)) as [number, number];
    await react(realm, admin, first);
    expect(await move(realm, member, second, { topic: 'cake', ...all })).toMatchObject(success);
    const late = realm.container(meanwhile(() => move(realm, member, first, { topic: 'pie' })));
    const messages = messagesOf((await leftIn(realm)).filter(({ kind }) => kind === 'people'));
    expect(await deliver(late, messages)).toEqual({ batchItemFailures: [] });
    expect(await storedTopic(realm, general, 'cake')).toMatchObject({ participants: 1 });
    expect(await storedTopic(realm, general, 'pie')).toMatchObject({ participants: 2 });
  });

  it('follows also for more users than one transaction takes, whether one message moves or many', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const ids = await sayMany(realm, [member], general, 'tea', 22);
    const [first, last] = [ids[0] as number, ids[21] as number];
    const people = await Promise.all(Array.from({ length: 20 }, () => givenUser(realm)));
    for (const person of people) await react(realm, person, first);
    const work = await workOf(realm, 'outbox');
    expect(await move(realm, member, last, { topic: 'cake', ...all })).toMatchObject(success);
    const messages = (await work.receive()).map(({ Body }) => Body ?? '');
    expect(messages.toSorted()).toEqual(messagesOf(await leftIn(realm)).toSorted());
    expect(kindsOf(await leftIn(realm))).toEqual(['move', 'policies']);
    await workedOff(realm);
    expect(await storedTopic(realm, general, 'cake')).toMatchObject({ participants: 21 });
    const container = realm.container();
    expect(await move(container, member, first, { topic: 'pie' })).toMatchObject(success);
    expect(container.meter.roundTrips).toBe(3);
    expect(await storedTopic(realm, general, 'pie')).toMatchObject({ participants: 1 });
    await workedOff(realm);
    expect(await storedTopic(realm, general, 'pie')).toMatchObject({ participants: 21 });
    expect(await audit(realm)).toEqual([]);
  });
});
