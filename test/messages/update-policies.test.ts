import { describe, expect, it } from 'vitest';
import { handler as setVisibility } from '../../functions/topics/setVisibility.ts';
import { systemGroups } from '../../shared/domain/group/system-group.ts';
import { loadHolders } from '../../shared/domain/topic/user-topic.ts';
import type { Visibility } from '../../shared/domain/topic/visibility.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenClient, sendTo } from '../events/queue.ts';
import {
  givenChannel,
  givenGroup,
  givenSettings,
  givenSubscription,
  givenUser,
  givenUserTopic,
} from '../given.ts';
import { newRealm, type Person, type TestRealm } from '../realm.ts';
import { lastNumber, loggedAfter, storedMessage, storedUserTopic } from '../stored.ts';
import { move, success } from './update.ts';

const [INHERIT, MUTED, UNMUTED, FOLLOWED] = [0, 1, 2, 3] as const;

/** Says something in a topic, without policies that follow from it. */
async function say(realm: TestRealm, as: Person, to: number, topic: string): Promise<number> {
  await givenSettings(realm, as, { automatically_follow_topics_policy: 4 });
  return sendTo(realm, as, to, 'x', { topic });
}

/** The policy of somebody, from both sides. */
async function policyOf(realm: TestRealm, person: Person, channelId: number, topic: string): Promise<number> {
  const policy = (await storedUserTopic(realm, person, channelId, topic))?.policy ?? INHERIT;
  const holders = await loadHolders(realm.outside.table, realm.realm, { channelId, topic });
  expect(holders.find(({ userId }) => userId === person.userId)?.policy ?? INHERIT).toBe(policy);
  return policy;
}

const all = { propagate_mode: 'change_all' };

/** A container that fails every transaction from the nth on, as one that is ended in the middle of its work. */
const endingAt = (realm: TestRealm, nth: number): TestRealm => {
  let seen = 0;
  return realm.container(
    (store: Send): Send =>
      async (command) => {
        if (/TransactWrite/.test(command.constructor.name) && ++seen >= nth)
          throw new Error('the function ended');
        return store(command);
      },
  );
};

describe('policies follow a topic that moves as a whole (wire facts 3.10)', () => {
  it('to another name: each to its own clients, taken back in the old topic and given in the new one', async () => {
    const realm = await newRealm();
    const { member, admin, moderator } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    await say(realm, admin, general, 'tea');
    await givenUserTopic(realm, admin, general, 'TEA', FOLLOWED);
    await givenUserTopic(realm, moderator, general, 'tea', MUTED);
    const types = { event_types: ['user_topic', 'update_message'] };
    const clients = [await givenClient(realm, admin, types), await givenClient(realm, member, types)];
    expect(await move(realm, member, id, { topic: 'Cake', ...all })).toMatchObject(success);
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
      [general, 'tea', INHERIT],
      [general, 'Cake', FOLLOWED],
      'update_message',
    ]);
    expect(his?.map(({ type }) => type)).toEqual(['update_message', 'update_message']);
  });

  it('whatever way its last message goes, but not with a part of it', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const [first, second] = [
      await say(realm, member, general, 'tea'),
      await say(realm, member, general, 'tea'),
    ];
    await givenUserTopic(realm, admin, general, 'tea', UNMUTED);
    await move(realm, member, second, { topic: 'cake', propagate_mode: 'change_later' });
    expect(await policyOf(realm, admin, general, 'tea')).toBe(UNMUTED);
    expect(await policyOf(realm, admin, general, 'cake')).toBe(INHERIT);
    await move(realm, member, first, { topic: 'pie' });
    expect(await policyOf(realm, admin, general, 'pie')).toBe(UNMUTED);
    await move(realm, member, first, { stream_id: random, topic: '' });
    expect(await policyOf(realm, admin, general, 'pie')).toBe(INHERIT);
    expect(await policyOf(realm, admin, random, '')).toBe(UNMUTED);
  });

  it('a topic that is resolved, and taken up again', async () => {
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
      expect(await move(realm, member, id, { topic, ...all })).toMatchObject(success);
      expect(await policyOf(realm, admin, general, topic)).toBe(FOLLOWED);
      expect(await policyOf(realm, admin, general, old)).toBe(INHERIT);
    }
    const written = await lastNumber(realm);
    await move(realm, member, id, { topic: '✔ TEA', ...all });
    expect(await policyOf(realm, admin, general, '✔ tea')).toBe(FOLLOWED);
    expect(
      (await loggedAfter(realm, written)).map((entry) => entry.kind === 'event' && entry.payload.type),
    ).toEqual(['update_message']);
  });

  it('all that the mover can see is the whole topic', async () => {
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
    expect(await move(realm, member, id, { topic: 'cake', ...all })).toMatchObject(success);
    expect(await policyOf(realm, admin, channelId, 'cake')).toBe(MUTED);
  });
});

describe('policies where topics merge: what shows more is kept (wire facts 3.10)', () => {
  const cases = [INHERIT, MUTED, UNMUTED, FOLLOWED].flatMap((old) =>
    [INHERIT, MUTED, UNMUTED, FOLLOWED].map((target): [Visibility, Visibility] => [old, target]),
  );
  const byOpenness: readonly number[] = [MUTED, INHERIT, UNMUTED, FOLLOWED];
  const mostOpen = (...policies: number[]): number =>
    policies.toSorted((a, b) => byOpenness.indexOf(b) - byOpenness.indexOf(a))[0] as number;

  it.each([
    ['has messages', true],
    ['has none', false],
  ])('a target that %s', async (_, merges) => {
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
    expect(await move(realm, member, id, { topic: 'cake' })).toMatchObject(success);
    for (const [i, [old, target]] of cases.entries()) {
      const person = people[i] as Person;
      const expected = merges ? mostOpen(old, target) : old || target;
      expect([old, target, await policyOf(realm, person, general, 'cake')]).toEqual([old, target, expected]);
      expect(await policyOf(realm, person, general, 'tea')).toBe(INHERIT);
    }
  });
});

