import { describe, expect, it } from 'vitest';
import { handler as setVisibility } from '../../functions/topics/setVisibility.ts';
import { loadTopicPolicies, type Visibility } from '../../shared/model/message/user-topic.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { fault, requestOf } from '../support/faults.ts';
import {
  givenChangedChannel,
  givenChannel,
  givenGroup,
  givenSettings,
  givenSubscription,
  givenUser,
  givenUserTopic,
} from '../support/given.ts';
import { move, success } from '../support/message-update.ts';
import { deliver, endingAt, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter, storedTopic, storedUserTopic } from '../support/stored.ts';
import { workOf } from '../support/work-queue.ts';

const [INHERIT, MUTED, UNMUTED, FOLLOWED] = [0, 1, 2, 3] as const;

/** Says something in a topic, without policies that follow from it. */
async function say(realm: TestRealm, as: Person, to: number, topic: string): Promise<number> {
  await givenSettings(realm, as, { automatically_follow_topics_policy: 4 });
  return sendTo(realm, as, to, 'x', { topic });
}

/** Moves a message, and lets the worker of the outbox do what follows. */
async function moveAndFollow(
  realm: TestRealm,
  as: Person,
  id: number,
  change: Readonly<Record<string, unknown>>,
): Promise<void> {
  expect(await move(realm, as, id, change)).toMatchObject(success);
  await workedOff(realm);
}

/** The policy of a user, from both sides. */
async function policyOf(realm: TestRealm, person: Person, channelId: number, topic: string): Promise<number> {
  const policy = (await storedUserTopic(realm, person, channelId, topic))?.policy ?? INHERIT;
  const holders = await loadTopicPolicies(realm.outside.table, realm.realm, { channelId, topic });
  expect(holders.find(({ userId }) => userId === person.userId)?.policy ?? INHERIT).toBe(policy);
  return policy;
}

const all = { propagate_mode: 'change_all' };
const later = { propagate_mode: 'change_later' };
const one = { propagate_mode: 'change_one' };

describe('policies follow a topic that moves as a whole (wire facts 3.10)', () => {
  it("to another name, with events to each user's own clients for the old topic and the new one", async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    await say(realm, admin, general, 'tea');
    await givenUserTopic(realm, admin, general, 'TEA', FOLLOWED);
    await givenUserTopic(realm, moderator, general, 'tea', MUTED);
    const types = { event_types: ['user_topic', 'update_message'] };
    const clients = [await givenClient(realm, admin, types), await givenClient(realm, member, types)];
    await moveAndFollow(realm, member, id, { topic: 'Cake', ...all });
    expect(await policyOf(realm, admin, general, 'tea')).toBe(INHERIT);
    expect(await policyOf(realm, admin, general, 'cake')).toBe(FOLLOWED);
    expect(await policyOf(realm, moderator, general, 'cake')).toBe(MUTED);
    expect(await policyOf(realm, member, general, 'cake')).toBe(INHERIT);
    const [hers, his] = await Promise.all(clients.map((client) => client.poll()));
    const told = hers?.map(({ type, topic_name, visibility_policy, stream_id }) =>
      type === 'user_topic' ? [stream_id, topic_name, visibility_policy] : type,
    );
    expect(told).toEqual([
      'update_message',
      'update_message',
      [general, 'tea', INHERIT],
      [general, 'Cake', FOLLOWED],
    ]);
    expect(his?.map(({ type }) => type)).toEqual(['update_message', 'update_message']);
  });

  it('when its last message moves, in whatever way, but not when only a part moves', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const [first, second] = [
      await say(realm, member, general, 'tea'),
      await say(realm, member, general, 'tea'),
    ];
    await givenUserTopic(realm, admin, general, 'tea', UNMUTED);
    await moveAndFollow(realm, member, second, { topic: 'cake', propagate_mode: 'change_later' });
    expect(await policyOf(realm, admin, general, 'tea')).toBe(UNMUTED);
    expect(await policyOf(realm, admin, general, 'cake')).toBe(INHERIT);
    await moveAndFollow(realm, member, first, { topic: 'pie' });
    expect(await policyOf(realm, admin, general, 'pie')).toBe(UNMUTED);
    await moveAndFollow(realm, member, first, { stream_id: random, topic: '' });
    expect(await policyOf(realm, admin, general, 'pie')).toBe(INHERIT);
    expect(await policyOf(realm, admin, random, '')).toBe(UNMUTED);
  });

  it('when a topic is resolved and unresolved', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    await givenUserTopic(realm, admin, general, 'tea', FOLLOWED);
    for (const [topic, old] of [
      ['✔ tea', 'tea'],
      ['tea', '✔ tea'],
      ['✔ tea', 'tea'],
    ] as const) {
      await moveAndFollow(realm, member, id, { topic, ...all });
      expect(await policyOf(realm, admin, general, topic)).toBe(FOLLOWED);
      expect(await policyOf(realm, admin, general, old)).toBe(INHERIT);
    }
    const written = await lastNumber(realm);
    await move(realm, member, id, { topic: '✔ TEA', ...all });
    expect(await leftIn(realm)).toEqual([]);
    expect(await policyOf(realm, admin, general, '✔ tea')).toBe(FOLLOWED);
    expect(
      (await loggedAfter(realm, written)).map((entry) => entry.kind === 'event' && entry.payload.type),
    ).toEqual(['update_message']);
  });

  it('when everything that the mover can see moves', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(
      realm,
      {
        isPrivate: true,
        historyPublicToSubscribers: false,
        groups: { can_subscribe_group: systemGroups.nobody.id },
      },
      [admin],
    );
    await say(realm, admin, channelId, 'tea');
    await givenSubscription(realm, member, channelId, { since: await lastNumber(realm) });
    const id = await say(realm, admin, channelId, 'tea');
    await givenUserTopic(realm, admin, channelId, 'tea', MUTED);
    await moveAndFollow(realm, member, id, { topic: 'cake', ...all });
    expect(await policyOf(realm, admin, channelId, 'cake')).toBe(MUTED);
  });
});

