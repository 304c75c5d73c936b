import { describe, expect, it } from 'vitest';
import { handler as revokeDevice } from '../../functions/pages/revokeDevice.ts';
import { handler as showAccount } from '../../functions/pages/showAccount.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { addKey, checkRevokeKey, doRevokeKey } from '../../shared/domain/account/api-key.ts';
import { commitAndCheckpoint } from '../../shared/log/checkpoint.ts';
import { ownPath } from '../../shared/serve/page.ts';
import { Browser } from '../support/browser.ts';
import { newRealm } from '../support/realm.ts';

const COOKIE = '__Host-parlance-session';

async function signedIn() {
  const realm = await newRealm();
  const { member } = realm.people;
  const browser = new Browser(realm);
  browser.signIn(member);
  return { realm, member, browser };
}

const toSignIn = { status: 303, headers: { Location: '/login/?next=%2Faccount' } };

describe('a page for people who have signed in', () => {
  it('sends a browser without a session to the sign-in', async () => {
    const browser = new Browser(await newRealm());
    const reply = await browser.open(showAccount);
    expect(reply).toMatchObject(toSignIn);
    expect(reply.headers).not.toHaveProperty('Set-Cookie');
    expect(reply.headers).not.toHaveProperty('WWW-Authenticate');
  });

  const encoded = (text: string): string => Buffer.from(text).toString('base64url');
  it.each([
    ['nothing', ''],
    ['no base64', '%%%'],
    ['no key', encoded('hamlet@example.com')],
    ['a wrong key', encoded(`member@example.com:${'x'.repeat(32)}`)],
    ['an unknown address', encoded(`nobody@example.com:${'x'.repeat(32)}`)],
    ['three parts', encoded('a:b:c')],
    ['bytes that are no text', Buffer.from([0xff, 0x3a, 0x00]).toString('base64url')],
    ['10,000 characters', encoded(`${'x'.repeat(10_000)}:x`)],
  ])('ends a session whose cookie holds %s', async (_, value) => {
    const browser = new Browser(await newRealm());
    browser.cookies.set(COOKIE, value);
    expect(await browser.open(showAccount)).toMatchObject(toSignIn);
    expect(browser.cookies.get(COOKIE) ?? '').toBe('');
  });

  it('ends the session of a key that was revoked', async () => {
    const { realm, member, browser } = await signedIn();
    expect((await browser.open(showAccount)).status).toBe(200);
    const { outside, log } = realm;
    const account = await outside.table.get('account', { realm: realm.realm, email: member.email });
    if (account === undefined) return expect.fail('no account');
    const owner = { realm: realm.realm, email: member.email, account };
    await commitAndCheckpoint(log, outside.report, 1, () =>
      doRevokeKey(owner, checkRevokeKey(owner, 'first')),
    );
    expect(await browser.open(showAccount)).toMatchObject(toSignIn);
    expect(browser.cookies.size).toBe(0);
  });

  it('ends the session of a deactivated account', async () => {
    const { realm, member, browser } = await signedIn();
    await realm.call(deactivate, realm.people.owner, {}, { path: { user: member.userId } });
    expect(await browser.open(showAccount)).toMatchObject(toSignIn);
  });

  it('tells a browser that is over its limit when to retry', async () => {
    const { realm, browser } = await signedIn();
    const limited = realm.container(undefined, { environment: { API_RATE_LIMIT: '1' } });
    expect((await browser.open(showAccount, { realm: limited })).status).toBe(200);
    const { status, headers, text } = await browser.open(showAccount, { realm: limited });
    expect(status).toBe(429);
    expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
    expect(text).toContain('Too many requests');
  });

  it('reveals nothing about a fault', async () => {
    const { realm, browser } = await signedIn();
    const broken = realm.container(() => () => Promise.reject(new Error('secret detail')));
    const { status, text } = await browser.open(showAccount, { realm: broken });
    expect(status).toBe(500);
    expect(text).toContain('<h1>Something went wrong</h1>');
    expect(text).not.toContain('secret detail');
  });

  it('refuses bots', async () => {
    const { realm, browser } = await signedIn();
    browser.signIn(realm.people.bot);
    expect((await browser.open(showAccount)).status).toBe(400);
  });

  it('gives no access to endpoints of the API', async () => {
    const { realm, browser } = await signedIn();
    const cookie = `${COOKIE}=${browser.cookies.get(COOKIE)}`;
    expect((await realm.call(getOwn, undefined, {}, { headers: { cookie } })).status).toBe(401);
  });

  it('accepts no credentials of the API', async () => {
    const { realm, member } = await signedIn();
    const authorization = `Basic ${Buffer.from(`${member.email}:${member.apiKey}`).toString('base64')}`;
    expect(await new Browser(realm).open(showAccount, { headers: { authorization } })).toMatchObject(
      toSignIn,
    );
  });
});

