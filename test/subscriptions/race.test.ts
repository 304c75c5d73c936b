import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { key } from '../../shared/table/keys.ts';
import { conflict, fault, lost, type Mishap, mishaps, refusedWith, unheard } from '../support/faults.ts';
import { givenChangedUser, givenChannel, givenGroup, givenSubscription, put } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { channelIdOf, expectConsistent, subscriptionOf, told } from '../support/subscription-state.ts';

const join = (realm: TestRealm, as: Person, ...names: string[]) =>
  realm.call(add, as, { subscriptions: names.map((name) => ({ name })) });
const leave = (realm: TestRealm, as: Person, ...names: string[]) =>
  realm.call(remove, as, { subscriptions: names });

/**
 * Checks that a client that reads the log ends with the subscriptions that are stored: the log has an event for every
 * change, in the order in which the changes took effect.
 */
async function expectToldRight(
  realm: TestRealm,
  after: number,
  begun: readonly (readonly [Person, number])[],
  people: readonly Person[],
  channelIds: readonly number[],
): Promise<void> {
  const known = new Set(begun.map(([{ userId }, id]) => `${userId} ${id}`));
  for (const { hearers, payload } of await told(realm, after)) {
    if (payload.type !== 'subscription' || !('users' in hearers)) continue;
    for (const { stream_id } of payload.subscriptions as { stream_id: number }[]) {
      for (const userId of hearers.users) {
        if (payload.op === 'add') known.add(`${userId} ${stream_id}`);
        else known.delete(`${userId} ${stream_id}`);
      }
    }
  }
  const stored = new Set<string>();
  for (const person of people) {
    for (const id of channelIds) {
      if (await subscriptionOf(realm, person, id)) stored.add(`${person.userId} ${id}`);
    }
  }
  expect(known).toEqual(stored);
}

