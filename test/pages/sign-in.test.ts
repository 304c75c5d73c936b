import { describe, expect, it } from 'vitest';
import { handler as changePassword } from '../../functions/pages/changePassword.ts';
import { handler as showAccount } from '../../functions/pages/showAccount.ts';
import { handler as showSignIn } from '../../functions/pages/showSignIn.ts';
import { handler as signIn } from '../../functions/pages/signIn.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { deviceName } from '../../shared/domain/account/device-name.ts';
import { hashPassword } from '../../shared/model/user/password.ts';
import { key } from '../../shared/table/keys.ts';
import { Browser, type BrowserRequest, hiddenField } from '../support/browser.ts';
import { CHEAP, newRealm, type TestRealm } from '../support/realm.ts';

const PASSWORD = 'nine brisk otters';
const hash = await hashPassword(PASSWORD, CHEAP);

/** The member has this password. */
const givenPassword = ({ outside, realm, people }: TestRealm) =>
  outside.table.put(key('password', { realm, userId: people.member.userId }), { hash, changed: 1 });

/** Opens the sign-in page in a new browser, and sends its form. */
async function trySignIn(
  realm: TestRealm,
  fields: Readonly<Record<string, string>>,
  request?: BrowserRequest,
) {
  const browser = new Browser(realm);
  const page = await browser.open(showSignIn);
  const typed = { email: realm.people.member.email, password: PASSWORD, ...fields };
  const reply = await browser.submit(signIn, page, typed, request);
  return { browser, page, reply, isSignedIn: browser.cookies.has('__Host-parlance-session') };
}

describe('the sign-in page', () => {
  it('names the organization, and gives a new browser a cookie', async () => {
    const browser = new Browser(await newRealm());
    const { status, text, headers } = await browser.open(showSignIn);
    expect(status).toBe(200);
    expect(text).toContain('<title>Sign in - Test</title>');
    expect(headers['Set-Cookie']).toMatch(/^__Host-parlance-visitor=[\w-]{22}; Path=\/; Max-Age=86400;/);
    const again = await browser.open(showSignIn);
    expect(again.headers).not.toHaveProperty('Set-Cookie');
    expect(hiddenField(again, 'form_token')).toMatch(/^[\w-]{43}$/);
  });

  it('gives a browser with a broken cookie another one', async () => {
    const browser = new Browser(await newRealm());
    browser.cookies.set('__Host-parlance-visitor', '"><script>');
    const { headers } = await browser.open(showSignIn);
    expect(headers).toHaveProperty('Set-Cookie');
  });

  it('redirects only to paths of this service', async () => {
    const browser = new Browser(await newRealm());
    const nextOf = async (next: string) =>
      hiddenField(await browser.open(showSignIn, { query: { next } }), 'next');
    expect(await nextOf('/account?a=%22')).toBe('/account?a=%22');
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      expect(await nextOf(next)).toBe('');
    }
    expect(await nextOf('/"><script>alert(1)</script>')).toBe('/%22%3E%3Cscript%3Ealert(1)%3C/script%3E');
  });

  it('refuses a host without an organization with a page', async () => {
    const realm = await newRealm();
    const { status, text } = await new Browser(realm).open(showSignIn, { headers: { host: 'nobody.test' } });
    expect(status).toBe(404);
    expect(text).toContain('There is no organization at this address.');
  });
});

