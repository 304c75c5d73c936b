import { describe, expect, it } from 'vitest';
import { handler as listSubscriptions } from '../../functions/subscriptions/list.ts';
import { handler as create } from '../../functions/users/create.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as list } from '../../functions/users/list.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { personIn } from '../support/accounts.ts';
import { givenChangedChannel, givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';
import { expectConsistent, told } from '../support/subscription-state.ts';

const ada = { email: 'ada@example.com', full_name: 'Ada Lovelace' };

describe('POST /users', () => {
  it('creates an account whose key works at once', async () => {
    const { call, people } = await newRealm();
    const reply = await call(create, people.admin, ada);
    expect(reply.body).toEqual({
      result: 'success',
      msg: '',
      user_id: expect.any(Number),
      api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
    });
    const { body } = await call(getOwn, personIn(reply, ada.email));
    expect(body).toMatchObject({
      user_id: reply.body.user_id,
      email: ada.email,
      full_name: ada.full_name,
      role: roles.member,
      is_active: true,
      is_bot: false,
    });
  });

  it('sends everyone an event, and subscribes the user to the default channels', async () => {
    const realm = await newRealm();
    const { call, people, channels } = realm;
    await givenChannel(realm, { isDefault: true, isArchived: true });
    const before = await lastNumber(realm);
    const reply = await call(create, people.owner, ada);
    const userId = reply.body.user_id;
    const { body } = await call(listSubscriptions, personIn(reply, ada.email));
    expect(body.subscriptions.map(({ name }: { name: string }) => name)).toEqual(['general']);
    expect(await told(realm, before)).toMatchObject([
      {
        seq: userId,
        hearers: { everyone: 'all' },
        payload: {
          type: 'realm_user',
          op: 'add',
          person: { user_id: userId, email: ada.email, is_active: true, profile_data: {} },
        },
      },
      {
        hearers: { everyone: 'all' },
        payload: {
          type: 'user_group',
          op: 'add_members',
          group_id: systemGroups.members.id,
          user_ids: [userId],
        },
      },
      { payload: { op: 'add_members', group_id: systemGroups.fullMembers.id, user_ids: [userId] } },
      { hearers: { users: [userId] }, payload: { type: 'subscription', op: 'add' } },
      {
        hearers: { channel: channels.general, except: [userId] },
        payload: { type: 'subscription', op: 'peer_add', stream_ids: [channels.general], user_ids: [userId] },
      },
    ]);
    const everybody = [...Object.values(people), personIn(reply, ada.email)];
    expect(await expectConsistent(realm, channels.general, everybody)).toContain(userId);
  });

  it('subscribes the user to more default channels than one transaction takes', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    const made = await Promise.all(
      Array.from({ length: 20 }, () => givenChannel(realm, { isDefault: true })),
    );
    const reply = await call(create, people.admin, ada);
    const person = personIn(reply, ada.email);
    const { body } = await call(listSubscriptions, person);
    expect(body.subscriptions).toHaveLength(21);
    for (const { channelId } of made) {
      expect(await expectConsistent(realm, channelId, [person])).toEqual([person.userId]);
    }
  });

  it('subscribes the user to nothing if there are no default channels', async () => {
    const realm = await newRealm();
    const { call, people, channels } = realm;
    await givenChangedChannel(realm, channels.general, { isDefault: false });
    const reply = await call(create, people.admin, ada);
    const { body } = await call(listSubscriptions, personIn(reply, ada.email));
    expect(body.subscriptions).toEqual([]);
  });

  it('gives the requested role', async () => {
    const { call, people } = await newRealm();
    for (const [name, role] of Object.entries(roles)) {
      const email = `${name}-too@example.com`;
      const reply = await call(create, people.owner, { ...ada, email, role });
      expect((await call(getOwn, personIn(reply, email))).body.role, name).toBe(role);
    }
  });

  it('lets only owners make owners', async () => {
    const { call, people } = await newRealm();
    const { status, body } = await call(create, people.admin, { ...ada, role: roles.owner });
    expect([status, body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
  });

  it('refuses users who are not administrators', async () => {
    const { call, people } = await newRealm();
    for (const name of ['moderator', 'member', 'guest', 'bot'] as const) {
      const { status, body } = await call(create, people[name], ada);
      expect([status, body.code], name).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
    }
  });

  it('refuses an address that any other account has, in any case, bots and deactivated ones too', async () => {
    const { call, people } = await newRealm();
    await call(deactivate, people.admin, {}, { path: { user: people.guest.userId } });
    for (const email of [
      'member@example.com',
      'MEMBER@Example.COM',
      'bot@example.com',
      'guest@example.com',
    ]) {
      const { status, body } = await call(create, people.admin, { ...ada, email });
      expect([status, body.code], email).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain(email);
    }
  });

  it.each([
    '',
    '   ',
    'ada',
    '@example.com',
    'ada@',
    'ada@example',
    'a da@example.com',
    'ada@exa mple.com',
    'ada@@example.com',
    'ada@example..com',
    'ada@-example.com',
    '.ada@example.com',
    'ada:lovelace@example.com',
    '"ada"@example.com',
    'Ada <ada@example.com>',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a.'.repeat(125)}com`,
  ])('refuses the address %j', async (email) => {
    const realm = await newRealm();
    const before = await lastNumber(realm);
    const { status, body } = await realm.call(create, realm.people.owner, { ...ada, email });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await loggedAfter(realm, before)).toEqual([]);
  });

  it.each([
    '',
    ' ',
    'a'.repeat(101),
    'Ada*',
    '`Ada`',
    'A\\da',
    'A>da',
    'A"da',
    'ada@home',
    'Ada\u0007',
    'Ada|15',
  ])('refuses the full name %j', async (full_name) => {
    const { call, people } = await newRealm();
    const { status, body } = await call(create, people.owner, { ...ada, full_name });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('accepts unusual names, and trims them', async () => {
    const { call, people } = await newRealm();
    const names = ['😀'.repeat(100), "  Ada d'Arc  ", 'Ada | Byron', 'エイダ'];
    for (const [i, full_name] of names.entries()) {
      const email = `ada${i}@example.com`;
      const reply = await call(create, people.owner, { email, full_name });
      expect((await call(getOwn, personIn(reply, email))).body.full_name).toBe(full_name.trim());
    }
  });

  it.each([
    ['role', 'admin'],
    ['role', 0],
    ['role', 401],
    ['role', '"400"'],
    ['role', 4e99],
  ])('refuses %s %j', async (name, value) => {
    const { call, people } = await newRealm();
    const { status, body } = await call(create, people.owner, { ...ada, [name]: value });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('names missing parameters', async () => {
    const { call, people } = await newRealm();
    for (const name of ['email', 'full_name'] as const) {
      const { [name]: _, ...rest } = ada;
      const { status, body } = await call(create, people.owner, rest);
      expect([status, body.code, body.var_name]).toEqual([400, 'REQUEST_VARIABLE_MISSING', name]);
    }
  });

  it('creates one account for two concurrent requests, and refuses the other with a clear message', async () => {
    const realm = await newRealm();
    const emails = ['ada@example.com', 'ADA@example.com', 'Ada@Example.com', 'ada@example.COM'];
    const replies = await Promise.all(
      emails.map((email) => realm.container().call(create, realm.people.admin, { ...ada, email })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const losers = replies.filter(({ status }) => status === 400);
    for (const { body } of losers) expect(body.msg).toMatch(/already an account/);
    const { body } = await realm.call(list, realm.people.owner);
    const made = body.members.filter(({ full_name }: { full_name: string }) => full_name === ada.full_name);
    expect(made).toHaveLength(1);
    await expectConsistent(realm, realm.channels.general, [
      ...Object.values(realm.people),
      { email: '', apiKey: '', userId: made[0].user_id },
    ]);
  });
});
