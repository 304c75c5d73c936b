import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { GRACE, readRun } from '../../shared/log/log.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { firstOf, lastNumber, loggedAfter, storedCount, storedTopic } from '../support/stored.ts';

const sendTo = (realm: TestRealm, as: Person, to: number, topic = 'hi', content = 'x'): Promise<Reply> =>
  realm.call(send, as, { type: 'channel', to, topic, content });

const idsOf = (replies: readonly Reply[]): number[] => {
  for (const { body } of replies) expect(body.result, body.msg).toBe('success');
  return replies.map(({ body }) => body.id as number);
};

/** Thirty sends at once, by ten people, from six containers that are partly warm. */
async function thirty(realm: TestRealm, people: readonly Person[], to: number, topic: (i: number) => string) {
  const containers = [realm, ...Array.from({ length: 5 }, () => realm.container())];
  return Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      sendTo(containers[i % 6] as TestRealm, people[i % 10] as Person, to, topic(i), `text ${i}`),
    ),
  );
}

const tenPeople = async (realm: TestRealm): Promise<Person[]> => {
  const people: Person[] = [];
  for (let i = 0; i < 10; i++) people.push(await givenUser(realm));
  return people;
};

/** A container that waits before its nth call of this action, until the test has done something else. */
function pausing(
  realm: TestRealm,
  action: RegExp,
  nth: number,
  meanwhile: () => Promise<unknown>,
): TestRealm {
  let seen = 0;
  return realm.container(
    (store: Send): Send =>
      async (command) => {
        if (action.test(command.constructor.name) && ++seen === nth) await meanwhile();
        return store(command);
      },
  );
}

describe('DESIGN 4: counters are exact when many send at once', () => {
  it('for thirty messages to one new topic of a new channel (2.3/id)', async () => {
    const realm = await newRealm();
    const people = await tenPeople(realm);
    const { channelId } = await givenChannel(realm);
    const start = await lastNumber(realm);
    const ids = idsOf(await thirty(realm, people, channelId, (i) => (i % 2 ? 'Topic' : 'topic')));
    expect(new Set(ids).size).toBe(30);
    const [first, maxId] = [Math.min(...ids), Math.max(...ids)];
    expect(await storedTopic(realm, channelId, 'topic')).toMatchObject({ maxId, participants: 10 });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(first);
    const logged = (await loggedAfter(realm, start)).filter(({ kind }) => kind === 'message');
    expect(logged.map(({ seq }) => seq)).toEqual(ids.toSorted((a, b) => a - b));
    const [later] = idsOf([await sendTo(realm, people[0] as Person, channelId)]);
    expect(later).toBeGreaterThan(maxId);
  });

  it('for thirty messages to one existing topic', async () => {
    const realm = await newRealm();
    const people = await tenPeople(realm);
    const { channelId } = await givenChannel(realm);
    const [first] = idsOf([await sendTo(realm, realm.people.admin, channelId, 'topic')]);
    const ids = idsOf(await thirty(realm, people, channelId, () => 'topic'));
    expect(await storedTopic(realm, channelId, 'topic')).toMatchObject({
      maxId: Math.max(...ids),
      participants: 11,
    });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(first);
  });

  it('for thirty new topics, including the empty one', async () => {
    const realm = await newRealm();
    const people = await tenPeople(realm);
    const { channelId } = await givenChannel(realm);
    const ids = idsOf(await thirty(realm, people, channelId, (i) => (i === 7 ? '' : `topic ${i}`)));
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 29 });
    expect(await firstOf(realm, channelId)).toBe(Math.min(...ids));
  });

  it('and the ids rise for a client that waits for each reply, in any container', async () => {
    const realm = await newRealm();
    const ids: number[] = [];
    for (const container of [realm, realm.container(), realm, realm.container()]) {
      ids.push(...idsOf([await sendTo(container, realm.people.member, realm.channels.general)]));
    }
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(4);
  });
});

describe('DESIGN 4: messages that commit in another order than their ids', () => {
  it('an earlier id may join a topic that a later one began, and is then its first message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const after: Reply[] = [];
    // Its number is taken while it has not read the topic yet.
    const slow = pausing(realm, /BatchGet/, 2, async () => {
      while ((await lastNumber(realm)) <= start) await realm.outside.wait(1);
      after.push(await sendTo(realm, admin, channelId), await sendTo(realm, admin, channelId));
    });
    const start = await lastNumber(realm);
    const [early] = idsOf([await sendTo(slow, member, channelId)]);
    const [, maxId] = idsOf(after);
    expect(early).toBeLessThan(maxId as number);
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({ maxId, participants: 2 });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(early);
  });

  it('an id between the first and the last of a topic changes neither', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    await sendTo(realm, admin, channelId, 'Hi');
    const after: Reply[] = [];
    const slow = pausing(realm, /TransactWrite/, 1, async () => {
      after.push(await sendTo(realm, admin, channelId, 'HI'));
    });
    const [between] = idsOf([await sendTo(slow, member, channelId, 'hi')]);
    const [maxId] = idsOf(after);
    expect(between).toBeLessThan(maxId as number);
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({
      topic: 'HI',
      maxId,
      participants: 2,
    });
  });

  it('a sender who was too late to begin a topic joins it with a new number', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const before: Reply[] = [];
    const slow = pausing(realm, /TransactWrite/, 1, async () => {
      before.push(await sendTo(realm, admin, channelId));
    });
    const [maxId] = idsOf([await sendTo(slow, member, channelId)]);
    const [first] = idsOf(before);
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({ maxId, participants: 2 });
    expect(await storedCount(realm, channelId)).toMatchObject({ namedTopics: 1 });
    expect(await firstOf(realm, channelId)).toBe(first);
  });
});