describe('policies where topics merge (wire facts 3.10)', () => {
  const cases = [INHERIT, MUTED, UNMUTED, FOLLOWED].flatMap((old) =>
    [INHERIT, MUTED, UNMUTED, FOLLOWED].map((target): [Visibility, Visibility] => [old, target]),
  );
  const byOpenness: readonly number[] = [MUTED, INHERIT, UNMUTED, FOLLOWED];
  const mostOpen = (...policies: number[]): number =>
    policies.toSorted((a, b) => byOpenness.indexOf(b) - byOpenness.indexOf(a))[0] as number;

  it.each([
    ['has messages', true],
    ['has none', false],
  ])('become the more visible of both, if the target %s', async (_, merges) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    if (merges) await say(realm, member, general, 'cake');
    const people = await Promise.all(cases.map(() => givenUser(realm)));
    for (const [i, [old, target]] of cases.entries()) {
      await givenUserTopic(realm, people[i] as Person, general, 'tea', old);
      await givenUserTopic(realm, people[i] as Person, general, 'cake', target);
    }
    await moveAndFollow(realm, member, id, { topic: 'cake' });
    for (const [i, [old, target]] of cases.entries()) {
      const person = people[i] as Person;
      const expected = merges ? mostOpen(old, target) : old || target;
      expect([old, target, await policyOf(realm, person, general, 'cake')]).toEqual([old, target, expected]);
      expect(await policyOf(realm, person, general, 'tea')).toBe(INHERIT);
    }
  });
});

describe('policies where a topic goes to another channel', () => {
  it('users who cannot read it there lose their policies, and get only events of that', async () => {
    const realm = await newRealm();
    const { owner, admin, member, guest } = realm.people;
    const { general } = realm.channels;
    const { groupId } = await givenGroup(realm, { members: [member] });
    const target = await givenChannel(realm, { isPrivate: true, groups: { can_subscribe_group: groupId } }, [
      owner,
    ]);
    await givenSubscription(realm, guest, target.channelId);
    const id = await say(realm, owner, general, 'tea');
    const holders = [owner, admin, member, guest];
    for (const person of holders) await givenUserTopic(realm, person, general, 'tea', FOLLOWED);
    const client = await givenClient(realm, admin, { event_types: ['user_topic'] });
    await moveAndFollow(realm, owner, id, { stream_id: target.channelId, topic: 'secret' });
    const policies = await Promise.all(
      holders.map((person) => policyOf(realm, person, target.channelId, 'secret')),
    );
    expect(policies).toEqual([FOLLOWED, INHERIT, FOLLOWED, FOLLOWED]);
    const events = await client.poll();
    expect(events).toMatchObject([{ stream_id: general, topic_name: 'tea', visibility_policy: INHERIT }]);
  });
});

