import { describe, expect, it } from 'vitest';
import { handler as requestPassword } from '../../functions/pages/requestPassword.ts';
import { handler as setPassword } from '../../functions/pages/setPassword.ts';
import { handler as showPasswordLink } from '../../functions/pages/showPasswordLink.ts';
import { handler as showPasswordRequest } from '../../functions/pages/showPasswordRequest.ts';
import { handler as showSignIn } from '../../functions/pages/showSignIn.ts';
import { handler as signIn } from '../../functions/pages/signIn.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { makePasswordLink } from '../../shared/domain/account/password-link.ts';
import { Browser } from '../support/browser.ts';
import { tokenIn, withMailbox } from '../support/mailbox.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'nine brisk otters';

const linkFor = ({ outside, realm, people }: TestRealm) =>
  makePasswordLink(outside, realm, people.member.userId);

/** A browser that has opened a link for a new password, with what sends its form. */
async function withLink() {
  const realm = await newRealm();
  const token = await linkFor(realm);
  const browser = new Browser(realm);
  const path = { token };
  const page = await browser.open(showPasswordLink, { path });
  const send = (password: string) => browser.submit(setPassword, page, { password }, { path });
  return { realm, token, browser, page, send };
}

/** Whether the member can sign in with this password. */
async function opens(realm: TestRealm, password: string): Promise<boolean> {
  const browser = new Browser(realm);
  const page = await browser.open(showSignIn);
  const reply = await browser.submit(signIn, page, { email: realm.people.member.email, password });
  return reply.status === 303;
}

describe('the page of a link for a new password', () => {
  it('names the user, and sets the password, which works for sign-in', async () => {
    const { realm, browser, page, send } = await withLink();
    expect(page.status).toBe(200);
    expect(page.text).toContain(`For the account <strong>${realm.people.member.email}</strong>`);
    expect(page.text).toMatch(/<input id="password"[^>]* autocomplete="new-password"[^>]* autofocus>/);
    const reply = await send(PASSWORD);
    expect([reply.status, reply.headers.Location]).toEqual([303, '/login/?done=password']);
    const next = await browser.open(showSignIn, { query: { done: 'password' } });
    expect(next.text).toContain('role="status">Your password is set.');
    expect(await opens(realm, PASSWORD)).toBe(true);
  });

  it.each([
    ['empty', ''],
    ['short', 'a1!x'],
    ['easy to guess', 'password1'],
    ['of 10,000 characters', 'x'.repeat(10_000)],
  ])('refuses a password that is %s beside its field, and can be sent again', async (_, password) => {
    const { realm, send } = await withLink();
    const reply = await send(password);
    expect(reply.status).toBe(400);
    expect(reply.text).toMatch(
      /aria-describedby="password-hint password-error" aria-invalid="true" autofocus/,
    );
    expect(reply.text).toMatch(/<p class="error" id="password-error">\S/);
    expect(reply.text).not.toContain('x'.repeat(100));
    expect((await send(PASSWORD)).status).toBe(303);
    expect(await opens(realm, PASSWORD)).toBe(true);
  });

  it('refuses a NUL, invalid UTF-8 and duplicate fields, and changes nothing', async () => {
    const { realm, browser, page, token, send } = await withLink();
    expect((await send('nine\0brisk otters')).status).toBe(400);
    const form_token = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    for (const password of ['%ff%fe', `${PASSWORD}&password=other+brisk+otters`, '%zz']) {
      const body = `form_token=${form_token}&password=${password}`;
      const reply = await browser.submitText(setPassword, body, { path: { token } });
      expect([password, reply.status]).toEqual([password, 400]);
    }
    expect(await opens(realm, PASSWORD)).toBe(false);
    expect((await send(PASSWORD)).status).toBe(303);
  });

  it('works once, and shows the second user a page that says so', async () => {
    const { realm, token, page, browser } = await withLink();
    const passwords = [PASSWORD, 'eleven red kites fly'];
    const replies = await Promise.all(
      passwords.map((password) =>
        browser.submit(setPassword, page, { password }, { path: { token }, realm: realm.container() }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 400]);
    const late = replies.find(({ status }) => status === 400);
    expect(late?.text).toContain('This link does not work any more');
    const opened = await Promise.all(passwords.map((password) => opens(realm, password)));
    expect(opened).toEqual(replies.map(({ status }) => status === 303));
    const again = await browser.open(showPasswordLink, { path: { token } });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('This link does not work')]);
  });

  it('shows a page for a token that is expired, tampered, empty, long, foreign, or of a deactivated account', async () => {
    const [realm, other] = [await newRealm(), await newRealm()];
    const token = await linkFor(realm);
    const show = async (shown: string, where: TestRealm = realm) => {
      const { status, text } = await new Browser(where).open(showPasswordLink, { path: { token: shown } });
      return [status, /This link does not work any more[^<]*/.test(text)];
    };
    const dead = [400, true];
    for (const wrong of [`${token}x`, token.slice(1), '', 'x'.repeat(5_000), '%00', '%ff']) {
      const [status] = await show(wrong);
      expect([wrong, status]).toEqual([wrong, 400]);
    }
    expect(await show(`${token}x`)).toEqual(dead);
    expect(await show(token, other)).toEqual(dead);
    expect(await show(token)).toEqual([200, false]);
    await realm.call(deactivate, realm.people.owner, {}, { path: { user: realm.people.member.userId } });
    expect(await show(token)).toEqual(dead);
    realm.pass(25 * 3_600_000);
    expect(await show(token)).toEqual(dead);
  });

  it('refuses a form of another site or browser', async () => {
    const { realm, browser, page, token } = await withLink();
    const foreign = { path: { token }, headers: { origin: 'https://evil.example' } };
    expect((await browser.submit(setPassword, page, { password: PASSWORD }, foreign)).status).toBe(403);
    const other = new Browser(realm);
    await other.open(showSignIn);
    expect((await other.submit(setPassword, page, { password: PASSWORD }, { path: { token } })).status).toBe(
      403,
    );
    expect(await opens(realm, PASSWORD)).toBe(false);
  });
});

