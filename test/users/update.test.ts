import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as getUser } from '../../functions/users/get.ts';
import { handler as update } from '../../functions/users/update.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { answer, back, change, mayCall, out, ownersOf, personIn } from '../support/accounts.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { lost, mishaps, unheard } from '../support/faults.ts';
import { givenBot, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { told } from '../support/subscription-state.ts';

const userOf = async (realm: TestRealm, { userId }: Person) =>
  (await realm.call(getUser, realm.people.owner, {}, { path: { user: userId } })).body.user;

const roleOf = async (realm: TestRealm, person: Person): Promise<number> =>
  (await userOf(realm, person)).role;

describe('PATCH /users/{id}', () => {
  it('changes the role, and sends everyone an event, with the role groups (wire facts 7)', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const before = await lastNumber(realm);
    const { status, body } = await change(realm, admin, member, { role: roles.moderator });
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
    expect(await roleOf(realm, member)).toBe(roles.moderator);
    const group = (op: string, group_id: number) => ({
      hearers: { everyone: 'all' },
      payload: { type: 'user_group', op, group_id, user_ids: [member.userId] },
    });
    expect(await told(realm, before)).toMatchObject([
      {
        hearers: { everyone: 'all' },
        access: true,
        payload: {
          type: 'realm_user',
          op: 'update',
          person: { user_id: member.userId, role: roles.moderator },
        },
      },
      group('remove_members', systemGroups.members.id),
      group('remove_members', systemGroups.fullMembers.id),
      group('add_members', systemGroups.moderators.id),
    ]);
    const types = ['realm_user_groups'];
    const { state } = await givenClient(realm, guest, { fetch_event_types: types });
    const members = (id: number) =>
      state.realm_user_groups.find((each: { id: number }) => each.id === id).members;
    expect(members(systemGroups.moderators.id)).toContain(member.userId);
    expect(members(systemGroups.members.id)).not.toContain(member.userId);
  });

  it('changes the name, by address too, and both at once', async () => {
    const realm = await newRealm();
    const { admin, member, guest } = realm.people;
    const client = await givenClient(realm, guest);
    const parameters = { full_name: ' Ada ', role: roles.guest };
    const reply = await realm.call(update, admin, parameters, { path: { user: 'MEMBER@example.com' } });
    expect(reply.status).toBe(200);
    expect(await userOf(realm, member)).toMatchObject({
      full_name: 'Ada',
      role: roles.guest,
      is_guest: true,
    });
    const events = await client.poll();
    expect(events[0]).toMatchObject({ person: { user_id: member.userId, role: roles.guest } });
    expect(events.at(-1)).toMatchObject({ person: { user_id: member.userId, full_name: 'Ada' } });
    await sendTo(realm, admin, realm.channels.general, '@**Ada**');
    const mentioned = await givenClient(realm, member, {
      fetch_event_types: ['message', 'update_message_flags'],
    });
    expect(mentioned.state.unread_msgs.mentions).toHaveLength(1);
  });

  it('sends no event for values that stay the same, and lists unknown parameters (wire facts 1.1)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { full_name } = await userOf(realm, member);
    const before = await lastNumber(realm);
    const { body } = await change(realm, admin, member, { full_name, role: roles.member, shoe_size: 42 });
    expect(body).toMatchObject({ result: 'success', ignored_parameters_unsupported: ['shoe_size'] });
    expect(await told(realm, before)).toEqual([]);
  });

  it('is allowed to administrators (specification 5)', async () => {
    const realm = await newRealm();
    const { moderator, member, guest, bot } = realm.people;
    for (const person of [moderator, member, guest, bot]) {
      const reply = await change(realm, person, member, { full_name: 'Ada' });
      expect(answer(reply), person.email).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    }
  });

  it('lets only owners make owners, or change the role of an owner (specification 5)', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    for (const [whom, role] of [
      [member, roles.owner],
      [second, roles.member],
      [admin, roles.owner],
    ] as const) {
      const reply = await change(realm, admin, whom, { role });
      expect(answer(reply)).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    }
    expect(answer(await change(realm, admin, second, { full_name: 'Ada' }))).toEqual([
      400,
      'UNAUTHORIZED_PRINCIPAL',
    ]);
    expect((await change(realm, owner, member, { role: roles.owner })).status).toBe(200);
    expect(await ownersOf(realm)).toBe(3);
    expect((await change(realm, member, second, { role: roles.guest })).status).toBe(200);
    expect(await ownersOf(realm)).toBe(2);
    expect((await change(realm, owner, owner, { role: roles.member })).status).toBe(200);
    expect(await ownersOf(realm)).toBe(1);
  });

  it('takes effect with the next request, in a warm container too', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    expect((await change(realm, admin, member, { full_name: 'Ada' })).status).toBe(200);
    await change(realm, owner, admin, { role: roles.member });
    expect(answer(await change(realm, admin, member, { full_name: 'Bea' }))).toEqual([
      400,
      'UNAUTHORIZED_PRINCIPAL',
    ]);
    await change(realm, owner, member, { role: roles.administrator });
    expect((await change(realm, member, admin, { full_name: 'Bea' })).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a role that does not exist', { role: 500 }],
    ['a role that is a word', { role: 'owner' }],
    ['a role that is text', { role: '"100"' }],
    ['an empty name', { full_name: ' ' }],
    ['a name that is too long', { full_name: 'x'.repeat(101) }],
    ['a name that mentions use', { full_name: 'a@b' }],
  ])('refuses %s', async (_, parameters) => {
    const realm = await newRealm();
    const reply = await change(realm, realm.people.owner, realm.people.member, parameters);
    expect(answer(reply)).toEqual([400, 'BAD_REQUEST']);
  });

  it('accepts no other forms of a user id, and not the service bot', async () => {
    const realm = await newRealm();
    const stored = await realm.outside.table.get('realm', { realm: realm.realm });
    for (const user of [0, 999_999, 'nobody@example.com', stored?.noticeBotId ?? 0]) {
      const reply = await realm.call(update, realm.people.owner, { full_name: 'Ada' }, { path: { user } });
      expect(answer(reply), String(user)).toEqual([400, 'BAD_REQUEST']);
    }
  });

  it('gives no bot the name of another active account, even by two concurrent requests', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const [one, two] = [await givenBot(realm, member), await givenBot(realm, member)];
    const { full_name } = await userOf(realm, member);
    expect(answer(await change(realm, admin, one, { full_name }))).toEqual([400, 'BAD_REQUEST']);
    const replies = await Promise.all(
      [one, two].map((bot) => change(realm.container(), admin, bot, { full_name: 'Robot' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    const made = await realm.call(createBot, member, { full_name: 'Robot', short_name: 'late' });
    expect(made.status).toBe(400);
    expect(personIn(made, '').userId).toBeUndefined();
  });

  it('leaves no trace of the first name in two concurrent changes', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    await Promise.all(
      [owner, admin].map((by, i) => change(realm.container(), by, member, { full_name: `Name ${i}` })),
    );
    const { full_name } = await userOf(realm, member);
    for (const name of ['Name 0', 'Name 1']) {
      const at = key('fullName', { realm: realm.realm, name: name.toLowerCase() });
      const bearers = (await realm.outside.table.get(at))?.users;
      expect([...(bearers ?? [])]).toEqual(name === full_name ? [member.userId] : []);
    }
  });

  it('changes deactivated accounts, which are in no role group and do not count as owners', async () => {
    const realm = await newRealm();
    const { owner, guest } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    await out(realm, owner, second);
    await out(realm, owner, guest);
    const before = await lastNumber(realm);
    expect((await change(realm, owner, second, { role: roles.member })).status).toBe(200);
    expect((await change(realm, owner, guest, { role: roles.owner })).status).toBe(200);
    expect((await told(realm, before)).map(({ payload }) => payload.type)).not.toContain('user_group');
    expect(await ownersOf(realm)).toBe(1);
    await back(realm, owner, guest);
    expect(await ownersOf(realm)).toBe(2);
    await back(realm, owner, second);
    expect(await ownersOf(realm)).toBe(2);
  });

  it.each([
    ['is lost', lost],
    ['works unheard', unheard],
  ])('counts an owner once when the first try %s', async (_, mishap) => {
    const realm = await newRealm();
    const container = realm.container(mishaps({ transact: [mishap] }));
    const reply = await change(container, realm.people.owner, realm.people.member, { role: roles.owner });
    expect(reply.status).toBe(200);
    expect(await ownersOf(realm)).toBe(2);
  });
});

