import { describe, expect, it } from 'vitest';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as inviteLink } from '../../functions/invites/createLink.ts';
import { handler as listInvites } from '../../functions/invites/list.ts';
import { handler as revoke } from '../../functions/invites/revoke.ts';
import { handler as fetchMessages } from '../../functions/messages/list.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as deactivateGroup } from '../../functions/userGroups/deactivate.ts';
import { handler as listUsers } from '../../functions/users/list.ts';
import { addKey } from '../../shared/domain/account/api-key.ts';
import { type Joiner, joinByInvitation } from '../../shared/domain/account/join.ts';
import { signInWithPassword } from '../../shared/domain/account/sign-in.ts';
import type { Refusal } from '../../shared/kernel/errors.ts';
import type { Queues } from '../../shared/kernel/outside.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { directGroups } from '../../shared/model/user/caller.ts';
import { change, out } from '../support/accounts.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChangedChannel, givenChannel, givenGroup, givenRealmSettings } from '../support/given.ts';
import { tokenIn } from '../support/mailbox.ts';
import { workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'twelve grey herons';
const ADA = { fullName: 'Ada Ant', password: PASSWORD };

const queues: Queues = { send: async () => {} };

const join = (realm: TestRealm, token: string, joiner: Joiner = ADA) =>
  joinByInvitation(realm.outside, queues, realm.host, token, joiner);

/** The refusal, in words. */
const refused = (realm: TestRealm, token: string, joiner: Joiner = ADA): Promise<string> =>
  join(realm, token, joiner).then(
    () => 'joined',
    (error: Refusal) => `${error.code}: ${error.message}`,
  );

/** Invites Ada, and returns the token of the link. */
async function invited(
  realm: TestRealm,
  as: Person,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const given = { invitee_emails: 'ada@example.com', stream_ids: [], ...more };
  const { body } = await realm.call(invite, as, given);
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return tokenIn(body.invite_links[0].invite_link);
}

async function linkFor(
  realm: TestRealm,
  as: Person,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { body } = await realm.call(inviteLink, as, more);
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return tokenIn(body.invite_link);
}

const channelsOf = async ({ outside, realm }: TestRealm, userId: number): Promise<number[]> =>
  (await outside.table.all('subscription', { realm, userId })).map(({ channelId }) => channelId);

const DEAD = /^BAD_REQUEST: This link does not work/;

describe('an invitation by mail', () => {
  it('makes an account with the role, the channels and the groups that it names', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { groupId } = await givenGroup(realm, { name: 'ants' });
    const hidden = await givenChannel(realm, { isPrivate: true }, [admin]);
    const token = await invited(realm, realm.people.owner, {
      invite_as: roles.moderator,
      stream_ids: [realm.channels.random],
      group_ids: [groupId],
    });
    const { userId, email } = await join(realm, token);
    expect(email).toBe('ada@example.com');
    const user = await realm.outside.table.get('user', { realm: realm.realm, userId });
    expect(user).toMatchObject({ fullName: 'Ada Ant', role: roles.moderator, isActive: true });
    expect(await channelsOf(realm, userId)).toEqual([realm.channels.random]);
    expect(await channelsOf(realm, userId)).not.toContain(hidden.channelId);
    expect(await directGroups(realm.outside, realm.realm, userId)).toEqual([groupId]);
    await workedOff(realm);
    expect(await audit(realm)).toEqual([]);
  });

  it('lets the new user sign in with the password, and creates no key', async () => {
    const realm = await newRealm();
    const { userId } = await join(realm, await invited(realm, realm.people.member));
    const account = await realm.outside.table.get('account', {
      realm: realm.realm,
      email: 'ada@example.com',
    });
    expect(account?.keys ?? []).toEqual([]);
    const signedIn = await signInWithPassword(realm.outside, queues, realm.host, {
      email: 'ada@example.com',
      password: PASSWORD,
      address: '192.0.2.1',
      label: 'Laptop',
    });
    expect(signedIn.userId).toBe(userId);
    expect((await realm.call(listUsers, { ...signedIn })).status).toBe(200);
  });

  it('subscribes to the default channels only if it says so', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const { general, random } = realm.channels;
    const both = { include_realm_default_subscriptions: true, stream_ids: [random, general] };
    const { userId } = await join(realm, await invited(realm, owner, both));
    expect((await channelsOf(realm, userId)).sort()).toEqual([general, random].sort());
    const bare = await invited(realm, owner, { invitee_emails: 'bare@example.com' });
    const second = await join(realm, bare, { ...ADA, fullName: 'Bare' });
    expect(await channelsOf(realm, second.userId)).toEqual([]);
  });

  it('joins more channels than one transaction has room for', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const ids: number[] = [];
    for (let i = 0; i < 25; i++) ids.push((await givenChannel(realm, { name: `c${i}` })).channelId);
    const { userId } = await join(realm, await invited(realm, owner, { stream_ids: ids }));
    expect((await channelsOf(realm, userId)).sort()).toEqual(ids.sort());
  });

  it('sends the welcome message of an administrator, and a notice to the inviter', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const token = await invited(realm, admin, { welcome_message_custom_text: 'Hello *Ada*!' });
    const { userId, email } = await join(realm, token);
    await workedOff(realm);
    const apiKey = await addKey(realm.outside, realm.realm, email, 'Laptop');
    const messages = async (as: Person) => {
      const { body } = await realm.call(fetchMessages, as, undefined, {
        query: { anchor: 'newest', num_before: 5, num_after: 0, narrow: [{ operator: 'is', operand: 'dm' }] },
      });
      return (body.messages as { content: string }[]).map(({ content }) => content);
    };
    expect(await messages({ email, apiKey, userId })).toEqual(['<p>Hello <em>Ada</em>!</p>']);
    expect(await messages(admin)).toEqual([expect.stringContaining('accepted your invitation')]);
  });

  it('sends the inviter no notice if they do not want it, and ignores the welcome message of a member', async () => {
    const realm = await newRealm();
    const more = { notify_referrer_on_join: false, welcome_message_custom_text: 'Hello!' };
    await join(realm, await invited(realm, realm.people.member, more));
    expect(await realm.outside.table.all('outbox', { realm: realm.realm })).toEqual([]);
  });

  it('sends everyone an event for the new user, and administrators and the inviter one for the used invitation', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const token = await invited(realm, member);
    const clients = await Promise.all([member, admin, guest].map((person) => givenClient(realm, person)));
    await join(realm, token);
    const heard = await Promise.all(clients.map((client) => client.poll()));
    expect(heard.map((events) => events.map(({ type }) => type))).toEqual([
      expect.arrayContaining(['realm_user', 'invites_changed']),
      expect.arrayContaining(['realm_user', 'invites_changed']),
      expect.not.arrayContaining(['invites_changed']),
    ]);
    expect((await realm.call(listInvites, admin)).body.invites).toEqual([]);
  });

  it('can be used once', async () => {
    const realm = await newRealm();
    const token = await invited(realm, realm.people.member);
    await join(realm, token);
    expect(await refused(realm, token)).toMatch(DEAD);
  });

  it('can be used only for its own address', async () => {
    const realm = await newRealm();
    const token = await invited(realm, realm.people.member);
    expect(await refused(realm, token, { ...ADA, email: 'eve@example.com' })).toMatch(/another address/);
    expect((await join(realm, token, { ...ADA, email: ' Ada@Example.com ' })).email).toBe('ada@example.com');
  });

  it.each([
    ['a short password', { password: 'short' }],
    ['an easy password', { password: 'password1' }],
    ['the own name as password', { password: 'adaantada' }],
    ['an endless password', { password: 'x'.repeat(10_000) }],
    ['no name', { fullName: ' ' }],
    ['a name with a NUL', { fullName: 'A\0' }],
  ])('refuses %s, and stays open', async (_, given) => {
    const realm = await newRealm();
    const token = await invited(realm, realm.people.member);
    expect(await refused(realm, token, { ...ADA, ...given })).toMatch(/^BAD_REQUEST: /);
    expect((await join(realm, token)).userId).toBeGreaterThan(0);
  });

  it('does not work with a token that is tampered, empty, or of another organization', async () => {
    const realm = await newRealm();
    const other = await newRealm();
    const token = await invited(realm, realm.people.member);
    for (const wrong of [`${token}x`, token.slice(1), '', 'x'.repeat(10_000), '\0']) {
      expect(await refused(realm, wrong)).toMatch(DEAD);
    }
    expect(await refused(other, token)).toMatch(DEAD);
  });

  it('does not work after it expires', async () => {
    const realm = await newRealm();
    const token = await invited(realm, realm.people.member, { invite_expires_in_minutes: 1 });
    realm.pass(61_000);
    expect(await refused(realm, token)).toMatch(DEAD);
  });
});

