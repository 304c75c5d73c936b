import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as updateRealm } from '../../functions/realm/update.ts';
import { handler as add } from '../../functions/subscriptions/add.ts';
import { handler as updateMembers } from '../../functions/userGroups/updateMembers.ts';
import { WHOLE } from '../../shared/log/log.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { edited } from '../support/channel-state.ts';
import { type Client, type Event, givenClient } from '../support/event-queue.ts';
import { givenUser } from '../support/given.ts';
import { createGroup } from '../support/group-state.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { channelIdOf } from '../support/subscription-state.ts';

/** A private channel with shared history that settings open to groups; its creator is the owner. */
async function privateChannel(realm: TestRealm, name: string, settings: object): Promise<number> {
  const { owner } = realm.people;
  const { body } = await realm.call(add, owner, {
    subscriptions: [{ name }],
    invite_only: true,
    history_public_to_subscribers: true,
    ...settings,
  });
  expect(body.msg).toBe('');
  return (await channelIdOf(realm, name)) as number;
}

async function change(
  realm: TestRealm,
  groupId: number,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { body } = await realm.call(updateMembers, realm.people.owner, given, {
    path: { user_group_id: groupId },
  });
  expect(body.msg).toBe('');
}

const listening = (realm: TestRealm, person: Person, capabilities: object = { archived_channels: true }) =>
  givenClient(realm, person, { event_types: ['stream', 'subscription'], client_capabilities: capabilities });

/** All events of a client. A poll ends at a change of permissions until that has settled. */
async function all(client: Client): Promise<Event[]> {
  const events = await client.poll();
  return events.length === 0 ? [] : [...events, ...(await all(client))];
}

/** The events of a client in short form, with their channels. Duplicates change nothing. */
const heard = async (client: Client): Promise<string[]> => {
  const told = (await all(client)).map(({ type, op, streams = [] }) =>
    [type, op, ...streams.map(({ stream_id }: { stream_id: number }) => stream_id)].join(' '),
  );
  return told.filter((event, i) => event !== told[i - 1]);
};

const group = (realm: TestRealm, given: Readonly<Record<string, unknown>> = {}) =>
  createGroup(realm, realm.people.owner, given);
const ids = (...people: readonly Person[]) => people.map(({ userId }) => userId);

