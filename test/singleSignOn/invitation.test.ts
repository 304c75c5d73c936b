import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handler as invite } from '../../functions/invites/create.ts';
import { handler as inviteLink } from '../../functions/invites/createLink.ts';
import { handler as showAccount } from '../../functions/pages/showAccount.ts';
import { handler as showInvitation } from '../../functions/pages/showInvitation.ts';
import { handler as begin } from '../../functions/singleSignOn/begin.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import { Browser } from '../support/browser.ts';
import { tokenIn } from '../support/mailbox.ts';
import { answer, type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { begun, claimsOf, comeBack, withProvider } from '../support/single-sign-on.ts';

let provider: OpenIdProvider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startOpenIdProvider();
  realm = withProvider(await newRealm(), provider.issuer);
});
afterEach(() => provider.stop());

const ADA = claimsOf({ email: 'Ada@Example.com' });

async function invited(): Promise<string> {
  const given = { invitee_emails: 'ada@example.com', stream_ids: [], invite_as: roles.moderator };
  const { body } = await realm.call(invite, realm.people.owner, given);
  return tokenIn(body.invite_links[0].invite_link);
}

const linkForMany = async (): Promise<string> =>
  tokenIn((await realm.call(inviteLink, realm.people.admin, {})).body.invite_link);

/** Joins from the page of an invitation, as a user with these claims. */
async function joined(token: string, claims: Readonly<Record<string, unknown>>, at = realm) {
  const { browser, url } = await begun(at, { invitation: token });
  return { browser, reply: await comeBack(browser, provider.signIn(url, claims)) };
}

const accountOf = (email: string) => realm.outside.table.get('account', { realm: realm.realm, email });

describe('joining by single sign-on with an invitation', () => {
  it('starts at a button of its page, and creates the account of the invitation once', async () => {
    const token = await invited();
    const page = await new Browser(realm).open(showInvitation, { path: { token } });
    expect(page.text).toContain(
      `href="/accounts/login/social/oidc?invitation=${token}">Join with Ant ID</a>`,
    );
    const { browser, reply } = await joined(token, ADA);
    expect([reply.status, reply.headers.Location]).toEqual([303, '/account']);
    expect((await browser.open(showAccount)).text).toContain('<h1>Ada Ant</h1>');
    const account = await accountOf('ada@example.com');
    const user = await realm.outside.table.get('user', { realm: realm.realm, userId: account?.userId ?? 0 });
    expect(user).toMatchObject({ role: roles.moderator, email: 'ada@example.com' });
    const again = await joined(token, claimsOf({ email: 'eve@example.com' }));
    expect([again.reply.status, again.reply.text]).toEqual([
      400,
      expect.stringContaining('link does not work'),
    ]);
  });

  it('takes the address that the provider has verified, for a reusable link', async () => {
    const token = await linkForMany();
    for (const email of ['bo@example.com', 'cy@example.com']) {
      expect((await joined(token, claimsOf({ email }))).reply.status).toBe(303);
      expect(await accountOf(email)).toBeDefined();
    }
  });

  it('signs in a user who has an account, and keeps the invitation', async () => {
    const token = await invited();
    const { browser, reply } = await joined(token, claimsOf(realm.people.member));
    expect(reply.status).toBe(303);
    expect((await browser.open(showAccount)).text).toContain(realm.people.member.email);
    expect((await joined(token, ADA)).reply.status).toBe(303);
  });

  it.each([
    ['another address', claimsOf({ email: 'eve@example.com' }), 'another address'],
    ['an address that is not verified', { ...ADA, email_verified: false }, 'not verified'],
    ['no address', { name: 'Ada' }, 'does not tell'],
    ['a name that is none', { ...ADA, name: 'A\0' }, 'name'],
  ])('refuses %s, and changes nothing', async (_, claims, problem) => {
    const token = await invited();
    const { browser, reply } = await joined(token, claims);
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(problem)]);
    expect(browser.cookies.has('__Host-parlance-session')).toBe(false);
    expect((await joined(token, ADA)).reply.status).toBe(303);
  });

  it('refuses a token that is tampered, expired, long, or of another organization', async () => {
    const token = await invited();
    for (const wrong of [`${token}x`, '', 'x'.repeat(100)]) {
      expect([wrong, (await joined(wrong, ADA)).reply.status]).toEqual([wrong, 400]);
    }
    const long = await new Browser(realm).open(begin, { query: { invitation: 'x'.repeat(101) } });
    expect(long.status).toBe(400);
    const other = withProvider(await newRealm(), provider.issuer);
    expect((await joined(token, ADA, other)).reply.status).toBe(400);
    realm.pass(11 * 86_400_000);
    expect((await joined(token, ADA)).reply.status).toBe(400);
    expect(await accountOf('ada@example.com')).toBeUndefined();
  });

  it('can be completed only by the browser that started it', async () => {
    const token = await invited();
    const { url } = await begun(realm, { invitation: token });
    const thief = await begun(realm);
    const reply = await comeBack(thief.browser, provider.signIn(url, ADA));
    expect(reply.status).toBe(400);
    expect(await accountOf('ada@example.com')).toBeUndefined();
  });

  it('succeeds for one of two concurrent requests, and shows the other a page that says so', async () => {
    const token = await linkForMany();
    const one = await begun(realm, { invitation: token });
    const two = await begun(realm, { invitation: token });
    const replies = await Promise.all(
      [one, two].map(({ browser, url }) => comeBack(browser, provider.signIn(url, ADA))),
    );
    // The second either finds the account and signs in, or comes too late to make it.
    for (const { status, text } of replies) {
      if (status !== 303)
        expect([status, text]).toEqual([400, expect.stringContaining('already an account')]);
    }
    expect(replies.some(({ status }) => status === 303)).toBe(true);
    expect(await accountOf('ada@example.com')).toBeDefined();
  });

  it("shows a page, and creates no account, if the provider's reply is invalid", async () => {
    const token = await invited();
    provider.behave('/token', (_, response) => void response.end('<html>'));
    const { reply } = await joined(token, ADA);
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('did not answer properly')]);
    provider.behave('/token', answer([]));
    expect((await joined(token, ADA)).reply.status).toBe(400);
    provider.behave('/token');
    expect((await joined(token, ADA)).reply.status).toBe(303);
  });
});
