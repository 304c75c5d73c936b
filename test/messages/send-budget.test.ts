import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import {
  givenBot,
  givenChannel,
  givenCrowd,
  givenEmoji,
  givenGroup,
  givenRealmSettings,
  givenUser,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { storedMessage } from '../support/stored.ts';

type Parameters = Readonly<Record<string, unknown>>;

const message = { type: 'channel', to: 'general', topic: 'hi', content: 'hello', queue_id: 'fb67bf8a:1' };

/** A realm with whatever the kinds of send below need, in which everybody has written to the topic already. */
async function prepared(): Promise<TestRealm> {
  const realm = await newRealm();
  const { member, admin, guest } = realm.people;
  await givenGroup(realm, { name: 'cooks', members: [admin] });
  await givenEmoji(realm, 'party');
  for (const as of [member, admin]) await realm.call(send, as, { ...message, local_id: 'first' });
  await realm.call(send, member, { type: 'direct', to: [guest.userId], content: 'x' });
  return realm;
}

const kinds: Readonly<
  Record<string, { readonly parameters: (realm: TestRealm) => Parameters; readonly units: number }>
> = {
  'channel by name': { parameters: () => ({}), units: 9 },
  'channel by id': { parameters: ({ channels }) => ({ to: channels.general }), units: 9 },
  'direct by ids': { parameters: ({ people }) => ({ type: 'direct', to: [people.guest.userId] }), units: 8 },
  'direct by emails': {
    parameters: ({ people }) => ({ type: 'direct', to: [people.guest.email] }),
    units: 8,
  },
  'mention of a user': { parameters: () => ({ content: 'hi @**Adam Admin**' }), units: 9 },
  'mention of a group': { parameters: () => ({ content: 'hi @*cooks*' }), units: 9 },
  'custom emoji': { parameters: () => ({ content: 'hi :party:' }), units: 9 },
  'built-in emoji, and names that mean nothing': {
    parameters: () => ({ content: 'hi :smile: @**Nobody** @*none* #**none** :none:' }),
    units: 9,
  },
  wildcards: { parameters: () => ({ content: '@**all** @**topic**' }), units: 9 },
  'a link to a channel': { parameters: () => ({ content: 'see #**random>hi**' }), units: 9 },
};

describe('DESIGN 7: round trips and write units of a send', { tags: 'units' }, () => {
  it.each(Object.entries(kinds))(
    '%s takes 3 round trips cold and 2 warm',
    async (_, { parameters, units }) => {
      const realm = await prepared();
      const { member } = realm.people;
      const wanted = { ...message, ...parameters(realm) };
      // Once before, so that mentioned users follow the topic already.
      await realm.call(send, member, { ...wanted, local_id: '0' });
      const container = realm.container();
      const { meter } = container;
      const cold = await container.call(send, member, { ...wanted, local_id: '1' });
      expect(cold.body.result).toBe('success');
      expect(meter.roundTrips).toBe(3);
      expect(meter.writeUnits).toBe(units);
      meter.reset();
      const warm = await container.call(send, member, { ...wanted, local_id: '2' });
      expect(warm.body.result).toBe('success');
      expect(meter.roundTrips).toBe(2);
      expect(meter.writeUnits).toBe(units);
    },
  );

  it('a bot takes no more', async () => {
    const realm = await prepared();
    const bot = await givenBot(realm, realm.people.admin);
    await realm.call(send, bot, { ...message, local_id: '0' });
    const container = realm.container();
    await container.call(send, bot, { ...message, local_id: '1' });
    expect(container.meter.roundTrips).toBe(3);
    container.meter.reset();
    await container.call(send, bot, { ...message, local_id: '2' });
    expect(container.meter.roundTrips).toBe(2);
    expect(container.meter.writeUnits).toBe(9);
  });

  it('further items that a message changes cost write units, but no round trips', async () => {
    const realm = await prepared();
    const { member } = realm.people;
    const others: Person[] = [];
    for (let i = 0; i < 3; i++) others.push(await givenUser(realm));
    const { channelId } = await givenChannel(realm, {}, [member, ...others]);
    const container = realm.container();
    // Refused, but now the container knows the caller.
    await container.call(send, member, { ...message, to: channelId, content: ' ' });
    const unitsOf = async (wanted: Parameters): Promise<number> => {
      container.meter.reset();
      const { body } = await container.call(send, member, wanted);
      expect(body.result).toBe('success');
      expect(container.meter.roundTrips).toBe(2);
      return container.meter.writeUnits;
    };
    const { queue_id, ...unnamed } = message;
    const mentions = others.map(({ userId }) => `@**|${userId}**`).join(' ');
    const direct = { type: 'direct', to: [others[0]?.userId] };
    expect({
      'without local_id': await unitsOf({ ...unnamed, to: realm.channels.general }),
      'the first of a topic, which its sender then follows': await unitsOf({ ...unnamed, to: channelId }),
      'three people begin to follow': await unitsOf({ ...unnamed, to: channelId, content: mentions }),
      'the first of a conversation of two': await unitsOf({ ...unnamed, ...direct }),
    }).toEqual({
      'without local_id': 7,
      'the first of a topic, which its sender then follows': 15,
      // Twelve for them, two because the message with their events is longer than a kilobyte.
      'three people begin to follow': 21,
      'the first of a conversation of two': 10,
    });
  });

  it('a send takes the same calls and units with 10 and with 10,000 subscribers', async () => {
    const realm = await newRealm({ can_mention_many_users_group: systemGroups.everyone.id });
    const { member } = realm.people;
    const measured = [];
    for (const size of [10, 10_000]) {
      const { channelId } = await givenChannel(realm, {}, [member]);
      await givenCrowd(realm, channelId, size);
      const wanted = { ...message, to: channelId, content: 'hello @**all**' };
      await realm.call(send, member, { ...wanted, local_id: `${size}.0` });
      const container = realm.container();
      for (const local_id of [`${size}.1`, `${size}.2`]) {
        container.meter.reset();
        expect((await container.call(send, member, { ...wanted, local_id })).body.result).toBe('success');
        measured.push(container.meter.calls.toSorted((a, b) => a.action.localeCompare(b.action)));
      }
    }
    const [coldSmall, warmSmall, coldLarge, warmLarge] = measured;
    expect(coldLarge).toEqual(coldSmall);
    expect(warmLarge).toEqual(warmSmall);
  });

  it('a send takes one more round trip only if memberships or hidden users must be read', async () => {
    const realm = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { guest, admin, member } = realm.people;
    const trips = async (as: Person, parameters: Parameters): Promise<number> => {
      const container = realm.container();
      const { queue_id, ...unnamed } = message;
      await container.call(send, as, { ...unnamed, ...parameters });
      container.meter.reset();
      const { body } = await container.call(send, as, { ...unnamed, ...parameters });
      expect(body.result).toBe('success');
      return container.meter.roundTrips;
    };
    expect(await trips(guest, {})).toBe(2);
    expect(await trips(guest, { content: '@**Adam Admin**' })).toBe(3);
    expect(await trips(guest, { type: 'direct', to: [admin.userId] })).toBe(3);
    expect(await trips(member, { type: 'direct', to: [admin.userId] })).toBe(2);
    const { groupId } = await givenGroup(realm, { members: [admin] });
    await givenRealmSettings(realm, { direct_message_permission_group: groupId });
    expect(await trips(admin, { type: 'direct', to: [member.userId] })).toBe(2);
    expect(await trips(member, { type: 'direct', to: [admin.userId] })).toBe(3);
  });

  it('a send reads one batch of items and one query for each list of groups, however large the organization is', async () => {
    const realm = await prepared();
    const container = realm.container();
    await container.call(send, realm.people.member, { ...message, local_id: '1' });
    container.meter.reset();
    await container.call(send, realm.people.member, { ...message, local_id: '2' });
    const actions = container.meter.calls.map(({ action }) => action).toSorted();
    expect(actions).toEqual(['BatchGet', 'Query', 'TransactWrite', 'Update']);
  });

  it('a message of one line is stored in less than one kilobyte', async () => {
    const realm = await prepared();
    const content = 'The quick brown fox jumps over the lazy dog, and then it jumps back.';
    const wanted = { ...message, topic: 'a topic with some words in it', local_id: '1', content };
    const { body } = await realm.call(send, realm.people.member, wanted);
    const stored = await storedMessage(realm, body.id);
    expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThan(1024);
  });
});
