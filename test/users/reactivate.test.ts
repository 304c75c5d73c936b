import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as create } from '../../functions/users/create.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as reactivate } from '../../functions/users/reactivate.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, back, mayCall, out, ownersOf, personIn } from '../support/accounts.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { givenChannel, givenSubscription, givenUser } from '../support/given.ts';
import { newRealm, type Person } from '../support/realm.ts';
import { lastNumber, storedCount } from '../support/stored.ts';
import { subscribersOf, subscriptionOf, told } from '../support/subscription-state.ts';

const { members, fullMembers } = systemGroups;

describe('POST /users/{id}/reactivate', () => {
  it('restores the account with its key and its channels, but not its bots', async () => {
    const realm = await newRealm();
    const { owner, member, bot } = realm.people;
    const { general, random } = realm.channels;
    await out(realm, owner, member);
    expect(await subscriptionOf(realm, member, general)).toMatchObject({ dormant: true });
    const before = await lastNumber(realm);
    const { status, body } = await back(realm, owner, member);
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
    expect(await mayCall(realm, member)).toBe(true);
    expect(await mayCall(realm, bot)).toBe(false);
    const peers = (channelId: number) => ({
      hearers: { channel: channelId, except: [member.userId] },
      payload: { type: 'subscription', op: 'peer_add', stream_ids: [channelId], user_ids: [member.userId] },
    });
    expect(await told(realm, before)).toMatchObject([
      peers(general),
      peers(random),
      {
        hearers: { everyone: 'all' },
        payload: {
          type: 'realm_user',
          op: 'update',
          person: { user_id: member.userId, is_active: true },
        },
      },
      ...[members.id, fullMembers.id].map((group_id) => ({
        hearers: { everyone: 'all' },
        payload: { type: 'user_group', op: 'add_members', group_id, user_ids: [member.userId] },
      })),
    ]);
    expect(await subscriptionOf(realm, member, general)).not.toHaveProperty('dormant');
    expect((await storedCount(realm, general))?.subscribers).toBe(5);
    expect(await subscribersOf(realm, general)).toContain(member.userId);
    const sent = { type: 'channel', to: 'random', topic: 'back', content: 'here I am' };
    expect((await realm.call(send, member, sent)).status).toBe(200);
  });

  it('changes nothing of an account that is active, and sends no event', async () => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    expect((await back(realm, realm.people.admin, realm.people.guest)).status).toBe(200);
    expect(await told(realm, before)).toEqual([]);
  });

  it('is allowed to administrators, to the owner of a bot, and for an owner only to owners', async () => {
    const realm = await newRealm();
    const { owner, admin, moderator, member, guest, bot } = realm.people;
    await out(realm, owner, guest);
    await out(realm, owner, bot);
    for (const person of [moderator, member]) {
      expect(answer(await back(realm, person, guest))).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    }
    expect(answer(await back(realm, moderator, bot))).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    expect((await back(realm, member, bot)).status).toBe(200);
    expect((await back(realm, admin, guest)).status).toBe(200);
    const second = await givenUser(realm, { role: roles.owner });
    await out(realm, owner, second);
    expect(answer(await back(realm, admin, second))).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    expect((await back(realm, owner, second)).status).toBe(200);
    expect(await ownersOf(realm)).toBe(2);
  });

  it('gives a bot with a deactivated owner to the user who reactivates it', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const made = await realm.call(createBot, member, {
      full_name: 'Heir',
      short_name: 'heir',
      default_sending_stream: 'random',
    });
    const heir = { email: `heir-bot@${realm.host}`, apiKey: made.body.api_key, userId: made.body.user_id };
    await out(realm, owner, member);
    const before = await lastNumber(realm);
    await back(realm, admin, heir);
    const events = await told(realm, before);
    expect(events.filter(({ payload }) => payload.type === 'realm_user')).toMatchObject([
      { payload: { person: { user_id: heir.userId, is_active: true } } },
      { payload: { person: { user_id: heir.userId, bot_owner_id: admin.userId } } },
    ]);
    const { body } = await realm.call(getOwn, heir);
    expect(body.bot_owner_id).toBe(admin.userId);
    const owned = (ownerId: number) =>
      realm.outside.table.get('bot', { realm: realm.realm, ownerId, userId: heir.userId });
    expect(await owned(member.userId)).toBeUndefined();
    expect(await owned(admin.userId)).toMatchObject({ sendingChannelId: realm.channels.random });
    await back(realm, owner, member);
    await out(realm, owner, admin);
    expect(await mayCall(realm, heir)).toBe(false);
  });

  it('checks for a bot the rules for new ones: the permission, and a unique name', async () => {
    const realm = await newRealm({ can_create_bots_group: 3 });
    const { owner, member, bot } = realm.people;
    await out(realm, owner, bot);
    expect(answer(await back(realm, member, bot))).toEqual([400, 'BAD_REQUEST']);
    await realm.call(create, owner, { email: 'busy@example.com', full_name: 'Busy Bot' });
    const { status, body } = await back(realm, owner, bot);
    expect([status, body.msg]).toEqual([400, expect.stringContaining('Busy Bot')]);
  });

  it('takes effect once for two concurrent requests', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    for (const person of [member, second]) await out(realm, owner, person);
    const before = await lastNumber(realm);
    const replies = await Promise.all(
      [owner, admin, owner, owner].map((as, i) => back(realm.container(), as, i < 2 ? member : second)),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await storedCount(realm, realm.channels.general))?.subscribers).toBe(5);
    expect(await ownersOf(realm)).toBe(2);
    const people = (await told(realm, before)).filter(({ payload }) => payload.type === 'realm_user');
    expect(people).toHaveLength(2);
  });

  it('counts the user once if two requests do the work of one', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const person = await givenUser(realm);
    const channels: number[] = [];
    for (let i = 0; i < 40; i++) channels.push((await givenChannel(realm, {}, [person])).channelId);
    await out(realm, owner, person);
    const overtaken: Mishap = async (send) => {
      expect((await back(realm, admin, person)).status).toBe(200);
      return send();
    };
    for (const transact of [[overtaken], [undefined, overtaken]]) {
      expect((await back(realm.container(mishaps({ transact })), owner, person)).status).toBe(200);
      for (const channelId of channels) {
        expect((await storedCount(realm, channelId))?.subscribers).toBe(1);
        expect(await subscribersOf(realm, channelId)).toEqual([person.userId]);
      }
      await out(realm, owner, person);
    }
  });

  it('ends in the state of the last event, when accounts are deactivated and reactivated at once', async () => {
    const realm = await newRealm();
    const { owner, admin, guest } = realm.people;
    const before = await lastNumber(realm);
    await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        (i % 2 ? back : out)(realm.container(), i % 3 ? owner : admin, guest),
      ),
    );
    const person = (await told(realm, before)).flatMap(({ payload }) =>
      payload.type === 'realm_user' ? [payload.person as { is_active: boolean }] : [],
    );
    const isActive = await mayCall(realm, guest);
    expect(person.at(-1)?.is_active).toBe(isActive);
    expect(person.map(({ is_active }) => is_active)).toEqual(person.map((_, i) => i % 2 === 1));
    expect((await storedCount(realm, realm.channels.general))?.subscribers).toBe(isActive ? 6 : 5);
  });

  it('sends its event after those of earlier changes, however late it is', async () => {
    const realm = await newRealm();
    const { owner, admin, guest } = realm.people;
    for (const person of [guest, await givenUser(realm)]) {
      await out(realm, owner, person);
      const before = await lastNumber(realm);
      const overtaken: Mishap = async (send) => {
        await back(realm, owner, person);
        await out(realm, owner, person);
        return send();
      };
      const container = realm.container(mishaps({ transact: [overtaken] }));
      expect((await back(container, admin, person)).status).toBe(200);
      expect(await mayCall(realm, person)).toBe(true);
      const states = (await told(realm, before)).flatMap(({ payload }) =>
        payload.type === 'realm_user' ? [(payload.person as { is_active: boolean }).is_active] : [],
      );
      expect(states).toEqual([true, false, true]);
    }
    expect((await storedCount(realm, realm.channels.general))?.subscribers).toBe(6);
  });

  it('accepts no other forms of a user id', async () => {
    const realm = await newRealm();
    for (const user of [0, 999_999]) {
      const reply = await realm.call(reactivate, realm.people.owner, {}, { path: { user } });
      expect(answer(reply)).toEqual([400, 'BAD_REQUEST']);
    }
  });

  it('takes 3 round trips, cold and warm, also for a bot', async () => {
    const realm = await newRealm();
    const { owner, guest, bot, moderator } = realm.people;
    await out(realm, owner, moderator);
    const warm = realm.container();
    await back(warm, owner, moderator);
    for (const person of [guest, bot]) {
      await out(realm, owner, person);
      const container = realm.container();
      expect((await back(container, owner, person)).status).toBe(200);
      expect(container.meter.roundTrips).toBe(3);
      await out(realm, owner, person);
      warm.meter.reset();
      expect((await back(warm, owner, person)).status).toBe(200);
      expect(warm.meter.roundTrips).toBe(3);
    }
  });

  it('restores all subscriptions even during concurrent deactivations', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const person = await givenUser(realm);
    const channels: number[] = [];
    for (let i = 0; i < 40; i++) channels.push((await givenChannel(realm, {}, [person])).channelId);
    await out(realm, owner, person);
    // What the first transaction woke falls asleep again before the account comes back with the second one.
    const meanwhile: Mishap = async (send) => {
      expect((await out(realm, admin, person)).status).toBe(200);
      return send();
    };
    const container = realm.container(mishaps({ transact: [undefined, meanwhile] }));
    expect((await back(container, owner, person)).status).toBe(200);
    expect(await mayCall(realm, person)).toBe(true);
    for (const channelId of channels) expect((await storedCount(realm, channelId))?.subscribers).toBe(1);
  });

  it('restores one of two bots with the same name', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const bots: Person[] = [];
    for (const shortName of ['one', 'two']) {
      const { body } = await realm.call(createBot, member, { full_name: 'Twin', short_name: shortName });
      bots.push(personIn({ status: 200, headers: {}, body }, `${shortName}-bot@${realm.host}`));
      await out(realm, owner, bots.at(-1) as Person);
    }
    const replies = await Promise.all(bots.map((bot) => back(realm.container(), owner, bot)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    const awake = await Promise.all(bots.map((bot) => mayCall(realm, bot)));
    expect(awake.filter(Boolean)).toHaveLength(1);
  });

  it('does not restore subscriptions that were ended meanwhile', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const person = await givenUser(realm);
    const channel = await givenChannel(realm, {}, []);
    await givenSubscription(realm, person, channel.channelId);
    await out(realm, owner, person);
    await realm.outside.table.update(
      key('subscription', { realm: realm.realm, userId: person.userId, channelId: channel.channelId }),
      { remove: ['dormant'] },
    );
    await back(realm, owner, person);
    expect((await storedCount(realm, channel.channelId))?.subscribers).toBe(0);
  });
});
