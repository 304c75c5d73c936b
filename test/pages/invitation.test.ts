import { describe, expect, it } from 'vitest';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as inviteLink } from '../../functions/invites/createLink.ts';
import { handler as listInvites } from '../../functions/invites/list.ts';
import { handler as revoke } from '../../functions/invites/revoke.ts';
import { handler as join } from '../../functions/pages/join.ts';
import { handler as openJoinLink } from '../../functions/pages/openJoinLink.ts';
import { handler as showAccount } from '../../functions/pages/showAccount.ts';
import { handler as showInvitation } from '../../functions/pages/showInvitation.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { Browser } from '../support/browser.ts';
import { tokenIn } from '../support/mailbox.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const ADA = { full_name: 'Ada Ant', password: 'twelve grey herons' };

/** Invites ada@example.com as the member. Returns the token of the link. */
async function invited(realm: TestRealm, more: object = {}): Promise<string> {
  const given = { invitee_emails: 'ada@example.com', stream_ids: [], ...more };
  const { body } = await realm.call(invite, realm.people.member, given);
  return tokenIn(body.invite_links[0].invite_link);
}

/** A link for many, as clients get it. */
async function linkForMany(realm: TestRealm): Promise<string> {
  const { body } = await realm.call(inviteLink, realm.people.admin, {});
  return body.invite_link;
}

/** Opens the page of an invitation in a new browser. */
async function opened(realm: TestRealm, token: string) {
  const browser = new Browser(realm);
  const path = { token };
  const page = await browser.open(showInvitation, { path });
  const send = (fields: Readonly<Record<string, string>> = {}, where = realm) =>
    browser.submit(join, page, { ...ADA, ...fields }, { path, realm: where });
  return { browser, page, send };
}

const accountOf = ({ outside, realm }: TestRealm, email: string) =>
  outside.table.get('account', { realm, email });