describe('decisions are held until the commit', () => {
  it('specification 3: a channel that becomes `empty_topic_only` meanwhile gets no named topic', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    const at = { realm: realm.realm, channelId };
    const slow = pausing(realm, /TransactWrite/, 1, () =>
      realm.outside.table.transact(
        [
          { update: key('channel', at), change: { set: { topicsPolicy: 'empty_topic_only' } } },
          { update: key('channelCount', at), change: { set: { onlyEmptyTopic: true } } },
        ],
        realm.outside.uuid(),
      ),
    );
    const { status, body } = await sendTo(slow, realm.people.member, channelId);
    expect([status, body.msg]).toEqual([400, expect.stringContaining('general chat')]);
    expect(await storedCount(realm, channelId)).not.toHaveProperty('namedTopics');
    expect(await storedTopic(realm, channelId, 'hi')).toBeUndefined();
    idsOf([await sendTo(slow, realm.people.member, channelId, '')]);
  });

  it('wire facts 3.6: a user who may not begin topics does not begin again one that vanishes meanwhile', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const groups = { can_create_topic_group: systemGroups.moderators.id };
    const { channelId } = await givenChannel(realm, { groups });
    idsOf([await sendTo(realm, moderator, channelId)]);
    const topic = key('topic', { realm: realm.realm, channelId, topic: 'hi' });
    const slow = pausing(realm, /TransactWrite/, 1, () =>
      realm.outside.table.transact([{ delete: topic }], realm.outside.uuid()),
    );
    const { status, body } = await sendTo(slow, member, channelId);
    expect([status, body.msg]).toEqual([400, expect.stringMatching(/new topics/)]);
    expect(await storedTopic(realm, channelId, 'hi')).toBeUndefined();
  });

  it('wire facts 3.6: users who may not begin a topic join it or are refused, while another user begins it', async () => {
    const realm = await newRealm();
    const { moderator } = realm.people;
    const people = await tenPeople(realm);
    const groups = { can_create_topic_group: systemGroups.moderators.id };
    const { channelId } = await givenChannel(realm, { groups });
    const [created, ...others] = await Promise.all(
      [moderator, ...people].map((as) => sendTo(realm.container(), as, channelId)),
    );
    const joined = others.filter(({ status }) => status === 200);
    for (const { status, body } of others) {
      if (status !== 200) expect([status, body.msg]).toEqual([400, expect.stringMatching(/new topics/)]);
    }
    const ids = idsOf([created as Reply, ...joined]);
    expect(await storedTopic(realm, channelId, 'hi')).toMatchObject({
      participants: ids.length,
      maxId: Math.max(...ids),
    });
  });

  it('DESIGN 5 rule 3: a writer whose numbers a reader has filled takes new ones, and sends once', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const start = await lastNumber(realm);
    const slow = pausing(realm, /TransactWrite/, 1, async () => {
      idsOf([await sendTo(realm, admin, general, 'other')]);
      // Its slot is still empty after the grace period: a reader that waits fills it.
      const firstSeen = new Map();
      await readRun(realm.log, start, firstSeen);
      realm.pass(GRACE);
      await readRun(realm.log, start, firstSeen);
    });
    const [id] = idsOf([await sendTo(slow, member, general)]);
    const sent = (await loggedAfter(realm, start)).filter(({ kind }) => kind === 'message');
    expect(sent.map(({ seq }) => seq)).toEqual([expect.any(Number), id]);
  });

  it('a writer whose numbers are filled again and again until its time is up tells the client to retry, and has sent nothing', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const start = await lastNumber(realm);
    let passed = 0;
    // Each of its transactions takes three seconds, in which others write and a reader waits.
    const slow = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (!/TransactWrite/.test(command.constructor.name)) return store(command);
          idsOf([await sendTo(realm, admin, general, 'other')]);
          const firstSeen = new Map();
          await readRun(realm.log, start, firstSeen);
          passed += 3_000;
          await readRun({ ...realm.log, now: () => Date.now() + passed }, start, firstSeen);
          return store(command);
        },
      { now: () => Date.now() + passed },
    );
    expect(await sendTo(slow, member, general)).toMatchObject({
      status: 429,
      headers: { 'Retry-After': '2' },
      body: { code: 'RATE_LIMIT_HIT' },
    });
    expect(passed).toBe(6_000);
    const sent = (await loggedAfter(realm, start)).filter(({ kind }) => kind === 'message');
    expect(sent).toHaveLength(2);
    expect(sent.every((entry) => 'senderId' in entry && entry.senderId === admin.userId)).toBe(true);
  });
});
