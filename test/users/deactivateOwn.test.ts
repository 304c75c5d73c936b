import { expect, it } from 'vitest';
import { handler as deactivateOwn } from '../../functions/users/deactivateOwn.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenBot, givenSubscription, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber, loggedAfter } from '../support/stored.ts';

const leave = (realm: TestRealm, as: Person) => realm.call(deactivateOwn, as);

it('users can deactivate their own account and its bots, whose keys stop working, with events to everybody (companion facts 3.3)', async () => {
  const realm = await newRealm();
  const { owner } = realm.people;
  const person = await givenUser(realm);
  const bot = await givenBot(realm, person);
  await givenSubscription(realm, person, realm.channels.general);
  const client = await givenClient(realm, owner, { event_types: ['realm_user'] });
  expect(await leave(realm, person)).toMatchObject({ status: 200, body: { result: 'success', msg: '' } });
  for (const gone of [person, bot]) expect((await realm.call(getOwn, gone)).status).toBe(401);
  const events = await client.poll();
  for (const { userId } of [person, bot]) {
    expect(events).toContainEqual(
      expect.objectContaining({ op: 'update', person: { user_id: userId, is_active: false } }),
    );
  }
  expect((await leave(realm, person)).status).toBe(401);
});

it.each(['guest', 'admin', 'bot'] as const)('a %s may deactivate their own account', async (name) => {
  const realm = await newRealm();
  expect((await leave(realm, realm.people[name])).status).toBe(200);
});

it('the only owner may not deactivate their own account, but one of two owners may (companion facts 3.3)', async () => {
  const realm = await newRealm();
  const { owner } = realm.people;
  const before = await lastNumber(realm);
  const { status, body } = await leave(realm, owner);
  expect([status, body]).toEqual([
    400,
    {
      result: 'error',
      msg: 'You are the only owner of this organization: make somebody else an owner first.',
      code: 'CANNOT_DEACTIVATE_LAST_USER',
      is_last_owner: true,
      entity: 'organization owner',
    },
  ]);
  expect(await loggedAfter(realm, before)).toEqual([]);
  await givenUser(realm, { role: roles.owner });
  expect((await leave(realm, owner)).status).toBe(200);
});

it('one of the last two owners stays if both deactivate their own accounts at once', async () => {
  const realm = await newRealm();
  const { owner } = realm.people;
  const other = await givenUser(realm, { role: roles.owner });
  const replies = await Promise.all([leave(realm.container(), owner), leave(realm.container(), other)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
});
