import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as listMembers } from '../../functions/channels/listMembers.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { loadOwnedBots } from '../../shared/domain/account/bot.ts';
import type { Channel } from '../../shared/model/channel/channel.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { MAX_BOTS } from '../../shared/model/user/activation.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, back, mayCall, out, ownersOf } from '../support/accounts.ts';
import { lost, type Mishap, mishaps, unheard } from '../support/faults.ts';
import { givenBot, givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber, storedCount } from '../support/stored.ts';
import { subscribersOf, told } from '../support/subscription-state.ts';

const join = (realm: TestRealm, as: Person, { name }: Channel, person = as): Promise<Reply> =>
  realm.call(subscribe, as, { subscriptions: [{ name }], principals: [person.userId] });

async function isActive({ realm, outside }: TestRealm, userId: number): Promise<boolean | undefined> {
  const stored = await outside.table.get('user', { realm, userId });
  return stored?.isActive;
}

describe('DELETE /users/{id}', () => {
  it('deactivates the account and its bots at once, in a warm container too', async () => {
    const realm = await newRealm();
    const { owner, member, bot } = realm.people;
    expect(await mayCall(realm, member)).toBe(true);
    expect(await mayCall(realm, bot)).toBe(true);
    const { status, body } = await out(realm, owner, member);
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
    for (const person of [member, bot])
      expect(answer(await realm.call(getOwn, person))).toEqual([401, 'UNAUTHORIZED']);
    expect(await mayCall(realm, owner)).toBe(true);
  });

  it('sends everyone an event, and the lower counts of subscribers of the channels', async () => {
    const realm = await newRealm();
    const { admin, member, bot, guest } = realm.people;
    const { general, random } = realm.channels;
    const before = await lastNumber(realm);
    await out(realm, admin, member);
    const gone = [member.userId, bot.userId];
    const person = (userId: number) => ({
      hearers: { everyone: 'all' },
      payload: { type: 'realm_user', op: 'update', person: { user_id: userId, is_active: false } },
    });
    const { members, fullMembers } = systemGroups;
    const leaves = (userId: number) =>
      [members.id, fullMembers.id].map((group_id) => ({
        hearers: { everyone: 'all' },
        payload: { type: 'user_group', op: 'remove_members', group_id, user_ids: [userId] },
      }));
    const peers = (channelId: number) => ({
      hearers: { channel: channelId, except: gone },
      payload: { type: 'subscription', op: 'peer_remove', stream_ids: [channelId], user_ids: gone },
    });
    expect(await told(realm, before)).toMatchObject([
      person(member.userId),
      ...leaves(member.userId),
      person(bot.userId),
      ...leaves(bot.userId),
      peers(general),
      peers(random),
    ]);
    const { body } = await realm.call(listMembers, guest, {}, { path: { stream_id: general } });
    expect(body.subscribers).toHaveLength(4);
    expect((await storedCount(realm, general))?.subscribers).toBe(4);
    expect((await storedCount(realm, random))?.subscribers).toBe(3);
  });

  it('lets an administrator deactivate their own account', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    expect((await out(realm, admin, admin)).status).toBe(200);
    expect(await mayCall(realm, admin)).toBe(false);
  });

  it('is allowed to administrators, and to the owner of a bot', async () => {
    const realm = await newRealm();
    const { moderator, member, guest, bot, admin } = realm.people;
    for (const person of [moderator, member, guest, bot]) {
      expect(answer(await out(realm, person, guest)), person.email).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    }
    const own = await givenBot(realm, moderator);
    expect(answer(await out(realm, member, own))).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    expect((await out(realm, moderator, own)).status).toBe(200);
    expect(await mayCall(realm, own)).toBe(false);
    expect((await out(realm, admin, bot)).status).toBe(200);
  });

  it('lets only owners deactivate owners', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    expect(answer(await out(realm, admin, second))).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    expect((await out(realm, owner, second)).status).toBe(200);
    expect(await ownersOf(realm)).toBe(1);
  });

  it('keeps the last owner', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    expect(answer(await out(realm, owner, owner))).toEqual([400, 'BAD_REQUEST']);
    const second = await givenUser(realm, { role: roles.owner });
    expect((await out(realm, second, owner)).status).toBe(200);
    expect(answer(await out(realm, second, second))).toEqual([400, 'BAD_REQUEST']);
    expect((await back(realm, second, owner)).status).toBe(200);
    expect((await out(realm, second, second)).status).toBe(200);
    expect(await mayCall(realm, owner)).toBe(true);
    expect(await ownersOf(realm)).toBe(1);
  });

  it('does not count bots among the owners', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenUser(realm, { role: roles.owner, isBot: true, botType: 1, ownerId: owner.userId });
    expect(answer(await out(realm, owner, owner))).toEqual([400, 'BAD_REQUEST']);
  });

  it('keeps one owner, however many of them deactivate each other at once', async () => {
    for (let round = 0; round < 3; round++) {
      const realm = await newRealm();
      const owners = [realm.people.owner];
      for (let i = 0; i < 3; i++) owners.push(await givenUser(realm, { role: roles.owner }));
      await Promise.all(
        owners.map((owner, i) => out(realm.container(), owner, owners[(i + 1) % owners.length] as Person)),
      );
      const left = await Promise.all(owners.map((owner) => mayCall(realm, owner)));
      expect(left.filter(Boolean).length).toBeGreaterThanOrEqual(1);
      expect(await ownersOf(realm)).toBe(left.filter(Boolean).length);
    }
  });

  it('never lets the last two owners deactivate their own accounts at the same time', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    const replies = await Promise.all(
      [owner, second].map((person) => out(realm.container(), person, person)),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await ownersOf(realm)).toBe(1);
  });

  it('accepts no other forms of a user id', async () => {
    const realm = await newRealm();
    const stored = await realm.outside.table.get('realm', { realm: realm.realm });
    for (const user of [0, 999_999, stored?.noticeBotId ?? 0]) {
      const reply = await realm.call(deactivate, realm.people.owner, {}, { path: { user } });
      expect(answer(reply), String(user)).toEqual([400, 'BAD_REQUEST']);
    }
  });

  it('refuses a deactivated user, also to the second of two concurrent requests', async () => {
    const realm = await newRealm();
    const { owner, admin, guest } = realm.people;
    const replies = await Promise.all([owner, admin].map((person) => out(realm.container(), person, guest)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(answer(await out(realm, owner, guest))).toEqual([400, 'BAD_REQUEST']);
    expect((await storedCount(realm, realm.channels.general))?.subscribers).toBe(5);
  });

  it('leaves no active bot that is created at the same time', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const make = (i: number) =>
      realm.container().call(createBot, member, { full_name: `Late ${i}`, short_name: `late${i}` });
    const [made] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, (_, i) => make(i))),
      out(realm.container(), owner, member),
    ]);
    for (const { status, body } of made) {
      if (status === 200) expect(await isActive(realm, body.user_id)).toBe(false);
    }
  });

  interface Place {
    readonly realm: TestRealm;
    /** A channel in which neither the member nor their bot is. */
    readonly channel: Channel;
    /** A bot of the member's that is out. */
    readonly asleep: Person;
  }

  it.each<[string, (place: Place) => Promise<unknown>]>([
    ['a bot that is made', ({ realm }) => givenBot(realm, realm.people.member)],
    ['a bot that comes back', ({ realm, asleep }) => back(realm, realm.people.member, asleep)],
    ['a channel that they join', ({ realm, channel }) => join(realm, realm.people.member, channel)],
    [
      'a channel that they are put into',
      ({ realm, channel }) => join(realm, realm.people.owner, channel, realm.people.member),
    ],
    [
      'a channel that their bot is put into',
      ({ realm, channel }) => join(realm, realm.people.owner, channel, realm.people.bot),
    ],
  ])('suspends also what the user gets at any moment of the deactivation: %s', async (_, happen) => {
    // After a read is before what comes next.
    const moments = [
      ['before', 'get'],
      ['before', 'query'],
      ['before', 'transact'],
      ['after', 'transact'],
    ] as const;
    for (const [order, kind] of moments) {
      let happened = true;
      for (let turn = 0; happened; turn++) {
        const realm = await newRealm();
        const { owner, member, bot } = realm.people;
        const channel = await givenChannel(realm);
        const asleep = await givenBot(realm, member);
        await out(realm, owner, asleep);
        happened = false;
        const meanwhile: Mishap = async (send) => {
          happened = true;
          if (order === 'before') await happen({ realm, channel, asleep });
          const seen = await send();
          if (order === 'after') await happen({ realm, channel, asleep }).catch(() => {});
          return seen;
        };
        const unharmed = Array.from({ length: turn }, () => undefined);
        const container = realm.container(mishaps({ [kind]: [...unharmed, meanwhile] }));
        expect((await out(container, owner, member)).status).toBe(200);
        const where = `${order} ${kind} ${turn}`;
        for (const { userId } of await loadOwnedBots(realm.outside.table, realm.realm, member.userId)) {
          expect(await isActive(realm, userId), where).toBe(false);
        }
        for (const { channelId } of [channel, { channelId: realm.channels.general }]) {
          const listed = await subscribersOf(realm, channelId);
          expect(
            listed.filter((id) => [member.userId, bot.userId].includes(id)),
            where,
          ).toEqual([]);
          expect((await storedCount(realm, channelId))?.subscribers, where).toBe(listed.length);
        }
        expect(happened || turn > 0, where).toBe(true);
      }
    }
  });

  it('restores everything for a user who is reactivated halfway, and can deactivate them again', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const person = await givenUser(realm);
    const channels: number[] = [];
    for (let i = 0; i < 40; i++) channels.push((await givenChannel(realm, {}, [person])).channelId);
    const backMeanwhile: Mishap = async (send) => {
      expect((await back(realm, admin, person)).status).toBe(200);
      return send();
    };
    const container = realm.container(mishaps({ transact: [undefined, backMeanwhile] }));
    expect((await out(container, owner, person)).status).toBe(200);
    expect(await mayCall(realm, person)).toBe(false);
    for (const channelId of channels) expect((await storedCount(realm, channelId))?.subscribers).toBe(0);
  });

  it('deactivates an account with more channels than one transaction takes', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const person = await givenUser(realm);
    const channels = [];
    for (let i = 0; i < 40; i++) channels.push((await givenChannel(realm, {}, [person])).channelId);
    // The second transaction is lost for good: the account is out all the same.
    const broken = realm.container((send) => {
      let seen = 0;
      return async (command) => {
        const isTransaction = command.constructor.name === 'TransactWriteCommand';
        if (isTransaction && ++seen >= 2) throw new Error('the function dies');
        return send(command);
      };
    });
    expect((await broken.call(deactivate, owner, {}, { path: { user: person.userId } })).status).toBe(500);
    expect(await mayCall(realm, person)).toBe(false);
    // To repeat it does the rest, and nothing twice.
    expect((await out(realm, owner, person)).status).toBe(200);
    expect(answer(await out(realm, owner, person))).toEqual([400, 'BAD_REQUEST']);
    for (const channelId of channels) {
      expect(await subscribersOf(realm, channelId)).toEqual([]);
      expect((await storedCount(realm, channelId))?.subscribers).toBe(0);
    }
    expect((await back(realm, owner, person)).status).toBe(200);
    for (const channelId of channels) {
      expect(await subscribersOf(realm, channelId)).toEqual([person.userId]);
      expect((await storedCount(realm, channelId))?.subscribers).toBe(1);
    }
  });

  it('uncounts the user once if two requests finish the work of one', async () => {
    const realm = await newRealm();
    const { owner, admin } = realm.people;
    const person = await givenUser(realm);
    const channels: number[] = [];
    for (let i = 0; i < 40; i++) channels.push((await givenChannel(realm, {}, [person])).channelId);
    const overtaken: Mishap = async (send) => {
      expect((await out(realm, admin, person)).status).toBe(200);
      return send();
    };
    const container = realm.container(mishaps({ transact: [undefined, overtaken] }));
    expect(answer(await out(container, owner, person))).toEqual([400, 'BAD_REQUEST']);
    for (const channelId of channels) expect((await storedCount(realm, channelId))?.subscribers).toBe(0);
  });

  it.each([
    ['is lost', { transact: [lost] }],
    ['works unheard', { transact: [unheard] }],
  ])('takes effect once when the first try %s', async (_, plan) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const container = realm.container(mishaps(plan));
    expect((await out(container, realm.people.owner, realm.people.guest)).status).toBe(200);
    expect((await storedCount(realm, realm.channels.general))?.subscribers).toBe(5);
    const types = (await told(realm, before)).map(({ payload }) => payload.type);
    expect(types).toEqual(['realm_user', 'user_group', 'subscription']);
  });

  it('deactivates as many bots as somebody can have', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const bots = await Promise.all(Array.from({ length: MAX_BOTS }, () => givenBot(realm, member)));
    expect((await out(realm, owner, member)).status).toBe(200);
    const stored = await realm.outside.table.getMany(
      bots.map(({ userId }) => key('user', { realm: realm.realm, userId })),
    );
    expect(stored.filter(({ isActive }) => isActive)).toEqual([]);
  });

  it('takes 3 round trips, cold and warm, with bots and without', async () => {
    const realm = await newRealm();
    const { owner, guest, member, moderator } = realm.people;
    await givenBot(realm, member);
    const cold = [guest, member];
    const warm = realm.container();
    await out(warm, owner, moderator);
    for (const person of cold) {
      const container = realm.container();
      expect((await out(container, owner, person)).status).toBe(200);
      expect(container.meter.roundTrips).toBe(3);
      await back(realm, owner, person);
      warm.meter.reset();
      expect((await out(warm, owner, person)).status).toBe(200);
      expect(warm.meter.roundTrips).toBe(3);
    }
  });
});