describe('the page for a forgotten password', () => {
  /** Sends the form with this address, from a new browser. */
  async function ask(realm: TestRealm, email: string, address?: string) {
    const browser = new Browser(realm);
    const page = await browser.open(showPasswordRequest);
    const headers = address === undefined ? {} : { 'x-viewer-address': address };
    return browser.submit(requestPassword, page, { email }, { headers });
  }

  it('is linked from the sign-in, and mails a link that works', async () => {
    const realm = await withMailbox(await newRealm());
    const { text } = await new Browser(realm).open(showSignIn);
    expect(text).toContain('href="/accounts/password/reset/"');
    const reply = await ask(realm, realm.people.member.email);
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('is on its way')]);
    await realm.sendMail();
    const token = tokenIn(realm.mails[0]?.text ?? '');
    const { status } = await new Browser(realm).open(showPasswordLink, { path: { token } });
    expect(status).toBe(200);
  });

  it('gives the same reply for an unknown address, with as many round trips', async () => {
    const realm = await withMailbox(await newRealm());
    const measured = async (email: string) => {
      const before = realm.meter.roundTrips;
      const { status, text } = await ask(realm, email);
      const trips = realm.meter.roundTrips - before;
      return { status, trips, text: text.replace(email, 'ADDRESS') };
    };
    await ask(realm, realm.people.guest.email, '192.0.2.9'); // The container knows the organization now.
    const known = await measured('member@example.com');
    expect(await measured('nobody@example.com')).toEqual(known);
    await realm.sendMail();
    expect(realm.mails.map(({ to }) => to).sort()).toEqual([realm.people.guest.email, 'member@example.com']);
  });

  it.each([
    ['no address', ''],
    ['a word', 'nobody'],
    ['markup', '"><script>alert(1)</script>'],
    ['10,000 characters', `${'x'.repeat(10_000)}@example.com`],
  ])('refuses %s beside the field', async (_, email) => {
    const realm = await withMailbox(await newRealm());
    const reply = await ask(realm, email);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('aria-describedby="email-error" aria-invalid="true"');
  });

  it('says after two mails in an hour when to retry, also for an unknown address', async () => {
    const realm = await withMailbox(await newRealm());
    const last = async (email: string, network: string) => {
      for (let i = 0; i < 2; i++) await ask(realm, email, network);
      const { status, headers, text } = await ask(realm, email, network);
      expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
      return [status, /role="alert"/.test(text)];
    };
    expect(await last('member@example.com', '192.0.2.1')).toEqual([429, true]);
    expect(await last('nobody@example.com', '192.0.2.2')).toEqual([429, true]);
  });

  it('has no form if the service sends no mail, and says that the operator can make a link', async () => {
    const realm = await newRealm();
    const { status, text } = await new Browser(realm).open(showPasswordRequest);
    expect([status, text]).toEqual([
      200,
      expect.stringContaining('The operator of the service can make you a link'),
    ]);
    expect(text).not.toContain('<form');
  });
});
