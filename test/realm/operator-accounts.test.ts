import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as addDomain } from '../../functions/domains/add.ts';
import { handler as updateRealm } from '../../functions/realm/update.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { handler as list } from '../../functions/users/list.ts';
import { addPersonAsOperator, renewKeyAsOperator } from '../../shared/domain/account/operator.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { mayCall } from '../support/accounts.ts';
import { mishaps, requestOf, unheard } from '../support/faults.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { refusalOf } from '../support/service.ts';
import { lastNumber } from '../support/stored.ts';
import { expectConsistent, told } from '../support/subscription-state.ts';

const grace = { email: 'Grace@Example.com', fullName: ' Grace Hopper ', role: roles.moderator };

const add = ({ outside, realm }: TestRealm, more: object = {}) =>
  addPersonAsOperator(outside, realm, { ...grace, ...more });
const renew = ({ outside, realm }: TestRealm, email: string) => renewKeyAsOperator(outside, realm, email);

describe('an account that the operator makes', () => {
  it('is announced to everybody, subscribed, and its key works at once', async () => {
    const realm = await newRealm();
    const { call, channels } = realm;
    const before = await lastNumber(realm);
    const made = await add(realm);
    expect((await call(getOwn, made)).body).toMatchObject({
      user_id: made.userId,
      email: 'Grace@Example.com',
      full_name: 'Grace Hopper',
      role: roles.moderator,
    });
    expect(await told(realm, before)).toMatchObject([
      { payload: { type: 'realm_user', op: 'add', person: { user_id: made.userId } } },
      { payload: { type: 'user_group', op: 'add_members', group_id: systemGroups.moderators.id } },
      { hearers: { users: [made.userId] }, payload: { type: 'subscription', op: 'add' } },
      { payload: { type: 'subscription', op: 'peer_add', user_ids: [made.userId] } },
    ]);
    expect(await expectConsistent(realm, channels.general, [...Object.values(realm.people), made])).toContain(
      made.userId,
    );
  });

  it('may be an owner, and counts as one', async () => {
    const realm = await newRealm();
    const made = await add(realm, { role: roles.owner });
    const { status } = await realm.call(deactivate, made, {}, { path: { user: realm.people.owner.userId } });
    expect(status).toBe(200);
  });

  it('is refused without an event if the address is taken, invalid, or outside of the domains', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    await call(addDomain, people.owner, { domain: 'corp.test', allow_subdomains: false });
    await call(updateRealm, people.owner, { emails_restricted_to_domains: true });
    const before = await lastNumber(realm);
    expect(await refusalOf(add(realm, { email: 'x@example.com' }))).toContain("Addresses at 'example.com'");
    expect(await refusalOf(add(realm, { email: 'x' }))).toBe('Enter a valid email address.');
    expect(await refusalOf(add(realm, { fullName: ' ' }))).toBe('A full name must not be empty.');
    await call(updateRealm, people.owner, { emails_restricted_to_domains: false });
    expect(await refusalOf(add(realm, { email: 'MEMBER@example.com' }))).toBe(
      "There is already an account with the address 'MEMBER@example.com'.",
    );
    expect((await told(realm, before)).map(({ payload }) => payload.type)).toEqual(['realm']);
  });

  it('is created once by two concurrent commands, and the second is refused', async () => {
    const realm = await newRealm();
    const settled = await Promise.allSettled([add(realm.container()), add(realm.container())]);
    const made = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const lost = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []));
    expect(lost).toEqual(["There is already an account with the address 'Grace@Example.com'."]);
    expect(made).toHaveLength(1);
    for (const person of made) expect(await mayCall(realm, person)).toBe(true);
    const { body } = await realm.call(list, realm.people.owner);
    const emails = body.members.map(({ email }: { email: string }) => email.toLowerCase());
    expect(emails.filter((email: string) => email === 'grace@example.com')).toHaveLength(1);
  });
});

describe('a key that the operator renews', () => {
  it('works at once, and the old one no longer, even in a container that remembers it', async () => {
    const realm = await newRealm();
    const { people } = realm;
    for (const person of [people.owner, people.guest, people.bot]) {
      expect(await mayCall(realm, person)).toBe(true);
      const renewed = await renew(realm, person.email.toUpperCase());
      expect(renewed).toMatchObject({ email: person.email, userId: person.userId });
      expect([await mayCall(realm, person), await mayCall(realm, renewed)]).toEqual([false, true]);
    }
    const { body } = await realm.call(createBot, people.member, {
      full_name: 'Hook',
      short_name: 'hook',
      bot_type: 2,
    });
    const [hook] = (await realm.call(list, people.member)).body.members.filter(
      ({ user_id }: { user_id: number }) => user_id === body.user_id,
    );
    expect((await renew(realm, hook.email)).apiKey).not.toBe(body.api_key);
  });

  it('is refused for an account that cannot use it', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    await call(deactivate, people.owner, {}, { path: { user: people.guest.userId } });
    const words = [
      ['guest@example.com', "The account 'guest@example.com' is deactivated."],
      [
        'nobody@example.com',
        "There is no account with the address 'nobody@example.com' in this organization.",
      ],
      ['notification-bot@parlance.invalid', 'The bot of the service itself cannot sign in.'],
      ['', 'Enter a valid email address.'],
    ] as const;
    for (const [email, text] of words) expect(await refusalOf(renew(realm, email))).toBe(text);
  });

  it('is refused to the slower of two commands, and the key of the faster one works', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    let faster: Awaited<ReturnType<typeof renew>> | undefined;
    const slow = realm.container((send) => async (command) => {
      if (requestOf(command) === 'transact') faster = await renew(realm, member.email);
      return send(command);
    });
    expect(await refusalOf(renew(slow, member.email))).toBe(
      "The key of 'member@example.com' was changed at the same moment: try again.",
    );
    expect(faster && (await mayCall(realm, faster))).toBe(true);
  });

  it('is the one that was printed, even if the reply of the store was lost', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const renewed = await renew(realm.container(mishaps({ transact: [unheard, unheard] })), member.email);
    expect(await mayCall(realm, renewed)).toBe(true);
  });
});
