import { expect, it } from 'vitest';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { handler as remove } from '../../functions/subscriptions/remove.ts';
import { givenChannel, givenRealmSettings, givenUser } from '../support/given.ts';
import { leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { newRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';

const CHANNELS = ['tea', 'cake', 'pie'];

it.each([1, 20])(
  'subscribing %i others to three channels takes three round trips, two when warm',
  async (size) => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const work = await workOf(realm, 'outbox');
    for (const name of CHANNELS) await givenChannel(realm, { name });
    const container = realm.container();
    for (const roundTrips of [3, 2]) {
      const people = await Promise.all(Array.from({ length: size }, () => givenUser(realm)));
      container.meter.reset();
      const { status, body } = await container.call(add, admin, {
        subscriptions: CHANNELS.map((name) => ({ name })),
        principals: people.map(({ userId }) => userId),
      });
      expect([status, Object.keys(body.subscribed ?? {}).length]).toEqual([200, size]);
      expect(container.meter.roundTrips).toBe(roundTrips);
    }
    // One message for each request, however many people it is about.
    const messages = (await work.receive()).map(({ Body }) => Body ?? '');
    expect(messages.toSorted()).toEqual(messagesOf(await leftIn(realm)).toSorted());
    expect(messages).toHaveLength(2);
    for (const message of messages) expect(message.length).toBeLessThan(150);
  },
);

it('creating channels for oneself and others, and announcing them, takes three round trips', async () => {
  const realm = await newRealm();
  const { admin, member, moderator } = realm.people;
  const work = await workOf(realm, 'outbox');
  const { channelId } = await givenChannel(realm, {}, [admin]);
  await givenRealmSettings(realm, { new_stream_announcements_stream_id: channelId });
  const container = realm.container();
  for (const name of ['tea', 'cake']) {
    container.meter.reset();
    const { status } = await container.call(add, admin, {
      subscriptions: [{ name }, { name: `${name} too` }],
      principals: [admin, member, moderator].map(({ userId }) => userId),
      announce: true,
    });
    expect(status).toBe(200);
    expect(container.meter.roundTrips).toBe(3);
  }
  expect(await work.receive()).toHaveLength(2);
  await workedOff(realm);
});

it('many users at one channel take one more round trip for each 23 subscribed or 32 removed', async () => {
  const realm = await newRealm();
  const { owner } = realm.people;
  await givenChannel(realm, { name: 'hall' });
  const people = await Promise.all(Array.from({ length: 96 }, () => givenUser(realm)));
  const container = realm.container();
  const taken: [number, number][] = [];
  for (const size of [23, 46, 96]) {
    const principals = people.slice(0, size).map(({ userId }) => userId);
    container.meter.reset();
    const subscriptions = [{ name: 'hall' }];
    const come = await container.call(add, owner, { subscriptions, principals });
    expect(Object.keys(come.body.subscribed)).toHaveLength(size);
    const coming = container.meter.roundTrips;
    container.meter.reset();
    const gone = await container.call(remove, owner, { subscriptions: ['hall'], principals });
    expect(gone.body.removed).toEqual(['hall']);
    taken.push([coming, container.meter.roundTrips]);
  }
  // The first request was cold.
  expect(taken).toEqual([
    [3, 2],
    [3, 3],
    [6, 4],
  ]);
  await workedOff(realm);
});

it('a refused request releases all its numbers by one tombstone', async () => {
  const realm = await newRealm();
  const { guest } = realm.people;
  await givenChannel(realm, { name: 'hall' }, [guest]);
  const people = await Promise.all(Array.from({ length: 60 }, () => givenUser(realm)));
  const container = realm.container();
  const { status } = await container.call(add, guest, {
    subscriptions: [{ name: 'hall' }],
    principals: people.map(({ userId }) => userId),
  });
  expect(status).toBe(400);
  expect(container.meter.calls.filter(({ action }) => action === 'Put')).toHaveLength(1);
});