describe('a form', () => {
  it.each([
    ['from another site', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'https://evil.example:8443' }],
    ['from a page without an origin', { origin: 'null' }],
    ['without an origin', { origin: undefined }],
    ['that the browser calls foreign', { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour', { 'sec-fetch-site': 'same-site' }],
    ['that somebody typed in', { 'sec-fetch-site': 'none' }],
  ])('%s is refused, and changes nothing', async (_, headers) => {
    const { realm, member, browser } = await signedIn();
    const page = await browser.open(showAccount);
    const reply = await browser.submit(revokeDevice, page, { key: 'first' }, { headers });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('Nothing was changed');
    expect((await realm.call(getOwn, member)).status).toBe(200);
  });

  it.each([
    ['without a token', ''],
    ['with a wrong token', 'x'.repeat(43)],
    ['with a token of 10,000 characters', 'x'.repeat(10_000)],
  ])('%s is refused', async (_, form_token) => {
    const { realm, member, browser } = await signedIn();
    const page = await browser.open(showAccount);
    expect((await browser.submit(revokeDevice, page, { key: 'first', form_token })).status).toBe(403);
    expect((await realm.call(getOwn, member)).status).toBe(200);
  });

  it('of another session is refused', async () => {
    const { realm, member, browser } = await signedIn();
    const page = await browser.open(showAccount);
    const apiKey = await addKey(realm.outside, realm.realm, member.email, 'Other');
    browser.signIn({ ...member, apiKey });
    expect((await browser.submit(revokeDevice, page, { key: 'first' })).status).toBe(403);
  });

  it('without a session redirects to the sign-in', async () => {
    const { browser } = await signedIn();
    const page = await browser.open(showAccount);
    browser.cookies.clear();
    const reply = await browser.submit(revokeDevice, page, { key: 'first' });
    expect(reply).toMatchObject({ status: 303, headers: { Location: '/login/' } });
  });

  it('that is too large or malformed is refused as such', async () => {
    const { browser } = await signedIn();
    const page = await browser.open(showAccount);
    expect((await browser.submit(revokeDevice, page, { key: 'x'.repeat(600_000) })).status).toBe(413);
    expect((await browser.submit(revokeDevice, page, { key: '\0' })).status).toBe(400);
    expect((await browser.submit(revokeDevice, page, { key: 'x'.repeat(10_000) })).status).toBe(400);
    expect((await browser.submit(revokeDevice, page, {})).status).toBe(400);
  });
});

describe('a path from outside', () => {
  it.each([
    ['/account', '/account'],
    ['/account?done=revoked', '/account?done=revoked'],
    ['/a/../account', '/account'],
    ['account', undefined],
    ['', undefined],
    [undefined, undefined],
    ['//evil.example', undefined],
    ['/\\evil.example', undefined],
    ['/\t/evil.example', undefined],
    ['/..//evil.example', undefined],
    ['https://evil.example/', undefined],
    ['javascript:alert(1)', undefined],
    ['/\r\nSet-Cookie: a=b', '/Set-Cookie:%20a=b'],
  ])('%j redirects to %j', (given, path) => {
    expect(ownPath(given)).toBe(path);
  });
});