describe('subscribing and unsubscribing at once', () => {
  it('let one of two requests create a channel, and the other join it', async () => {
    const realm = await newRealm();
    const { member, admin, moderator, owner } = realm.people;
    const racers = [member, admin, moderator, owner];
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      racers.map((person, i) => join(realm.container(), person, i % 2 ? 'New' : 'new')),
    );
    for (const [i, { body }] of replies.entries()) {
      expect(Object.keys(body.subscribed)).toEqual([String(racers[i]?.userId)]);
    }
    const id = (await channelIdOf(realm, 'new')) as number;
    expect(await expectConsistent(realm, id, racers)).toHaveLength(4);
    const events = await told(realm, before);
    expect(events.filter(({ payload }) => payload.type === 'stream' && payload.op === 'create')).toHaveLength(
      1,
    );
    await expectToldRight(realm, before, [], racers, [id]);
  });

  it('count a user once, for any number of concurrent requests', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'door' });
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => join(realm.container(), member, 'door')),
    );
    const outcomes = replies.map(({ body }) => (body.subscribed[member.userId] ? 'subscribed' : 'already'));
    expect(outcomes.sort()).toEqual(['already', 'already', 'already', 'subscribed']);
    expect(await expectConsistent(realm, channelId, [member])).toEqual([member.userId]);
    const left = await Promise.all(Array.from({ length: 4 }, () => leave(realm.container(), member, 'door')));
    expect(left.flatMap(({ body }) => body.removed)).toEqual(['door']);
    expect(await expectConsistent(realm, channelId, [member])).toEqual([]);
  });

  it('keep count, list and log consistent under any interleaving', async () => {
    const realm = await newRealm();
    const people = Object.values(realm.people).filter(({ userId }) => userId !== realm.people.guest.userId);
    const names = ['one', 'two', 'three'];
    const channels = await Promise.all(names.map((name) => givenChannel(realm, { name })));
    const ids = channels.map(({ channelId }) => channelId);
    const before = await lastNumber(realm);
    const step = fc.record({
      who: fc.nat({ max: people.length - 1 }),
      joins: fc.boolean(),
      names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }),
    });
    const schedule = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(schedule, async (waves) => {
        for (const wave of waves) {
          const replies = await Promise.all(
            wave.map(({ who, joins, names }) =>
              (joins ? join : leave)(realm.container(), people[who] as Person, ...names),
            ),
          );
          for (const { status } of replies) expect(status).toBe(200);
        }
        for (const id of ids) await expectConsistent(realm, id, people);
        await expectToldRight(realm, before, [], people, ids);
      }),
      { numRuns: 8 },
    );
  });

  it('send the event of a subscription after that of the previous unsubscription, even if its number was allocated earlier', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'door' });
    const before = await lastNumber(realm);
    const elsewhere: Mishap = async (send) => {
      await join(realm.container(), member, 'door');
      await leave(realm.container(), member, 'door');
      return send();
    };
    await join(realm.container(mishaps({ transact: [elsewhere] })), member, 'door');
    expect(await expectConsistent(realm, channelId, [member])).toEqual([member.userId]);
    await expectToldRight(realm, before, [], [member], [channelId]);
  });

  it('send the event of an unsubscription after that of the subscription, even if its number was allocated earlier', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'door' });
    await givenSubscription(realm, member, channelId);
    const before = await lastNumber(realm);
    const elsewhere: Mishap = async (send) => {
      await leave(realm.container(), member, 'door');
      await join(realm.container(), member, 'door');
      return send();
    };
    await leave(realm.container(mishaps({ transact: [elsewhere] })), member, 'door');
    expect(await expectConsistent(realm, channelId, [member])).toEqual([]);
    await expectToldRight(realm, before, [[member, channelId]], [member], [channelId]);
  });

  it('check permissions again if a channel becomes private meanwhile', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, {
      name: 'door',
      isPrivate: true,
      groups: { can_subscribe_group: 6 },
    });
    const elsewhere: Mishap = async (send) => {
      const channelKey = key('channel', { realm: realm.realm, channelId });
      const stored = await realm.outside.table.get(channelKey);
      const groups = { ...(stored?.groups as object), can_subscribe_group: 1 };
      await put(realm, [{ update: channelKey, change: { set: { groups }, add: { version: 1 } } }]);
      return send();
    };
    const { status } = await join(realm.container(mishaps({ transact: [elsewhere] })), member, 'door');
    expect(status).toBe(400);
    expect(await expectConsistent(realm, channelId, [member])).toEqual([]);
  });

  it('subscribe no user whose account is deactivated meanwhile', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'door' });
    const elsewhere: Mishap = async (send) => {
      await givenChangedUser(realm, admin, { isActive: false });
      return send();
    };
    const request = { subscriptions: [{ name: 'door' }], principals: [admin.userId] };
    const container = realm.container(mishaps({ transact: [elsewhere] }));
    expect(await container.call(add, member, request)).toMatchObject({ status: 400 });
    expect(await expectConsistent(realm, channelId, [admin])).toEqual([]);
  });

  it('do not uncount a user whose account was deactivated meanwhile', async () => {
    const realm = await newRealm();
    const { owner, member, admin } = realm.people;
    const { general } = realm.channels;
    const elsewhere: Mishap = async (send) => {
      await realm.call(deactivate, owner, {}, { path: { user: member.userId } });
      return send();
    };
    const request = { subscriptions: ['general'], principals: [member.userId] };
    const container = realm.container(mishaps({ transact: [elsewhere] }));
    expect(await container.call(remove, admin, request)).toMatchObject({ status: 400 });
    // With the account its bot falls asleep.
    const { moderator, guest } = realm.people;
    expect(await expectConsistent(realm, general, [owner, admin, moderator, guest])).toHaveLength(4);
  });

  it('refuse a group that is deactivated meanwhile, and record in a group that a channel names it', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { groupId } = await givenGroup(realm);
    const make = (container: TestRealm, ...names: string[]) =>
      container.call(add, member, {
        subscriptions: names.map((name) => ({ name })),
        can_send_message_group: groupId,
      });
    expect((await make(realm, 'one', 'two')).status).toBe(200);
    const use = key('groupUse', { realm: realm.realm, groupId });
    const ids = [await channelIdOf(realm, 'one'), await channelIdOf(realm, 'two')];
    expect((await realm.outside.table.get(use))?.channels).toEqual(new Set(ids));
    const elsewhere: Mishap = async (send) => {
      const change = { set: { deactivated: true } };
      await put(realm, [
        { update: key('group', { realm: realm.realm, groupId }), change },
        { update: use, change },
      ]);
      return send();
    };
    expect(await make(realm.container(mishaps({ transact: [elsewhere] })), 'three')).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    });
    expect(await channelIdOf(realm, 'three')).toBeUndefined();
  });

  it.each<[string, readonly Mishap[]]>([
    ['a request that was lost', [lost]],
    ['a reply that was lost', [unheard, unheard]],
    ['a conflict', [refusedWith(conflict), refusedWith(conflict)]],
    ['throttling', [refusedWith(() => fault('ThrottlingException'))]],
  ])('take effect once in spite of %s', async (_, transact) => {
    const realm = await newRealm();
    const { member } = realm.people;
    const before = await lastNumber(realm);
    const first = await join(realm.container(mishaps({ transact })), member, 'new');
    expect(first.body.subscribed).toEqual({ [member.userId]: ['new'] });
    const id = (await channelIdOf(realm, 'new')) as number;
    expect(await expectConsistent(realm, id, [member])).toEqual([member.userId]);
    expect(await told(realm, before)).toHaveLength(3);
    const left = await leave(realm.container(mishaps({ transact })), member, 'new');
    expect(left.body.removed).toEqual(['new']);
    expect(await expectConsistent(realm, id, [member])).toEqual([]);
    expect(await told(realm, before)).toHaveLength(5);
  });
});
