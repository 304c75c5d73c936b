import { beforeEach, describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as addAlertWords } from '../../functions/users/addAlertWords.ts';
import { handler as create } from '../../functions/users/create.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as listUsers } from '../../functions/users/list.ts';
import { handler as mute } from '../../functions/users/mute.ts';
import { handler as reactivate } from '../../functions/users/reactivate.ts';
import { handler as update } from '../../functions/users/update.ts';
import { SETTLE } from '../../shared/log/log.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { BatchGetCommand, QueryCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { createField, filled, types } from '../support/field-state.ts';
import { givenChangedUser, givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const everybody = { fetch_event_types: ['realm_user'], client_capabilities: { user_list_incomplete: true } };

/** What a registration says of people. */
async function peopleFor(realm: TestRealm, as: Person) {
  const { body } = await realm.call(register, as, everybody);
  expect(body.msg).toBe('');
  const { realm_users, realm_non_active_users, cross_realm_bots } = body;
  return { realm_users, realm_non_active_users, cross_realm_bots };
}

const at = ({ userId }: Person) => ({ path: { user: userId } });

let realm: TestRealm;
/** A container that remembers, and how often it has read the list of people. */
let warm: TestRealm;
let lists: number;
/** What happens when the warm container asks for something, before and after the store answers. */
let around: (command: object, send: () => Promise<unknown>) => Promise<unknown>;

const isList = (command: object): boolean =>
  command instanceof QueryCommand &&
  Object.values(command.input.ExpressionAttributeValues ?? {}).includes(partition('user', realm));

const isOfVersion = (command: object): boolean =>
  command instanceof BatchGetCommand &&
  JSON.stringify(command.input.RequestItems).includes(partition('listVersions', realm));

const counting =
  (send: Send): Send =>
  (command) => {
    if (isList(command)) lists++;
    return around(command, () => send(command));
  };

beforeEach(async () => {
  realm = await newRealm();
  lists = 0;
  around = (_, send) => send();
  warm = realm.container(counting, {
    // What was written last is settled at once.
    wait: async (ms) => realm.pass(ms),
  });
  await peopleFor(warm, realm.people.member);
  expect(lists).toBe(1);
});

describe('a container that has registered somebody', () => {
  it('reads the version of the list of people, not the list, for all others', async () => {
    const { owner, admin, guest } = realm.people;
    for (const person of [owner, admin, guest]) {
      expect(await peopleFor(warm, person)).toEqual(await peopleFor(realm.container(), person));
    }
    expect(lists).toBe(1);
  });

  it('makes no further round trip', async () => {
    const { moderator } = realm.people;
    await warm.call(getOwn, moderator);
    warm.meter.reset();
    await peopleFor(warm, moderator);
    expect([warm.meter.roundTrips, lists]).toEqual([2, 1]);
  });

  it('shows guests only the people whom they know', async () => {
    const open = await newRealm({ can_access_all_users_group: systemGroups.members.id });
    const { owner, guest } = open.people;
    const stranger = await givenUser(open);
    const shared = open.container();
    const idsFor = async (person: Person) =>
      (await peopleFor(shared, person)).realm_users.map(({ user_id }: { user_id: number }) => user_id);
    expect(await idsFor(owner)).toContain(stranger.userId);
    expect(await idsFor(guest)).not.toContain(stranger.userId);
    expect(await idsFor(guest)).toContain(owner.userId);
    expect(await idsFor(owner)).toContain(stranger.userId);
  });

  const changes: Readonly<Record<string, (person: Person, owner: Person) => Promise<unknown>>> = {
    'an account is created': (_, owner) =>
      realm.call(create, owner, { email: 'new@example.com', full_name: 'New' }),
    'a bot is created': (person) => realm.call(createBot, person, { full_name: 'Bot', short_name: 'bot' }),
    'a name changes': (person, owner) => realm.call(update, owner, { full_name: 'Changed' }, at(person)),
    'a role changes': (person, owner) => realm.call(update, owner, { role: 300 }, at(person)),
    'an account is deactivated': (person, owner) => realm.call(deactivate, owner, {}, at(person)),
    'a time zone changes': (person) => realm.call(updateSettings, person, { timezone: 'Europe/Vienna' }),
    'a profile changes': async (person) => {
      const id = await createField(realm, types.shortText);
      await filled(realm, person, id, 'told');
    },
  };

  it.each(Object.entries(changes))('knows it at once when %s', async (_, change) => {
    const { owner } = realm.people;
    const person = await givenUser(realm);
    const before = await peopleFor(warm, owner);
    await change(person, owner);
    const after = await peopleFor(warm, owner);
    expect(after).not.toEqual(before);
    expect(after).toEqual(await peopleFor(realm.container(), owner));
  });

  it('knows it at once when an account comes back', async () => {
    const { owner } = realm.people;
    const person = await givenUser(realm);
    await givenChangedUser(realm, person, { isActive: false });
    const before = await peopleFor(warm, owner);
    await realm.call(reactivate, owner, {}, at(person));
    expect((await peopleFor(warm, owner)).realm_users).toHaveLength(before.realm_users.length + 1);
  });

  it('does not read the list for what others do not see', async () => {
    const { member, admin } = realm.people;
    await realm.call(mute, member, {}, { path: { user: admin.userId } });
    await realm.call(addAlertWords, member, { alert_words: ['lunch'] });
    const { name } = await givenChannel(realm);
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    await peopleFor(warm, member);
    expect(lists).toBe(1);
  });

  it('does not lose a change made while it reads the list', async () => {
    const { owner, member } = realm.people;
    await realm.call(update, owner, { full_name: 'Second' }, at(member));
    let changing: Promise<unknown> | undefined;
    around = async (command, send) => {
      const answer = await send();
      if (!isList(command)) return answer;
      changing ??= realm.call(update, owner, { full_name: 'Third' }, at(member));
      await changing;
      return answer;
    };
    await peopleFor(warm, owner);
    expect(changing).toBeDefined();
    expect(await peopleFor(warm, owner)).toEqual(await peopleFor(realm.container(), owner));
  });
});

it('a container does not take a list for newer than it is', async () => {
  const { owner, member } = realm.people;
  const listed = Promise.withResolvers<void>();
  let changing: Promise<unknown> | undefined;
  // The list is read before somebody changes, and its version after that.
  const between =
    (send: Send): Send =>
    async (command) => {
      if (isOfVersion(command)) await listed.promise;
      const answer = await send(command);
      if (!isList(command)) return answer;
      changing ??= realm.call(update, owner, { full_name: 'Changed' }, at(member));
      await changing;
      listed.resolve();
      return answer;
    };
  const container = realm.container(between);
  const fresh = realm.container();
  expect(await peopleFor(container, owner)).not.toEqual(await peopleFor(fresh, owner));
  expect(await peopleFor(container, owner)).toEqual(await peopleFor(fresh, owner));
});

it('GET /users remembers a list whose last change it has known for a while', async () => {
  const reads = async () => {
    const before = lists;
    const { body } = await warm.call(listUsers, realm.people.owner);
    expect(body.members.length).toBeGreaterThan(3);
    return lists - before;
  };
  warm = warm.container(counting);
  await givenUser(realm);
  expect(await reads()).toBe(1);
  realm.pass(SETTLE);
  expect([await reads(), await reads()]).toEqual([1, 0]);
});