describe('the page of an invitation', () => {
  it('names the inviter and the organization, and creates the account with a session', async () => {
    const realm = await newRealm();
    const { browser, page, send } = await opened(realm, await invited(realm));
    expect(page.status).toBe(200);
    expect(page.text).toContain('<title>Join Test - Test</title>');
    expect(page.text).toMatch(/<strong>[^<]+<\/strong> invites you to the team chat of Test/);
    expect(page.text).toMatch(/<input id="username"[^>]* value="ada@example.com"[^>]* readonly>/);
    expect(page.text).not.toContain('name="email"');
    const reply = await send();
    expect([reply.status, reply.headers.Location]).toEqual([303, '/account?done=joined']);
    const account = await browser.open(showAccount, { query: { done: 'joined' } });
    expect(account.text).toContain('<h1>Ada Ant</h1>');
    expect(account.text).toContain('role="status">Welcome!');
    expect(account.text).toContain('Firefox on Linux<span class="mark">This device</span>');
  });

  it('asks for the email address if the link is reusable', async () => {
    const realm = await newRealm();
    const link = await linkForMany(realm);
    expect(link).toMatch(new RegExp(`^https?://${realm.host}/join/[\\w-]{32}/$`));
    const { headers } = await new Browser(realm).open(openJoinLink, { path: { token: tokenIn(link) } });
    expect(headers.Location).toBe(`/invite/${tokenIn(link)}`);
    const dead = await new Browser(realm).open(openJoinLink, { path: { token: 'nonsense' } });
    expect([dead.status, dead.text]).toEqual([400, expect.stringContaining('This link does not work')]);
    const { browser, page, send } = await opened(realm, tokenIn(link));
    expect(page.text).toMatch(/<input id="email" name="email" type="email"/);
    const without = await send();
    expect(without.status).toBe(400);
    expect(without.text).toContain('aria-describedby="email-error" aria-invalid="true" autofocus');
    expect((await send({ email: 'bo@example.com' })).status).toBe(303);
    expect((await browser.open(showAccount)).text).toContain('<strong>bo@example.com</strong>');
    const again = await opened(realm, tokenIn(link));
    const taken = await again.send({ email: 'bo@example.com' });
    expect([taken.status, taken.text]).toEqual([400, expect.stringContaining('already an account')]);
  });

  it.each([
    ['full_name', { full_name: ' ' }],
    ['full_name', { full_name: 'x'.repeat(10_000) }],
    ['password', { password: '' }],
    ['password', { password: 'password1' }],
    ['password', { password: 'adaantada' }],
    ['password', { password: 'x'.repeat(10_000) }],
  ])(
    'shows an error beside the field %s, keeps the input except the password, and stays open',
    async (field, fields) => {
      const realm = await newRealm();
      const { send } = await opened(realm, await invited(realm));
      const reply = await send(fields);
      expect(reply.status).toBe(400);
      expect(reply.text).toMatch(new RegExp(`<p class="error" id="${field}-error">\\S`));
      expect(reply.text).toMatch(
        new RegExp(`id="${field}"[^>]*${field}-error" aria-invalid="true" autofocus`),
      );
      expect(reply.text).toMatch(/<input id="password"(?![^>]* value=)/);
      expect(await accountOf(realm, 'ada@example.com')).toBeUndefined();
      expect((await send()).status).toBe(303);
    },
  );

  it('escapes markup, and refuses invalid UTF-8 and duplicate fields', async () => {
    const realm = await newRealm();
    const token = await invited(realm);
    const { browser, page, send } = await opened(realm, token);
    expect((await send({ full_name: 'A\0' })).status).toBe(400);
    const form_token = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1];
    for (const body of [
      'full_name=Ada&full_name=Eve&password=twelve+grey+herons',
      'full_name=%ff%fe&password=twelve+grey+herons',
      'full_name=Ada&password=twelve+grey+herons&password=other',
      'full_name=Ada',
      'full_name=%zz',
    ]) {
      const sent = `form_token=${form_token}&${body}`;
      expect([body, (await browser.submitText(join, sent, { path: { token } })).status]).toEqual([body, 400]);
    }
    expect(await accountOf(realm, 'ada@example.com')).toBeUndefined();
  });

  it('accepts one of two concurrent forms, and shows the other user a page that says so', async () => {
    const realm = await newRealm();
    const token = await invited(realm);
    const [one, two] = await Promise.all([opened(realm, token), opened(realm, token)]);
    const replies = await Promise.all([
      one.send({}, realm.container()),
      two.send({ full_name: 'Eve' }, realm.container()),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 400]);
    expect(replies.find(({ status }) => status === 400)?.text).toContain('This link does not work any more');
  });

  it('does not work once the invitation is used, revoked, expired, or its inviter is deactivated', async () => {
    const realm = await newRealm();
    const { admin, member, owner } = realm.people;
    const dead = async (token: string) => {
      const { status, text } = (await opened(realm, token)).page;
      expect([status, text]).toEqual([400, expect.stringContaining('This link does not work any more')]);
      expect(text).not.toContain('invites you');
    };
    const used = await invited(realm);
    const { send } = await opened(realm, used);
    expect((await send()).status).toBe(303);
    await dead(used);
    expect((await send()).status).toBe(400);
    const revoked = await invited(realm, { invitee_emails: 'bo@example.com' });
    const { body } = await realm.call(listInvites, admin);
    await realm.call(revoke, admin, {}, { path: { invite_id: body.invites[0].id } });
    await dead(revoked);
    const expired = await invited(realm, { invitee_emails: 'cy@example.com', invite_expires_in_minutes: 1 });
    realm.pass(61_000);
    await dead(expired);
    const orphaned = await invited(realm, { invitee_emails: 'di@example.com' });
    await realm.call(deactivate, owner, {}, { path: { user: member.userId } });
    await dead(orphaned);
  });

  it('does not work with a token that is tampered, long, invalid UTF-8, or of another organization', async () => {
    const [realm, other] = [await newRealm(), await newRealm()];
    const token = await invited(realm);
    for (const wrong of [`${token}x`, token.slice(1), 'x'.repeat(5_000), '%00', '%ff', '"><script>']) {
      const { status, text } = (await opened(realm, encodeURIComponent(wrong))).page;
      expect([wrong, status]).toEqual([wrong, 400]);
      expect(text).not.toContain('invites you');
    }
    expect((await opened(other, token)).page.status).toBe(400);
    const { browser, page } = await opened(realm, token);
    const reply = await browser.submit(join, page, ADA, {
      path: { token },
      realm: other,
      headers: { host: other.host },
    });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(await accountOf(other, 'ada@example.com')).toBeUndefined();
    expect((await opened(realm, token)).page.status).toBe(200);
  });

  it('refuses a form of another site', async () => {
    const realm = await newRealm();
    const token = await invited(realm);
    const { browser, page } = await opened(realm, token);
    const headers = { origin: 'https://evil.example' };
    const reply = await browser.submit(join, page, ADA, { path: { token }, headers });
    expect(reply.status).toBe(403);
    expect(await accountOf(realm, 'ada@example.com')).toBeUndefined();
  });
});
