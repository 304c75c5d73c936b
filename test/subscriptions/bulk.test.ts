import { describe, expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { type Mishap, mishaps, refusedWith } from '../support/faults.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { channelIdOf, expectConsistent, told } from '../support/subscription-state.ts';

const crowd = (realm: TestRealm, size: number): Promise<Person[]> =>
  Promise.all(Array.from({ length: size }, () => givenUser(realm)));

const ids = (people: readonly Person[]): number[] => people.map(({ userId }) => userId);

/** A fault that no retry helps against. */
const broken: Mishap = refusedWith(() => new Error('the store is broken'));

describe('subscriptions in bulk', () => {
  it('create a private channel for more users than one transaction takes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const people = await crowd(realm, 110);
    const before = await lastNumber(realm);
    const { body } = await realm.call(add, member, {
      subscriptions: [{ name: 'hall' }],
      principals: ids(people),
      invite_only: true,
    });
    expect(Object.keys(body.subscribed)).toHaveLength(110);
    const id = (await channelIdOf(realm, 'hall')) as number;
    expect(await expectConsistent(realm, id, people)).toHaveLength(110);

    const events = await told(realm, before);
    const hearing = (op: string): number[] =>
      events.flatMap(({ hearers, payload }) =>
        payload.op === op && 'users' in hearers ? hearers.users : [],
      );
    expect(hearing('add').sort((a, b) => a - b)).toEqual(ids(people).sort((a, b) => a - b));
    // Subscribers of later transactions could not see the channel when the event was delivered.
    const creations = events.filter(({ payload }) => payload.op === 'create');
    expect(creations[0]?.hearers).toEqual({ channel: id });
    const first = events.find(({ payload }) => payload.op === 'add');
    const firstUsers = first && 'users' in first.hearers ? first.hearers.users : [];
    expect(new Set([...firstUsers, ...hearing('create')])).toEqual(new Set(ids(people)));

    const gone = await realm.call(remove, realm.people.owner, {
      subscriptions: ['hall'],
      principals: ids(people),
    });
    expect(gone.body).toMatchObject({ removed: ['hall'], not_removed: [] });
    expect(await expectConsistent(realm, id, people)).toEqual([]);
  });

  it('create more channels than one transaction takes', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const names = Array.from({ length: 50 }, (_, i) => `room ${i}`);
    const wanted = { subscriptions: names.map((name) => ({ name })) };
    const { body } = await realm.call(add, member, wanted);
    expect(body.subscribed[member.userId].sort()).toEqual([...names].sort());
    for (const name of ['room 0', 'room 25', 'room 49']) {
      await expectConsistent(realm, (await channelIdOf(realm, name)) as number, [member]);
    }
    const again = await realm.call(add, member, wanted);
    expect(again.body.already_subscribed[member.userId]).toHaveLength(50);
    const gone = await realm.call(remove, member, { subscriptions: names });
    expect(gone.body.removed).toHaveLength(50);
  });

  it('keep the events of one transaction small enough to be stored, however long the descriptions are', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const description = ':+1:'.repeat(256);
    const wanted = Array.from({ length: 18 }, (_, i) => ({ name: `room ${i}`, description }));
    const container = realm.container();
    const { body } = await container.call(add, member, { subscriptions: wanted });
    expect(body.subscribed[member.userId]).toHaveLength(18);
    const transactions = container.meter.calls.filter(({ action }) => action === 'TransactWrite');
    expect(transactions.length).toBeGreaterThan(1);
  });

  it('continue when another request changes the snapshot of one of their transactions', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const people = await crowd(realm, 60);
    const { channelId } = await givenChannel(realm, { name: 'hall' });
    const last = people.at(-1) as Person;
    const elsewhere: Mishap = async (send) => {
      await realm.call(add, last, { subscriptions: [{ name: 'hall' }] });
      return send();
    };
    const { body } = await realm.container(mishaps({ transact: [undefined, elsewhere] })).call(add, member, {
      subscriptions: [{ name: 'hall' }],
      principals: ids(people),
    });
    expect(Object.keys(body.subscribed)).toHaveLength(59);
    expect(body.already_subscribed).toEqual({ [last.userId]: ['hall'] });
    expect(await expectConsistent(realm, channelId, people)).toHaveLength(60);
  });

  it('leave whole transactions if interrupted, and finish the rest when repeated', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const people = await crowd(realm, 100);
    const { channelId } = await givenChannel(realm, { name: 'hall' });
    const request = { subscriptions: [{ name: 'hall' }], principals: ids(people) };
    const failed = await realm
      .container(mishaps({ transact: [undefined, broken] }))
      .call(add, member, request);
    expect(failed.status).toBe(500);
    const done = await expectConsistent(realm, channelId, people);
    expect(done.length).toBeGreaterThan(0);
    expect(done.length).toBeLessThan(100);
    const { body } = await realm.call(add, member, request);
    expect(Object.keys(body.already_subscribed)).toHaveLength(done.length);
    expect(Object.keys(body.subscribed)).toHaveLength(100 - done.length);
    expect(await expectConsistent(realm, channelId, people)).toHaveLength(100);
  });
});
