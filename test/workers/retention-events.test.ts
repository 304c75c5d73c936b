import { describe, expect, it } from 'vitest';
import { type Event, givenClient } from '../support/event-queue.ts';
import { givenChannel, givenSubscription } from '../support/given.ts';
import { sent, sentMany } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { DAY, givenTopic, left, run } from '../support/retention-run.ts';
import { loggedAfter } from '../support/stored.ts';

const types = { event_types: ['delete_message'] };
const bulk = { empty_topic_name: true, bulk_message_deletion: true };
const listening = (realm: TestRealm, as: Person, client_capabilities: object = bulk) =>
  givenClient(realm, as, { ...types, client_capabilities });

/** All ids in these events, in order. */
const idsOf = (events: readonly Event[]): number[] => events.flatMap(({ message_ids }) => message_ids);

describe('delete_message events of retention (4.2)', () => {
  it('are lists for clients with the capability, and single for others', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member, admin]);
    const tea = await sentMany(realm, member, { to: channelId, topic: 'tea' }, 3);
    const cake = await sentMany(realm, member, { to: channelId, topic: 'cake' }, 2);
    realm.pass(2 * DAY);
    const [lists, single] = [await listening(realm, member), await listening(realm, admin, {})];
    await run(realm);
    const about = { type: 'delete_message', message_type: 'stream', stream_id: channelId };
    const events = await lists.poll();
    expect(events).toEqual([
      { id: events[0].id, ...about, topic: 'tea', message_ids: tea },
      { id: events[1].id, ...about, topic: 'cake', message_ids: cake },
    ]);
    const others = await single.poll();
    expect(others.map(({ message_id, topic }) => [message_id, topic])).toEqual([
      ...tea.map((id) => [id, 'tea']),
      ...cake.map((id) => [id, 'cake']),
    ]);
    // Each has an id of its own, so that a client can acknowledge them one by one.
    expect(new Set(others.map(({ id }) => id)).size).toBe(5);
    expect(await lists.poll()).toEqual([]);
    expect(await single.poll()).toEqual([]);
  });

  it('are sent once: a list is not repeated after its acknowledgement, nor lost with the reply to a poll', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member]);
    const ids = await givenTopic(realm, member, channelId, 'tea', 100);
    realm.pass(2 * DAY);
    const client = await listening(realm, member);
    await run(realm);
    const { events } = (await client.ask()).body;
    expect(idsOf(events)).toEqual(ids);
    // The reply was lost, so the client asks once more.
    expect(idsOf(await client.poll())).toEqual(ids);
    expect(await client.poll()).toEqual([]);
  });

  it('reach only users who may see the messages: subscribers, and in protected history those at that time', async () => {
    const realm = await newRealm();
    const { member, admin, moderator, owner, guest } = realm.people;
    const { channelId } = await givenChannel(
      realm,
      { messageRetentionDays: 1, isPrivate: true, historyPublicToSubscribers: false },
      [member],
    );
    const first = await sent(realm, member, { to: channelId });
    await givenSubscription(realm, moderator, channelId);
    const second = await sent(realm, member, { to: channelId });
    realm.pass(2 * DAY);
    await givenSubscription(realm, guest, channelId);
    const clients = await Promise.all(
      [member, moderator, guest, admin, owner].map((person) => listening(realm, person)),
    );
    await run(realm);
    expect(await left(realm, [first, second])).toEqual([]);
    const heard = await Promise.all(clients.map(async (client) => idsOf(await client.poll())));
    expect(heard).toEqual([[first, second], [second], [], [], []]);
  });

  it('of direct messages reach only their participants', async () => {
    const realm = await newRealm({ message_retention_days: 1 });
    const { member, admin, owner } = realm.people;
    const ids = await sentMany(realm, member, { people: [admin] }, 2);
    realm.pass(2 * DAY);
    const [mine, foreign] = [await listening(realm, admin), await listening(realm, owner)];
    await run(realm);
    const events = await mine.poll();
    expect(events).toEqual([
      { id: events[0].id, type: 'delete_message', message_type: 'private', message_ids: ids },
    ]);
    expect(await foreign.poll()).toEqual([]);
  });

  it('leave no hole in the log, and keep earlier events', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { channelId } = await givenChannel(realm, { messageRetentionDays: 1 }, [member]);
    const [first, ...rest] = await sentMany(realm, member, { to: channelId }, 4);
    realm.pass(2 * DAY);
    await run(realm);
    const entries = await loggedAfter(realm, (first as number) - 1);
    const isTold = entries.flatMap((entry) => (entry.kind === 'message' ? entry.id : []));
    expect(isTold).toEqual([first, ...rest]);
    const told = entries.flatMap((entry) => (entry.kind === 'event' ? entry.payload : []));
    // The last event has the new first message of the channel.
    expect(told.pop()).toMatchObject({ type: 'stream', property: 'first_message_id' });
    expect(told.flatMap((payload) => payload.message_ids)).toEqual([first, ...rest]);
  });
});