describe('the last owner', () => {
  it('cannot be demoted', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    await givenUser(realm, { role: roles.owner, isBot: true, botType: 1, ownerId: owner.userId });
    expect(answer(await change(realm, owner, owner, { role: roles.member }))).toEqual([400, 'BAD_REQUEST']);
    expect((await change(realm, owner, owner, { role: roles.owner, full_name: 'Still' })).status).toBe(200);
    expect(await ownersOf(realm)).toBe(1);
  });

  it('stays one, however many demote or deactivate each other at once', async () => {
    for (let round = 0; round < 4; round++) {
      const realm = await newRealm();
      const owners = [realm.people.owner];
      for (let i = 0; i < 3; i++) owners.push(await givenUser(realm, { role: roles.owner }));
      await Promise.all(
        owners.map((owner, i) => {
          const whom = owners[(i + 1) % owners.length] as Person;
          return i % 2 === round % 2
            ? change(realm.container(), owner, whom, { role: roles.member })
            : out(realm.container(), owner, whom);
        }),
      );
      let left = 0;
      for (const owner of owners) {
        const isOwner = (await mayCall(realm, owner)) && (await stored(realm, owner)) === roles.owner;
        if (isOwner) left++;
      }
      expect(left).toBeGreaterThanOrEqual(1);
      expect(await ownersOf(realm)).toBe(left);
    }
  });

  it('is counted correctly when two requests demote or promote one user at once', async () => {
    for (let round = 0; round < 3; round++) {
      const realm = await newRealm();
      const { owner, member } = realm.people;
      const [second, third] = [
        await givenUser(realm, { role: roles.owner }),
        await givenUser(realm, { role: roles.owner }),
      ];
      const twice = (whom: Person, wanted: readonly number[]) =>
        Promise.all(
          wanted.map((role, i) => change(realm.container(), [owner, second][i] as Person, whom, { role })),
        );
      await twice(third, [roles.member, roles.guest]);
      expect(await ownersOf(realm)).toBe(2);
      await twice(member, [roles.owner, roles.owner]);
      expect(await ownersOf(realm)).toBe(3);
    }
  });

  it('stays one when the last two demote themselves at once', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    const replies = await Promise.all([
      change(realm.container(), owner, owner, { role: roles.member }),
      change(realm.container(), second, second, { role: roles.guest }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await ownersOf(realm)).toBe(1);
  });

  const stored = async ({ outside, realm }: TestRealm, { userId }: Person) =>
    (await outside.table.get('user', { realm, userId }))?.role;
});