describe('what it costs to let policies follow', () => {
  it('a move takes three round trips and the same write units for any number of users, since the worker does the rest', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await say(realm, member, channelId, 'tea');
    const people = await Promise.all(Array.from({ length: 50 }, () => givenUser(realm)));
    for (const person of people) await givenUserTopic(realm, person, channelId, 'tea', FOLLOWED);
    await givenUserTopic(realm, admin, channelId, 'cake', MUTED);
    const followers = async (topic: string): Promise<number> =>
      (await loadTopicPolicies(realm.outside.table, realm.realm, { channelId, topic })).length;
    const client = await givenClient(realm, people[49] as Person, { event_types: ['user_topic'] });
    const work = await workOf(realm, 'outbox');
    const container = realm.container();
    expect(await move(container, member, id, { topic: 'cake', ...one })).toMatchObject(success);
    expect(container.meter.roundTrips).toBe(3);
    expect([await followers('tea'), await followers('cake')]).toEqual([50, 1]);
    const other = await say(realm, member, channelId, 'pie');
    const units = container.meter.writeUnits;
    container.meter.reset();
    expect(await move(container, member, other, { topic: 'soup', ...one })).toMatchObject(success);
    expect(container.meter.writeUnits).toBe(units);
    const messages = (await work.receive()).map(({ Body }) => Body ?? '');
    expect(messages.toSorted()).toEqual(messagesOf(await leftIn(realm)).toSorted());
    // Delivered twice, at once.
    realm.meter.reset();
    const [first, second] = await Promise.all([deliver(realm, messages), deliver(realm, messages)]);
    expect([first, second]).toEqual([{ batchItemFailures: [] }, { batchItemFailures: [] }]);
    expect(await leftIn(realm)).toEqual([]);
    expect([await followers('tea'), await followers('cake')]).toEqual([0, 51]);
    expect(await policyOf(realm, admin, channelId, 'cake')).toBe(MUTED);
    expect((await client.poll()).map((event) => [event.topic_name, event.visibility_policy])).toEqual([
      ['tea', INHERIT],
      ['cake', FOLLOWED],
    ]);
  });

  it('a move of one message with the policy of its sender takes three round trips, to any channel', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general, random } = realm.channels;
    const id = await sendTo(realm, member, general, 'x', { topic: 'tea' });
    expect(await policyOf(realm, member, general, 'tea')).toBe(FOLLOWED);
    const container = realm.container();
    for (const change of [{ topic: 'cake' }, { stream_id: random }]) {
      container.meter.reset();
      await move(container, member, id, change);
      expect(container.meter.roundTrips).toBeLessThanOrEqual(3);
    }
    await workedOff(realm);
    expect(await policyOf(realm, member, random, 'cake')).toBe(FOLLOWED);
  });
});