describe.concurrent('a user who joins or leaves a group that a private channel names (4.2: can_subscribe_group; wire facts 4.6)', () => {
  it.each(['can_subscribe_group', 'can_add_subscribers_group', 'can_administer_channel_group'])(
    'gets an event that creates the channel by "%s", and later one that deletes it',
    async (setting) => {
      const realm = await newRealm();
      const { member, moderator } = realm.people;
      const groupId = await group(realm);
      const channelId = await privateChannel(realm, 'plan', { [setting]: groupId });
      const [client, other] = [await listening(realm, member), await listening(realm, moderator)];
      await change(realm, groupId, { add: ids(member) });
      const [created, ...rest] = await all(client);
      expect(rest).toEqual([]);
      expect(created).toMatchObject({
        type: 'stream',
        op: 'create',
        streams: [{ stream_id: channelId, name: 'plan', invite_only: true, subscriber_count: 1 }],
      });
      await edited(realm, realm.people.owner, channelId, { description: 'news' });
      expect(await heard(client)).toEqual(['stream update']);
      await change(realm, groupId, { delete: ids(member) });
      const [deleted, ...more] = await all(client);
      expect(more).toEqual([]);
      expect(deleted).toMatchObject({
        op: 'delete',
        stream_ids: [channelId],
        streams: [{ stream_id: channelId }],
      });
      await edited(realm, realm.people.owner, channelId, { description: 'secret', new_name: 'secret' });
      expect(await heard(client)).toEqual([]);
      expect(await heard(other)).toEqual([]);
    },
  );

  it('gets them also through nested groups, even when moving between them', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const inner = await group(realm, { members: ids(member) });
    const middle = await group(realm);
    const outer = await group(realm, { subgroups: [middle] });
    const channelId = await privateChannel(realm, 'plan', { can_subscribe_group: outer });
    const clients = [await listening(realm, member), await listening(realm, moderator)] as const;
    const both = async () => [await heard(clients[0]), await heard(clients[1])];
    const [create, remove] = [`stream create ${channelId}`, `stream delete ${channelId}`];
    await change(realm, middle, { add_subgroups: [inner] });
    expect(await both()).toEqual([[create], []]);
    await change(realm, inner, { add: ids(moderator) });
    expect(await both()).toEqual([[], [create]]);
    await change(realm, inner, { delete: ids(moderator) });
    expect(await both()).toEqual([[], [remove]]);
    await change(realm, middle, { delete_subgroups: [inner] });
    expect(await both()).toEqual([[remove], []]);
    // A group of a role is a group like any other there.
    await change(realm, middle, { add_subgroups: [systemGroups.moderators.id] });
    expect(await both()).toEqual([[], [create]]);
  });

  it('gets no event if nothing changes: the channel visible anyway, a guest, joined and left meanwhile', async () => {
    const realm = await newRealm();
    const { owner, admin, member, moderator, guest } = realm.people;
    const [one, two] = [await group(realm), await group(realm, { members: ids(moderator) })];
    await privateChannel(realm, 'plan', { can_subscribe_group: one, can_administer_channel_group: two });
    await privateChannel(realm, 'settings that open nothing', { can_send_message_group: one });
    const people = [owner, admin, moderator, guest, member];
    const clients = await Promise.all(people.map((person) => listening(realm, person)));
    await change(realm, one, { add: ids(...people) });
    await change(realm, one, { delete: ids(...people) });
    for (const client of clients.slice(0, -1)) expect(await heard(client)).toEqual([]);
    expect(await heard(clients.at(-1) as Client)).toEqual([expect.stringMatching(/^stream delete/)]);
  });

  it('gets archived channels only on clients that handle them (wire facts 14.1)', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const groupId = await group(realm);
    const channelId = await privateChannel(realm, 'plan', { can_subscribe_group: groupId });
    await realm.call(archive, owner, {}, { path: { stream_id: channelId } });
    const [modern, old] = [await listening(realm, member), await listening(realm, member, {})];
    await change(realm, groupId, { add: ids(member) });
    expect(await heard(modern)).toEqual([`stream create ${channelId}`]);
    expect(await heard(old)).toEqual([]);
  });

  it('gets several channels in one event', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groupId = await group(realm);
    const channels = [
      await privateChannel(realm, 'a', { can_subscribe_group: groupId }),
      await privateChannel(realm, 'b', {
        can_add_subscribers_group: {
          direct_members: [],
          direct_subgroups: [groupId, systemGroups.owners.id],
        },
      }),
    ];
    const client = await listening(realm, member);
    await change(realm, groupId, { add: ids(member) });
    const [event] = await all(client);
    const told = event.streams.map(({ stream_id }: { stream_id: number }) => stream_id);
    expect(told.toSorted()).toEqual(channels);
  });
});

describe.concurrent('a user who becomes a full member, or stops being one', () => {
  it('gets events of channels that name full members, when the waiting period changes', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const young = await givenUser(realm, { role: roles.member });
    const old = await givenUser(realm, { dateJoined: '2020-01-01T00:00:00Z' });
    const channelId = await privateChannel(realm, 'plan', {
      can_subscribe_group: systemGroups.fullMembers.id,
    });
    realm.pass(2 * 86_400_000);
    const clients = [await listening(realm, young), await listening(realm, old)] as const;
    for (const [days, told] of [
      [10, `stream delete ${channelId}`],
      [1, `stream create ${channelId}`],
    ] as const) {
      const { body } = await realm.call(updateRealm, owner, { waiting_period_threshold: days });
      expect(body.msg).toBe('');
      expect(await heard(clients[0])).toEqual([told]);
      expect(await heard(clients[1])).toEqual([]);
    }
  });
});

describe.concurrent('the cost of these events', () => {
  it('is nothing for the change itself and for other users, and two round trips for the changed user', async () => {
    const realm = await newRealm();
    const { member, moderator } = realm.people;
    const plain = await group(realm);
    const named = await group(realm);
    for (const name of ['a', 'b', 'c']) await privateChannel(realm, name, { can_subscribe_group: named });
    const callsFor = async (groupId: number): Promise<number> => {
      const container = realm.container();
      await change(container, groupId, { add: ids(member) });
      return container.meter.calls.length;
    };
    const clients = [await listening(realm, member), await listening(realm, moderator)] as const;
    expect(await callsFor(named)).toBe(await callsFor(plain));
    // All has settled by then, so that one look is enough.
    realm.pass(WHOLE);
    const tripsOf = async (client: Client): Promise<number> => {
      const container = realm.container();
      await client.poll({}, container);
      return container.meter.roundTrips;
    };
    const [concerned, other] = [await tripsOf(clients[0]), await tripsOf(clients[1])];
    // One for each of the two changes, and one more for the channels of the second.
    expect(concerned - other).toBe(3);
  });
});
