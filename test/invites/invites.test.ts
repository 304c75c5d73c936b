import { describe, expect, it } from 'vitest';
import { handler as addDomain } from '../../functions/domains/add.ts';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as inviteLink } from '../../functions/invites/createLink.ts';
import { handler as listInvites } from '../../functions/invites/list.ts';
import { handler as resend } from '../../functions/invites/resend.ts';
import { handler as revoke } from '../../functions/invites/revoke.ts';
import { handler as revokeLink } from '../../functions/invites/revokeLink.ts';
import { roles, systemGroups } from '../../shared/model/permission/permission.ts';
import { loadLink } from '../../shared/model/user/link.ts';
import { out } from '../support/accounts.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel, givenGroup, givenUser } from '../support/given.ts';
import { tokenIn, withMailbox } from '../support/mailbox.ts';
import { leftIn } from '../support/outbox.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

const refused = (code = 'BAD_REQUEST') => ({ status: 400, body: { result: 'error', code } });

const inviting = (realm: TestRealm, as: Person, emails: string, more: object = {}): Promise<Reply> =>
  realm.call(invite, as, { invitee_emails: emails, stream_ids: [], ...more });

async function invitesOf(realm: TestRealm, as: Person) {
  const { body } = await realm.call(listInvites, as);
  expect(body).toMatchObject({ result: 'success' });
  return body.invites as { id: number; email?: string; is_multiuse: boolean; link_url?: string }[];
}

const MINUTE_MS = 60_000;