describe('an invitation whose inviter has lost a right', () => {
  it('does not work if they may no longer invite, or were deactivated', async () => {
    const realm = await newRealm();
    const { member, moderator, owner } = realm.people;
    const first = await invited(realm, member);
    const second = await invited(realm, moderator, { invitee_emails: 'b@example.com' });
    await givenRealmSettings(realm, { can_invite_users_group: systemGroups.moderators.id });
    expect(await refused(realm, first)).toMatch(/^BAD_REQUEST: This invitation does not work/);
    await out(realm, owner, moderator);
    expect(await refused(realm, second)).toMatch(DEAD);
  });

  it('makes no administrator if the inviter is no longer one', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const token = await invited(realm, admin, { invite_as: roles.administrator });
    await change(realm, owner, admin, { role: roles.member });
    expect(await refused(realm, token)).toMatch(DEAD);
  });

  it('leaves out private channels that they have left, archived channels, and deactivated groups', async () => {
    const realm = await newRealm({ can_add_subscribers_group: systemGroups.members.id });
    const { member, owner } = realm.people;
    const hidden = await givenChannel(realm, { isPrivate: true }, [member, owner]);
    const archived = await givenChannel(realm, {}, [member]);
    const kept = await givenChannel(realm, {}, [member]);
    const { groupId } = await givenGroup(realm, { name: 'ants' });
    const stream_ids = [hidden, archived, kept].map(({ channelId }) => channelId);
    const token = await invited(realm, member, { stream_ids });
    await realm.call(unsubscribe, member, { subscriptions: [hidden.name] });
    await givenChangedChannel(realm, archived.channelId, { isArchived: true });
    const { userId } = await join(realm, token);
    expect(await channelsOf(realm, userId)).toEqual([kept.channelId]);
    const toGroup = { invitee_emails: 'b@example.com', group_ids: [groupId] };
    const second = await invited(realm, owner, toGroup);
    await realm.call(deactivateGroup, owner, {}, { path: { user_group_id: groupId } });
    expect((await join(realm, second, { ...ADA, fullName: 'B' })).userId).toBeGreaterThan(0);
  });
});

