import { describe, expect, it } from 'vitest';
import { handler as create } from '../../functions/channels/create.ts';
import { handler as update } from '../../functions/channels/update.ts';
import { givenClient } from '../support/event-queue.ts';
import { meanwhile, mishaps, unheard } from '../support/faults.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';
import { channelIdOf, expectConsistent, subscriptionOf } from '../support/subscription-state.ts';

describe('POST /channels/create (companion facts 4.4)', () => {
  it('creates a channel and subscribes the named users, but not the caller', async () => {
    const realm = await newRealm();
    const { admin, guest, member } = realm.people;
    const [client, other] = [await givenClient(realm, guest), await givenClient(realm, member)];
    const { body } = await realm.call(create, member, { name: ' Tea ', subscribers: [guest.userId] });
    expect(body).toEqual({ result: 'success', msg: '', id: await channelIdOf(realm, 'tea') });
    await expectConsistent(realm, body.id, Object.values(realm.people));
    expect(await subscriptionOf(realm, guest, body.id)).toBeDefined();
    expect(await subscriptionOf(realm, member, body.id)).toBeUndefined();
    const said = (events: readonly { type: string; op?: string }[]) =>
      events.map(({ type, op }) => `${type}/${op}`);
    expect(said(await client.poll())).toEqual(['stream/create', 'subscription/add']);
    expect(said(await other.poll())).toEqual(['stream/create', 'subscription/peer_add']);
    const empty = await realm.call(create, admin, { name: 'Cake', subscribers: [], invite_only: true });
    await expectConsistent(realm, empty.body.id, Object.values(realm.people));
  });

  it.each([
    ['a name that is taken', 'owner', { name: 'GENERAL' }, 409, 'CHANNEL_ALREADY_EXISTS'],
    ['an empty name', 'owner', { name: ' ' }, 400, 'BAD_REQUEST'],
    [
      'a private default channel',
      'owner',
      { invite_only: true, is_default_stream: true },
      400,
      'BAD_REQUEST',
    ],
    ['a default channel of a member', 'member', { is_default_stream: true }, 400, 'BAD_REQUEST'],
    ['a guest', 'guest', {}, 400, 'BAD_REQUEST'],
    ['an unknown subscriber', 'owner', { subscribers: [999_999] }, 400, 'BAD_REQUEST'],
    ['names in place of IDs', 'owner', { subscribers: ['owner@example.com'] }, 400, 'BAD_REQUEST'],
    ['no subscribers', 'owner', { subscribers: undefined }, 400, 'REQUEST_VARIABLE_MISSING'],
    ['an update of a group', 'owner', { can_send_message_group: { new: 11 } }, 400, 'BAD_REQUEST'],
  ] as const)('refuses %s, and changes nothing', async (_, as, given, status, code) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const asked = { name: 'Tea', subscribers: [], ...given };
    const { body, ...reply } = await realm.call(create, realm.people[as], asked);
    expect([reply.status, body.code]).toEqual([status, code]);
    expect(await loggedAfter(realm, before)).toEqual([]);
    expect(await channelIdOf(realm, 'Tea')).toBeUndefined();
  });

  it('does not reveal that a hidden channel has the name', async () => {
    const realm = await newRealm();
    const { name } = await givenChannel(realm, { isPrivate: true }, [realm.people.owner]);
    const { status, body } = await realm.call(create, realm.people.member, { name, subscribers: [] });
    expect([status, body.msg]).toEqual([400, 'You do not have permission to do this.']);
  });

  it('creates one channel for two concurrent requests, and for a repeated transaction', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const tea = { name: 'Tea', subscribers: [] };
    const slow = realm.container(meanwhile(() => realm.call(create, admin, tea)));
    expect((await slow.call(create, member, tea)).status).toBe(409);
    const deaf = realm.container(mishaps({ transact: [unheard] }));
    expect((await deaf.call(create, member, { ...tea, name: 'Cake' })).status).toBe(200);
  });

  it('finishes a private channel with many subscribers after a conflict, though its creator cannot read it', async () => {
    const realm = await newRealm();
    const people = await Promise.all(Array.from({ length: 30 }, () => givenUser(realm)));
    const subscribers = people.map(({ userId }) => userId);
    const { member } = realm.people;
    const edit = async (send: () => Promise<unknown>) => {
      const path = { stream_id: (await channelIdOf(realm, 'Tea')) as number };
      expect((await realm.call(update, member, { description: 'Green' }, { path })).status).toBe(200);
      return send();
    };
    const container = realm.container(mishaps({ transact: [undefined, edit] }));
    const { status, body } = await container.call(create, member, {
      name: 'Tea',
      subscribers,
      invite_only: true,
    });
    expect(status).toBe(200);
    await expectConsistent(realm, body.id, people);
    for (const person of people) expect(await subscriptionOf(realm, person, body.id)).toBeDefined();
  });

  it('subscribes more users than one transaction takes', async () => {
    const realm = await newRealm();
    const people = await Promise.all(Array.from({ length: 60 }, () => givenUser(realm)));
    const subscribers = people.map(({ userId }) => userId);
    const { status, body } = await realm.call(create, realm.people.member, { name: 'Tea', subscribers });
    expect(status).toBe(200);
    await expectConsistent(realm, body.id, people);
  });
});