describe('POST /invites (companion facts 3.8)', () => {
  it('sends each address a mail with a link of its own', async () => {
    const realm = await withMailbox(await newRealm());
    const { member } = realm.people;
    const reply = await inviting(realm, member, 'ada@example.com, Bob <bob@example.com>\ncy@example.com');
    expect(reply.body).toEqual({ result: 'success', msg: '' });
    await realm.sendMail();
    expect(realm.mails.map(({ to }) => to).sort()).toEqual([
      'ada@example.com',
      'bob@example.com',
      'cy@example.com',
    ]);
    const [first] = realm.mails;
    expect(first).toMatchObject({ from: 'no-reply@mail.example.com', subject: 'Invitation to Test' });
    expect(first?.text).toContain(`https://${realm.host}/invite/`);
    expect(first?.text).toContain('Max Member (member@example.com)');
    const tokens = realm.mails.map(({ text }) => tokenIn(text));
    expect(new Set(tokens).size).toBe(3);
    expect(await leftIn(realm)).toEqual([]);
  });

  it('returns the links if the service sends no mail', async () => {
    const realm = await newRealm();
    const { body } = await inviting(realm, realm.people.member, 'ada@example.com');
    expect(body.invite_links).toEqual([
      {
        email: 'ada@example.com',
        invite_link: expect.stringMatching(/^https?:\/\/[^/]+\/invite\/[\w-]{32}$/),
      },
    ]);
    const link = await loadLink(realm.outside, realm.realm, tokenIn(body.invite_links[0].invite_link));
    expect(link).toMatchObject({ kind: 'invitation' });
  });

  it('writes links without mail into the log of the local service only', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await inviting(realm, member, 'ada@example.com');
    expect(realm.reports).toEqual([]);
    const local = realm.container(undefined, { environment: { DEVELOPMENT_SIGN_IN: 'true' } });
    // The reply to this one has no links.
    await inviting(local, member, `${admin.email}, bob@example.com`);
    const [{ id } = { id: 0 }] = await invitesOf(realm, member);
    const { body } = await local.call(resend, member, {}, { path: { invite_id: id } });
    expect(local.reports).toMatchObject([
      { level: 'INFO', message: 'link not mailed', email: 'bob@example.com' },
      { email: 'ada@example.com', link: body.invite_link },
    ]);
    expect(await loadLink(realm.outside, realm.realm, tokenIn(String(local.reports[0]?.link)))).toBeDefined();
  });

  it('does not store the token of a mailed link', async () => {
    const realm = await newRealm();
    const { body } = await inviting(realm, realm.people.member, 'ada@example.com');
    const token = tokenIn(body.invite_links[0].invite_link);
    const [stored] = await realm.outside.table.all('invitation', { realm: realm.realm });
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  it('makes invitations that expire after ten days, after the given minutes, or never', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await inviting(realm, member, 'usual@example.com');
    await inviting(realm, member, 'soon@example.com', { invite_expires_in_minutes: 5 });
    await inviting(realm, member, 'never@example.com', { invite_expires_in_minutes: null });
    const lives = (await invitesOf(realm, member)).map((each) => {
      const { email, invited, expiry_date: end } = each as never as Record<string, number>;
      return [email, end === null ? null : (end ?? 0) - (invited ?? 0)];
    });
    expect(lives).toEqual([
      ['usual@example.com', 14_400 * 60],
      ['soon@example.com', 300],
      ['never@example.com', null],
    ]);
    realm.pass(6 * MINUTE_MS);
    expect((await invitesOf(realm, member)).map(({ email }) => email)).toEqual([
      'usual@example.com',
      'never@example.com',
    ]);
  });

  it('invites nobody if an address is not valid or not allowed', async () => {
    const realm = await newRealm({ emails_restricted_to_domains: true });
    const { owner } = realm.people;
    await realm.call(addDomain, owner, { domain: 'example.com', allow_subdomains: false });
    const { status, body } = await inviting(
      realm,
      owner,
      'ada@example.com, nobody, b+1@example.com, c@x.org',
    );
    expect([status, body]).toEqual([
      400,
      {
        result: 'error',
        code: 'INVITATION_FAILED',
        msg: expect.any(String),
        errors: [
          ['nobody', expect.any(String), false],
          ['b+1@example.com', expect.any(String), false],
          ['c@x.org', expect.any(String), false],
        ],
        sent_invitations: false,
        license_limit_reached: false,
        daily_limit_reached: false,
      },
    ]);
    expect(await invitesOf(realm, owner)).toEqual([]);
  });

  it('invites the others if some addresses have accounts, and says which', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const gone = await givenUser(realm, { email: 'gone@example.com' });
    await out(realm, owner, gone);
    const emails = `${admin.email}, gone@example.com, new@example.com`;
    const { body } = await inviting(realm, member, emails);
    expect(body).toMatchObject({
      code: 'INVITATION_FAILED',
      errors: [
        [admin.email, expect.any(String), false],
        ['gone@example.com', expect.any(String), true],
      ],
      sent_invitations: true,
    });
    expect((await invitesOf(realm, member)).map(({ email }) => email)).toEqual(['new@example.com']);
    const { body: none } = await inviting(realm, member, admin.email.toUpperCase());
    expect(none).toMatchObject({ code: 'INVITATION_FAILED', sent_invitations: false });
  });

  it.each([
    ['no address', { invitee_emails: ' , \n' }],
    ['too many addresses', { invitee_emails: Array.from({ length: 41 }, (_, i) => `a${i}@b.cd`).join() }],
    ['an unknown channel', { stream_ids: [999_999] }],
    ['a channel id that is no id', { stream_ids: [-1] }],
    ['an unknown group', { group_ids: [999_999] }],
    ['a system group', { group_ids: [systemGroups.members.id] }],
    ['an unknown role', { invite_as: 500 }],
    ['no time to live', { invite_expires_in_minutes: 0 }],
    ['too long a welcome', { welcome_message_custom_text: 'x'.repeat(8_001) }],
    ['an administrator, by a member', { invite_as: roles.administrator }],
    ['a moderator, by a member', { invite_as: roles.moderator }],
  ])('refuses %s, and invites nobody', async (_, input) => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    expect(await inviting(realm, member, 'ada@example.com', input)).toMatchObject(refused());
    expect(await invitesOf(realm, owner)).toEqual([]);
  });

  it('lets only owners invite owners, and administrators invite moderators', async () => {
    const realm = await newRealm();
    const { admin, owner } = realm.people;
    const asOwner = { invite_as: roles.owner };
    expect(await inviting(realm, admin, 'a@b.cd', asOwner)).toMatchObject(refused('UNAUTHORIZED_PRINCIPAL'));
    expect((await inviting(realm, owner, 'a@b.cd', asOwner)).status).toBe(200);
    expect((await inviting(realm, admin, 'c@b.cd', { invite_as: roles.moderator })).status).toBe(200);
  });

  it('is allowed to members of can_invite_users_group, and never to guests and bots', async () => {
    const realm = await newRealm({ can_invite_users_group: systemGroups.moderators.id });
    const { member, moderator, guest, bot } = realm.people;
    expect(await inviting(realm, member, 'a@b.cd')).toMatchObject(refused());
    expect((await inviting(realm, moderator, 'a@b.cd')).status).toBe(200);
    for (const as of [guest, bot]) {
      expect(await inviting(realm, as, 'a@b.cd')).toMatchObject(refused());
      expect(await realm.call(listInvites, as)).toMatchObject(refused());
    }
  });

  it('accepts default channels, and others to which the caller may add subscribers', async () => {
    const realm = await newRealm({ can_add_subscribers_group: systemGroups.administrators.id });
    const { member, admin } = realm.people;
    const hidden = await givenChannel(realm, { isPrivate: true }, [admin]);
    const { general, random } = realm.channels;
    expect((await inviting(realm, member, 'a@b.cd', { stream_ids: [general] })).status).toBe(200);
    expect(await inviting(realm, member, 'c@b.cd', { stream_ids: [random] })).toMatchObject(refused());
    const unknown = await inviting(realm, member, 'c@b.cd', { stream_ids: [999_999] });
    const unseen = await inviting(realm, member, 'c@b.cd', { stream_ids: [hidden.channelId] });
    expect(unseen.body.msg.replace(/\d+/, '')).toBe(unknown.body.msg.replace(/\d+/, ''));
    expect((await inviting(realm, admin, 'd@b.cd', { stream_ids: [hidden.channelId] })).status).toBe(200);
  });

  it('accepts groups to which the caller may add members', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const { groupId } = await givenGroup(realm, { name: 'ants' });
    expect(await inviting(realm, member, 'a@b.cd', { group_ids: [groupId] })).toMatchObject(refused());
    expect((await inviting(realm, owner, 'a@b.cd', { group_ids: [groupId] })).status).toBe(200);
  });
});