describe('a sign-in with a password', () => {
  it('begins a session, with a key that is named after the browser', async () => {
    const realm = await newRealm();
    await givenPassword(realm);
    const { browser, reply } = await trySignIn(realm, {});
    expect([reply.status, reply.headers.Location]).toEqual([303, '/account']);
    expect(reply.headers['Set-Cookie']).toContain('; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax');
    const page = await browser.open(showAccount);
    expect(page.text).toContain('Firefox on Linux<span class="mark">This device</span>');
    expect(page.text).toContain('for="old_password"');
  });

  it('redirects to the page that was requested, on this service only', async () => {
    const realm = await newRealm();
    await givenPassword(realm);
    expect((await trySignIn(realm, { next: '/account?a=1' })).reply.headers.Location).toBe('/account?a=1');
    expect((await trySignIn(realm, { next: '//evil.example' })).reply.headers.Location).toBe('/account');
  });

  it.each([
    ['a wrong password', { password: 'wrong' }, 403],
    ['an empty password', { password: '' }, 403],
    ['a password of 10,000 characters', { password: 'x'.repeat(10_000) }, 403],
    ['an unknown address', { email: 'nobody@example.com' }, 403],
    ['no address', { email: '' }, 400],
    ['an address of 10,000 characters', { email: `${'x'.repeat(10_000)}@example.com` }, 400],
    ['markup', { email: '"><script>alert(1)</script>' }, 400],
  ])('with %s shows the form again, with the input except the password', async (_, fields, status) => {
    const realm = await newRealm();
    await givenPassword(realm);
    const { reply, isSignedIn } = await trySignIn(realm, { next: '/account?a=1', ...fields });
    expect(reply.status).toBe(status);
    expect(reply.text).toContain('role="alert" id="problem"');
    expect(reply.text).toMatch(
      /<input id="email"[^>]* value="[^"]+?"[^>]* aria-describedby="problem"|value=""/,
    );
    expect(reply.text).not.toContain(PASSWORD);
    expect(reply.text).toMatch(/<input id="password"(?![^>]* value=)/);
    expect(hiddenField(reply, 'next')).toBe('/account?a=1');
    expect(isSignedIn).toBe(false);
    expect(JSON.stringify(realm.reports)).not.toContain(PASSWORD);
  });

  it('with invalid UTF-8 is refused', async () => {
    const realm = await newRealm();
    await givenPassword(realm);
    const { reply, isSignedIn } = await trySignIn(realm, { password: 'a\0b' });
    expect([reply.status, isSignedIn]).toEqual([400, false]);
  });

  it('from another site, or with the token of another browser, signs nobody in', async () => {
    const realm = await newRealm();
    await givenPassword(realm);
    const foreign = { headers: { origin: 'https://evil.example' } };
    const { reply, isSignedIn, page } = await trySignIn(realm, {}, foreign);
    expect([reply.status, isSignedIn]).toEqual([403, false]);
    const other = new Browser(realm);
    await other.open(showSignIn);
    const typed = { email: realm.people.member.email, password: PASSWORD };
    expect((await other.submit(signIn, page, typed)).status).toBe(403);
    expect((await new Browser(realm).submit(signIn, page, typed)).status).toBe(403);
  });

  it('after too many tries says when to retry', async () => {
    const realm = await newRealm();
    await givenPassword(realm);
    for (let i = 0; i < 5; i++) await trySignIn(realm, { password: 'wrong' });
    const { reply, isSignedIn } = await trySignIn(realm, {});
    expect([reply.status, isSignedIn]).toEqual([429, false]);
    expect(Number(reply.headers['Retry-After'])).toBeGreaterThan(0);
  });

  it('to a deactivated account says so', async () => {
    const realm = await newRealm();
    await givenPassword(realm);
    const path = { user: realm.people.member.userId };
    await realm.call(deactivate, realm.people.owner, {}, { path });
    const { reply } = await trySignIn(realm, {});
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('This account is deactivated.');
  });
});

describe('the password of an account', () => {
  it('can be changed by a user who knows it, and keys still work', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const browser = new Browser(realm);
    browser.signIn(member);
    const first = await browser.open(showAccount);
    expect(first.text).not.toContain('for="old_password"');
    const change = (fields: Readonly<Record<string, string>>) =>
      browser.submit(changePassword, first, fields);

    const weak = await change({ new_password: 'password' });
    expect(weak.status).toBe(400);
    expect(weak.text).toContain('aria-describedby="new_password-hint password-problem" aria-invalid="true"');
    expect((await change({ new_password: PASSWORD })).headers.Location).toBe('/account?done=password');
    expect((await change({ new_password: 'seven slow snails' })).status).toBe(400);
    const reply = await change({ old_password: PASSWORD, new_password: 'seven slow snails' });
    expect(reply.status).toBe(303);
    expect((await browser.open(showAccount)).text).toContain('for="old_password"');
    expect((await realm.call(getOwn, member)).status).toBe(200);
    expect((await trySignIn(realm, { password: 'seven slow snails' })).isSignedIn).toBe(true);
    expect((await trySignIn(realm, {})).isSignedIn).toBe(false);
  });
});

describe('the name of a browser', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/138.0 Mobile/15E148 Safari/604.1',
      'Chrome on iPhone',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['<script>', 'Browser'],
    [undefined, 'Browser'],
  ])('from %j is %j', (userAgent, name) => {
    expect(deviceName(userAgent)).toBe(name);
  });
});