describe('policies that follow a topic later', () => {
  /** A topic that went to another channel, with the policies of these people still to follow. */
  const moved = async (from: string, to: string, people: readonly Person[], realm: TestRealm) => {
    const { general, random } = realm.channels;
    const id = await say(realm, realm.people.owner, general, from);
    for (const person of people) await givenUserTopic(realm, person, general, from, FOLLOWED);
    await move(realm, realm.people.owner, id, { stream_id: random, topic: to });
    return { id, general, random };
  };
  const choose = async (realm: TestRealm, as: Person, stream_id: number, topic: string, policy: number) => {
    const set = { stream_id, topic, visibility_policy: policy };
    expect((await realm.call(setVisibility, as, set)).status).toBe(200);
  };

  it('keep what a user chooses for either topic after the move', async () => {
    const realm = await newRealm();
    const { admin, member, moderator } = realm.people;
    const { general, random } = await moved('tea', 'cake', [admin, member, moderator], realm);
    await choose(realm, admin, random, 'cake', MUTED);
    await choose(realm, member, general, 'tea', MUTED);
    await workedOff(realm);
    expect(await policyOf(realm, admin, random, 'cake')).toBe(MUTED);
    expect(await policyOf(realm, admin, general, 'tea')).toBe(INHERIT);
    expect(await policyOf(realm, member, general, 'tea')).toBe(MUTED);
    expect(await policyOf(realm, member, random, 'cake')).toBe(INHERIT);
    expect(await policyOf(realm, moderator, random, 'cake')).toBe(FOLLOWED);
  });

  it('follow a topic that moves again or moves back, in the order of the moves', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const { id, general, random } = await moved('tea', 'cake', [admin, member], realm);
    await move(realm, owner, id, { topic: 'pie' });
    await choose(realm, member, random, 'pie', MUTED);
    await move(realm, owner, id, { stream_id: general, topic: 'tea' });
    // Each of them waits for the first, so nothing is where it should not be.
    expect(await leftIn(realm)).toHaveLength(3);
    const last = messagesOf((await leftIn(realm)).toSorted((a, b) => b.part - a.part).slice(0, 1));
    expect(await deliver(realm, last)).toEqual({ batchItemFailures: [] });
    expect(await leftIn(realm)).toEqual([]);
    expect(await policyOf(realm, admin, general, 'tea')).toBe(FOLLOWED);
    expect(await policyOf(realm, member, general, 'tea')).toBe(MUTED);
    for (const person of [admin, member]) {
      for (const topic of ['cake', 'pie']) expect(await policyOf(realm, person, random, topic)).toBe(INHERIT);
    }
  });

  it('do not follow a new topic of the old name when that moves', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const { general, random } = await moved('tea', 'cake', [admin], realm);
    const next = await say(realm, owner, general, 'tea');
    await move(realm, owner, next, { topic: 'soup' });
    await workedOff(realm);
    expect(await policyOf(realm, admin, random, 'cake')).toBe(FOLLOWED);
    expect(await policyOf(realm, admin, general, 'soup')).toBe(INHERIT);
  });

  it('are completed by the next worker if one ends halfway', async () => {
    const realm = await newRealm();
    const people = await Promise.all(Array.from({ length: 30 }, () => givenUser(realm)));
    const { random } = await moved('tea', 'cake', people, realm);
    const messages = messagesOf(await leftIn(realm));
    const { batchItemFailures } = await deliver(endingAt(realm, 2), messages);
    expect(batchItemFailures).toHaveLength(1);
    await choose(realm, people[0] as Person, random, 'cake', MUTED);
    expect(await deliver(realm, messages)).toEqual({ batchItemFailures: [] });
    const policies = await Promise.all(people.map((person) => policyOf(realm, person, random, 'cake')));
    expect(policies).toEqual([MUTED, ...Array.from({ length: 29 }, () => FOLLOWED)]);
  });

  it('wait behind a failed job of the same topics, and behind no other', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const { id, random } = await moved('tea', 'cake', [admin], realm);
    await move(realm, owner, id, { topic: 'pie' });
    await moved('soup', 'salad', [admin], realm);
    const messages = messagesOf(await leftIn(realm));
    const failing = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (requestOf(command) === 'transact' && JSON.stringify(command).includes('tea'))
            throw fault('ThrottlingException');
          return store(command);
        },
      { wait: async (ms) => realm.pass(ms) },
    );
    const { batchItemFailures } = await deliver(failing, messages);
    expect(batchItemFailures).toHaveLength(2);
    const policies = () =>
      Promise.all(['cake', 'pie', 'salad'].map((topic) => policyOf(realm, admin, random, topic)));
    expect(await policies()).toEqual([INHERIT, INHERIT, FOLLOWED]);
    expect(await leftIn(realm)).toHaveLength(2);
    expect(await deliver(realm, messages)).toEqual({ batchItemFailures: [] });
    expect(await policies()).toEqual([INHERIT, FOLLOWED, FOLLOWED]);
  });

  it('follow in an organization that was deactivated meanwhile, which may be reactivated', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { random } = await moved('tea', 'cake', [admin], realm);
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    await workedOff(realm);
    expect(await policyOf(realm, admin, random, 'cake')).toBe(FOLLOWED);
  });

  it('are only removed for users who can no longer read the channel by then', async () => {
    const realm = await newRealm();
    const person = await givenUser(realm);
    const { general, random } = await moved('tea', 'cake', [person], realm);
    await givenChangedChannel(realm, random, { isPrivate: true });
    await workedOff(realm);
    expect(await policyOf(realm, person, general, 'tea')).toBe(INHERIT);
    expect(await policyOf(realm, person, random, 'cake')).toBe(INHERIT);
  });
});

describe('policies and concurrent requests', () => {
  it('policies of a topic with more messages than one transaction takes follow once', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids: number[] = [];
    for (let i = 0; i < 25; i++) ids.push(await say(realm, member, general, 'tea'));
    await givenUserTopic(realm, admin, general, 'tea', MUTED);
    expect(await move(realm, member, ids[0] as number, { topic: 'cake', ...later })).toMatchObject(success);
    await moveAndFollow(realm, member, ids[20] as number, { topic: 'pie', ...later });
    expect(await policyOf(realm, admin, general, 'tea')).toBe(INHERIT);
    expect(await policyOf(realm, admin, general, 'cake')).toBe(MUTED);
    expect(await policyOf(realm, admin, general, 'pie')).toBe(INHERIT);
    expect(await storedTopic(realm, general, 'cake')).toMatchObject({ maxId: ids[19] });
    expect(await storedTopic(realm, general, 'pie')).toMatchObject({ maxId: ids[24] });
  });

  it('a policy that is set during the move belongs to one of the topics, in both lists alike', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    await givenUserTopic(realm, admin, general, 'tea 0', FOLLOWED);
    const id = await say(realm, member, general, 'tea 0');
    for (let round = 0; round < 6; round++) {
      const [old, topic] = [`tea ${round}`, `tea ${round + 1}`];
      const set = { stream_id: general, topic: old, visibility_policy: round % 2 === 0 ? MUTED : FOLLOWED };
      const [moved, { status }] = await Promise.all([
        move(realm.container(), member, id, { topic }),
        realm.container().call(setVisibility, admin, set),
      ]);
      expect(moved).toMatchObject(success);
      expect(status).toBe(200);
      await workedOff(realm);
      const policies = [
        await policyOf(realm, admin, general, old),
        await policyOf(realm, admin, general, topic),
      ];
      expect(policies).toContain(set.visibility_policy);
    }
  });
});