describe('POST /invites/multiuse (companion facts 3.8)', () => {
  it('makes a link that administrators and its creator can list', async () => {
    const realm = await newRealm({ create_multiuse_invite_group: systemGroups.members.id });
    const { member, moderator, admin } = realm.people;
    const { body } = await realm.call(inviteLink, member);
    for (const as of [member, admin]) {
      expect(await invitesOf(realm, as)).toEqual([
        {
          id: expect.any(Number),
          invited_by_user_id: member.userId,
          invited: expect.any(Number),
          expiry_date: expect.any(Number),
          invited_as: roles.member,
          is_multiuse: true,
          link_url: body.invite_link,
        },
      ]);
    }
    expect(await invitesOf(realm, moderator)).toEqual([]);
  });

  it('is allowed to administrators, unless create_multiuse_invite_group says otherwise', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    expect(await realm.call(inviteLink, member)).toMatchObject(refused());
    expect((await realm.call(inviteLink, admin)).status).toBe(200);
    const asOwner = await realm.call(inviteLink, admin, { invite_as: roles.owner });
    expect(asOwner).toMatchObject(refused('UNAUTHORIZED_PRINCIPAL'));
  });
});

describe('an open invitation (companion facts 3.8)', () => {
  it('can be revoked by its creator and by administrators, but only by owners if it is for an owner', async () => {
    const realm = await newRealm();
    const { member, moderator, admin, owner } = realm.people;
    await inviting(realm, member, 'a@b.cd, c@b.cd');
    await inviting(realm, owner, 'owner2@b.cd', { invite_as: roles.owner });
    const open = await invitesOf(realm, owner);
    const idOf = (email: string) => ({ path: { invite_id: open.find((it) => it.email === email)?.id ?? 0 } });
    const asked = (as: Person, email: string) => realm.call(revoke, as, {}, idOf(email));
    expect(await asked(moderator, 'a@b.cd')).toMatchObject(refused());
    expect((await asked(member, 'a@b.cd')).status).toBe(200);
    expect(await asked(member, 'a@b.cd')).toMatchObject(refused());
    expect((await asked(admin, 'c@b.cd')).status).toBe(200);
    expect(await asked(admin, 'owner2@b.cd')).toMatchObject(refused('UNAUTHORIZED_PRINCIPAL'));
    expect((await asked(owner, 'owner2@b.cd')).status).toBe(200);
    expect(await invitesOf(realm, owner)).toEqual([]);
  });

  it('is found only by the endpoints of its kind', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    await inviting(realm, admin, 'a@b.cd');
    await realm.call(inviteLink, admin);
    const [mailed, link] = await invitesOf(realm, admin);
    const at = (id: number | undefined) => ({ path: { invite_id: id ?? 0 } });
    expect(await realm.call(revokeLink, admin, {}, at(mailed?.id))).toMatchObject(refused());
    expect(await realm.call(revoke, admin, {}, at(link?.id))).toMatchObject(refused());
    expect(await realm.call(resend, admin, {}, at(link?.id))).toMatchObject(refused());
    expect((await realm.call(revokeLink, admin, {}, at(link?.id))).status).toBe(200);
    expect(await realm.call(revokeLink, admin, {}, at(link?.id))).toMatchObject(refused());
  });

  it('can be sent again with another link, while the first one still works', async () => {
    const realm = await withMailbox(await newRealm());
    const { member, admin, moderator } = realm.people;
    await inviting(realm, member, 'a@b.cd');
    await realm.sendMail();
    const [open] = await invitesOf(realm, member);
    const at = { path: { invite_id: open?.id ?? 0 } };
    expect(await realm.call(resend, moderator, {}, at)).toMatchObject(refused());
    expect((await realm.call(resend, admin, {}, at)).body).toEqual({ result: 'success', msg: '' });
    await realm.sendMail();
    const links = await Promise.all(
      realm.mails.map(({ text }) => loadLink(realm.outside, realm.realm, tokenIn(text))),
    );
    expect(links).toMatchObject([{ inviteId: open?.id }, { inviteId: open?.id }]);
    const { body } = await realm.container(undefined, {}).call(resend, member, {}, at);
    expect(body.result).toBe('success');
  });

  it('is not mailed after it was revoked', async () => {
    const realm = await withMailbox(await newRealm());
    const { member } = realm.people;
    await inviting(realm, member, 'a@b.cd');
    const [open] = await invitesOf(realm, member);
    await realm.call(revoke, member, {}, { path: { invite_id: open?.id ?? 0 } });
    await realm.sendMail();
    expect(realm.mails).toEqual([]);
    expect(await leftIn(realm)).toEqual([]);
  });

  it('sends an event to administrators and its creator when it changes, and to nobody else', async () => {
    const realm = await newRealm();
    const { member, admin, moderator, guest } = realm.people;
    const clients = await Promise.all(
      [member, admin, moderator, guest].map((person) => givenClient(realm, person)),
    );
    await inviting(realm, member, 'a@b.cd');
    const [open] = await invitesOf(realm, member);
    await realm.call(revoke, admin, {}, { path: { invite_id: open?.id ?? 0 } });
    const heard = await Promise.all(clients.map((client) => client.poll()));
    const changes = heard.map((events) => events.filter(({ type }) => type === 'invites_changed').length);
    expect(changes).toEqual([2, 2, 0, 0]);
  });
});
