import { describe, expect, it } from 'vitest';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as inviteLink } from '../../functions/invites/createLink.ts';
import { handler as listInvites } from '../../functions/invites/list.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as deactivateOwn } from '../../functions/users/deactivateOwn.ts';
import { handler as reactivate } from '../../functions/users/reactivate.ts';
import { handler as update } from '../../functions/users/update.ts';
import { joinByInvitation } from '../../shared/domain/account/join.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import type { Invitation } from '../../shared/model/user/invitation.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenUser } from '../support/given.ts';
import { tokenIn } from '../support/mailbox.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'twelve grey herons';

async function invited(realm: TestRealm, as: Person, email: string, invite_as: number = roles.member) {
  const { body } = await realm.call(invite, as, { invitee_emails: email, stream_ids: [], invite_as });
  expect(body, body.msg).toMatchObject({ result: 'success' });
  return tokenIn(body.invite_links[0].invite_link);
}

const join = (realm: TestRealm, token: string, email = 'ada@example.com') =>
  joinByInvitation(realm.outside, { send: async () => {} }, realm.host, token, {
    email,
    fullName: email.split('@')[0] ?? '',
    password: PASSWORD,
  });

const open = ({ outside, realm }: TestRealm): Promise<Invitation[]> =>
  outside.table.all('invitation', { realm });

const path = (person: Person) => ({ path: { user: person.userId } });

describe('the invitations of a user who is deactivated (companion facts 3.3)', () => {
  it('end with their links, with an event to administrators, while those of others stay', async () => {
    const realm = await newRealm();
    const { owner, admin, member } = realm.people;
    const tokens = [await invited(realm, admin, 'ada@example.com')];
    const { body } = await realm.call(inviteLink, admin);
    tokens.push(tokenIn(body.invite_link));
    const kept = await invited(realm, member, 'bea@example.com');
    const client = await givenClient(realm, owner, { event_types: ['invites_changed'] });
    expect((await realm.call(deactivate, owner, {}, path(admin))).status).toBe(200);
    expect((await client.poll()).map(({ type }) => type)).toEqual(['invites_changed']);
    expect(await open(realm)).toMatchObject([{ email: 'bea@example.com' }]);
    await realm.call(reactivate, owner, {}, path(admin));
    for (const token of tokens) await expect(join(realm, token)).rejects.toThrow('does not work any more');
    expect(await join(realm, kept, 'bea@example.com')).toMatchObject({ email: 'bea@example.com' });
  });

  it('end if the user deactivates their own account, however many there are', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    for (let i = 0; i < 3; i++) {
      const addresses = Array.from({ length: 40 }, (_, n) => `a${i}-${n}@example.com`).join();
      await realm.call(invite, member, { invitee_emails: addresses, stream_ids: [] });
    }
    expect(await open(realm)).toHaveLength(120);
    expect((await realm.call(deactivateOwn, member)).status).toBe(200);
    expect(await open(realm)).toEqual([]);
    expect((await realm.call(listInvites, owner)).body.invites).toEqual([]);
    expect(await audit(realm)).toEqual([]);
  });

  it('are either used or ended, if both happen at once', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let i = 0; i < 4; i++) {
      const inviter = await givenUser(realm);
      const token = await invited(realm, inviter, `ada${i}@example.com`);
      const [joined, gone] = await Promise.all([
        join(realm.container(), token, `ada${i}@example.com`).then(
          () => true,
          () => false,
        ),
        realm.container().call(deactivate, owner, {}, path(inviter)),
      ]);
      expect(gone.status).toBe(200);
      expect(await open(realm)).toEqual([]);
      const account = { realm: realm.realm, email: `ada${i}@example.com` };
      expect((await realm.outside.table.get('account', account)) !== undefined).toBe(joined);
    }
    expect(await audit(realm)).toEqual([]);
  });

  it('cannot be created during the deactivation', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    for (let i = 0; i < 4; i++) {
      const inviter = await givenUser(realm);
      const given = { invitee_emails: `ada${i}@example.com`, stream_ids: [] };
      const replies = await Promise.all([
        realm.container().call(invite, inviter, given),
        realm.container().call(inviteLink, inviter),
        realm.container().call(deactivate, owner, {}, path(inviter)),
      ]);
      for (const { status } of replies) expect(status).toBeLessThan(500);
      expect(replies[2]?.status).toBe(200);
      expect(await open(realm)).toEqual([]);
    }
  });
});

describe('the invitations of a user whose role changes', () => {
  it('end if the new role does not allow them, while others stay', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const second = await givenUser(realm, { role: roles.owner });
    await invited(realm, second, 'boss@example.com', roles.owner);
    await invited(realm, second, 'mod@example.com', roles.moderator);
    await invited(realm, second, 'ada@example.com');
    await realm.call(inviteLink, second);
    const client = await givenClient(realm, second, { event_types: ['invites_changed'] });
    const left = async (role: number) => {
      expect((await realm.call(update, owner, { role }, path(second))).status).toBe(200);
      return (await open(realm)).map((each) => ('email' in each ? each.email : 'link')).sort();
    };
    expect(await left(roles.administrator)).toEqual(['ada@example.com', 'link', 'mod@example.com']);
    expect((await client.poll()).length).toBe(1);
    expect(await left(roles.member)).toEqual(['ada@example.com']);
    expect((await client.poll()).length).toBe(1);
    expect(await left(roles.moderator)).toEqual(['ada@example.com']);
    expect(await left(roles.guest)).toEqual([]);
    expect(await audit(realm)).toEqual([]);
  });
});