describe('users who join at the same time', () => {
  it('with one link are refused, except for the first', async () => {
    const realm = await newRealm();
    const token = await invited(realm, realm.people.member);
    const containers = [realm.container(), realm.container()];
    const results = await Promise.all(containers.map((each) => refused(each, token)));
    expect(results.filter((result) => result === 'joined')).toHaveLength(1);
    expect(results.find((result) => result !== 'joined')).toMatch(/does not work|already an account/);
  });

  it('by a reusable link all join, but only one of two with the same address', async () => {
    const realm = await newRealm();
    const token = await linkFor(realm, realm.people.admin);
    const emails = ['a@example.com', 'b@example.com', 'a@example.com'];
    const results = await Promise.all(
      emails.map((email) => refused(realm.container(), token, { ...ADA, email })),
    );
    expect(results.filter((result) => result === 'joined')).toHaveLength(2);
    expect(results.find((result) => result !== 'joined')).toMatch(/already an account/);
  });

  it('as it is revoked either join, or the revocation succeeds, never both', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const token = await invited(realm, member);
    const { body } = await realm.call(listInvites, admin);
    const path = { invite_id: body.invites[0].id };
    const [result, revoked] = await Promise.all([
      refused(realm.container(), token),
      realm.container().call(revoke, admin, {}, { path }),
    ]);
    expect([result === 'joined', revoked.status === 200]).toContain(true);
    expect(result === 'joined' && revoked.status === 200).toBe(false);
  });
});

describe('a reusable link', () => {
  it('needs a valid address that no account has', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const token = await linkFor(realm, admin);
    expect(await refused(realm, token)).toMatch(/valid email/);
    expect(await refused(realm, token, { ...ADA, email: 'nobody' })).toMatch(/valid email/);
    expect(await refused(realm, token, { ...ADA, email: member.email })).toMatch(/already an account/);
  });

  it('requires an address in the domains of the organization', async () => {
    const realm = await newRealm();
    const token = await linkFor(realm, realm.people.admin);
    await givenRealmSettings(realm, { emails_restricted_to_domains: true });
    expect(await refused(realm, token, { ...ADA, email: 'a@example.com' })).toMatch(/not allowed/);
  });
});