describe('policies where a topic goes to another channel', () => {
  it('who cannot read it there loses theirs and hears no more than that', async () => {
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
    expect(await move(realm, owner, id, { stream_id: target.channelId, topic: 'secret' })).toMatchObject(
      success,
    );
    const policies = await Promise.all(
      holders.map((person) => policyOf(realm, person, target.channelId, 'secret')),
    );
    expect(policies).toEqual([FOLLOWED, INHERIT, FOLLOWED, FOLLOWED]);
    const events = await client.poll();
    expect(events).toMatchObject([{ stream_id: general, topic_name: 'tea', visibility_policy: INHERIT }]);
  });
});

describe('what it costs to let policies follow', () => {
  it('a step for each twenty or so who have one, and nothing for others; the message goes last', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await say(realm, member, channelId, 'tea');
    const people = await Promise.all(Array.from({ length: 50 }, () => givenUser(realm)));
    for (const person of people) await givenUserTopic(realm, person, channelId, 'tea', FOLLOWED);
    expect((await move(endingAt(realm, 2), member, id, { topic: 'cake', ...all })).status).toBe(500);
    const followers = async (topic: string): Promise<number> =>
      (await loadHolders(realm.outside.table, realm.realm, { channelId, topic })).length;
    expect([await followers('tea'), await followers('cake')]).toEqual([28, 22]);
    const container = realm.container();
    expect(await move(container, member, id, { topic: 'cake', ...all })).toMatchObject(success);
    expect([await followers('tea'), await followers('cake')]).toEqual([0, 50]);
    const transactions = container.meter.calls.filter(({ action }) => /TransactWrite/.test(action));
    expect(transactions).toHaveLength(3);
  });

  it('ends in time with a clear sentence, and the same request goes on', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    const people = await Promise.all(Array.from({ length: 50 }, () => givenUser(realm)));
    for (const person of people) await givenUserTopic(realm, person, general, 'tea', UNMUTED);
    let late = 0;
    const slow = realm.container(
      (store: Send): Send =>
        async (command) => {
          if (/TransactWrite/.test(command.constructor.name)) late += 15_000;
          return store(command);
        },
      { now: () => Date.now() + late },
    );
    const change = { topic: 'cake', ...all };
    const { status, body } = await move(slow, member, id, change);
    expect([status, body.code, body.msg]).toEqual([
      400,
      'BAD_REQUEST',
      expect.stringContaining('same request'),
    ]);
    expect((await storedMessage(realm, id)).topic).toBe('tea');
    expect(await move(realm, member, id, change)).toMatchObject(success);
    for (const person of people) expect(await policyOf(realm, person, general, 'cake')).toBe(UNMUTED);
  });

  it('one message with the policy of its sender moves in three round trips, to any channel', async () => {
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
    expect(await policyOf(realm, member, random, 'cake')).toBe(FOLLOWED);
  });
});

describe('policies and what happens meanwhile', () => {
  it('a move that was broken off goes on as it began: what it began itself is no topic to merge with', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const ids: number[] = [];
    for (let i = 0; i < 25; i++) ids.push(await say(realm, member, general, 'tea'));
    await givenUserTopic(realm, admin, general, 'tea', MUTED);
    const asked = ids[0] as number;
    expect((await move(endingAt(realm, 2), member, asked, { topic: 'cake', ...all })).status).toBe(500);
    expect(await policyOf(realm, admin, general, 'tea')).toBe(MUTED);
    expect(await move(realm, member, asked, { topic: 'cake', ...all })).toMatchObject(success);
    expect(await policyOf(realm, admin, general, 'cake')).toBe(MUTED);
    // The topic is one like any other from then on.
    const id = await say(realm, member, general, 'tea');
    await givenUserTopic(realm, admin, general, 'tea', INHERIT);
    await move(realm, member, id, { topic: 'cake', ...all });
    expect(await policyOf(realm, admin, general, 'cake')).toBe(INHERIT);
  });

  it('a policy that is set after the move was decided on is the one that follows', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const id = await say(realm, member, general, 'tea');
    await givenUserTopic(realm, admin, general, 'tea', FOLLOWED);
    for (const [old, topic, policy] of [
      ['tea', 'cake', MUTED],
      ['cake', 'pie', INHERIT],
    ] as const) {
      let isSet = false;
      const late = realm.container(
        (store: Send): Send =>
          async (command) => {
            if (!isSet && /TransactWrite/.test(command.constructor.name)) {
              isSet = true;
              const set = { stream_id: general, topic: old, visibility_policy: policy };
              expect((await realm.call(setVisibility, admin, set)).status).toBe(200);
            }
            return store(command);
          },
      );
      expect(await move(late, member, id, { topic })).toMatchObject(success);
      expect(await policyOf(realm, admin, general, topic)).toBe(policy);
      expect(await policyOf(realm, admin, general, old)).toBe(INHERIT);
    }
  });

  it('a policy that is set at this very moment is in one of the topics, from both sides the same', async () => {
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
      const policies = [
        await policyOf(realm, admin, general, old),
        await policyOf(realm, admin, general, topic),
      ];
      expect(policies).toContain(set.visibility_policy);
    }
  });
});
