import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { mayCall } from '../support/accounts.ts';
import { Browser, type BrowserReply } from '../support/browser.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { begun, claimsOf, comeBack, newPad, readMobile, withProvider } from '../support/single-sign-on.ts';

let provider: OpenIdProvider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startOpenIdProvider();
  realm = withProvider(await newRealm(), provider.issuer);
});
afterEach(() => provider.stop());

const COOKIE = '__Host-parlance-sign-in';
const claims = () => claimsOf(realm.people.member);

/** That nobody was signed in, and the provider was not asked for a token. */
function expectNotTheirs({ status, headers, text }: BrowserReply): void {
  expect([status, text]).toEqual([400, expect.stringContaining('was not started in this browser')]);
  expect(headers).not.toHaveProperty('Set-Cookie');
  expect(provider.heard.filter(({ path }) => path === '/token')).toEqual([]);
}

describe('the browser that completes a sign-in (RFC 6749, 10.12)', () => {
  it('must be the one that started it', async () => {
    const attacker = await begun(realm);
    const query = provider.signIn(attacker.url, claims());
    expectNotTheirs(await comeBack(new Browser(realm), query));
    // A victim who is signing in at this moment keeps their own sign-in.
    const victim = await begun(realm);
    expectNotTheirs(await comeBack(victim.browser, query));
    expect((await comeBack(victim.browser, provider.signIn(victim.url, claims()))).status).toBe(303);
  });

  it('has a cookie for this host only, over TLS, that scripts cannot read', async () => {
    const { browser, url } = await begun(realm);
    const cookie = browser.cookies.get(COOKIE) ?? '';
    expect(cookie).toMatch(/^[\w-]{100,4000}$/);
    expect(url.href).not.toContain(cookie);
    const { verifier, nonce } = JSON.parse(Buffer.from(cookie, 'base64url').toString());
    expect(url.href).not.toContain(verifier);
    expect(url.searchParams.get('nonce')).toBe(nonce);
  });

  it('cannot change its cookie', async () => {
    const { browser, url } = await begun(realm, { mobile_flow_otp: newPad() });
    const attempt = JSON.parse(Buffer.from(browser.cookies.get(COOKIE) ?? '', 'base64url').toString());
    const query = provider.signIn(url, claims());
    const changed = { ...attempt, purpose: { kind: 'mobile', pad: newPad() } };
    for (const cookie of [Buffer.from(JSON.stringify(changed)).toString('base64url'), 'x', '']) {
      browser.cookies.set(COOKIE, cookie);
      expectNotTheirs(await comeBack(browser, query));
    }
  });
});

describe('the state', () => {
  it('can be used once, even by concurrent requests', async () => {
    const pad = newPad();
    const { browser, url } = await begun(realm, { mobile_flow_otp: pad });
    const cookie = browser.cookies.get(COOKIE) ?? '';
    const query = provider.signIn(url, claims());
    const again = () => {
      const copy = new Browser(realm);
      copy.cookies.set(COOKIE, cookie);
      return comeBack(copy, query);
    };
    const replies = await Promise.all([again(), again(), again()]);
    expect(replies.map(({ status }) => status).sort()).toEqual([302, 400, 400]);
    expect((await again()).status).toBe(400);
    expect(provider.heard.filter(({ path }) => path === '/token')).toHaveLength(1);
    const phone = replies.find(({ status }) => status === 302) ?? expect.fail();
    expect(await mayCall(realm, { ...realm.people.member, apiKey: readMobile(phone, pad).apiKey })).toBe(
      true,
    );
  });

  it('expires after ten minutes', async () => {
    const { browser, url } = await begun(realm);
    realm.pass(10 * 60_000 + 1_000);
    expectNotTheirs(await comeBack(browser, provider.signIn(url, claims())));
  });

  it('is valid in one organization', async () => {
    const { browser, url } = await begun(realm);
    const elsewhere = new Browser(withProvider(await newRealm(), provider.issuer));
    elsewhere.cookies.set(COOKIE, browser.cookies.get(COOKIE) ?? '');
    expectNotTheirs(await comeBack(elsewhere, provider.signIn(url, claims())));
  });

  test.each(['', 'x', 'x'.repeat(43), 'x'.repeat(10_000)])(
    'must be one that we issued, and not %j',
    async (state) => {
      const { browser, url } = await begun(realm);
      expectNotTheirs(await comeBack(browser, { ...provider.signIn(url, claims()), state }));
    },
  );
});

describe('a code', () => {
  it('of another sign-in is refused (RFC 7636)', async () => {
    const [first, second] = [await begun(realm), await begun(realm)];
    const { code = '' } = provider.signIn(first.url, claims());
    const { state = '' } = provider.signIn(second.url, claims());
    const { status, text } = await comeBack(second.browser, { code, state });
    expect([status, text]).toEqual([400, expect.stringContaining('did not answer properly')]);
  });

  test.each([
    ['they did not sign in there', { error: 'access_denied' }, 'The sign-in was not completed.'],
    ['there is none', {}, 'did not answer properly'],
    ['another provider sends it', { code: 'x', iss: 'https://evil.example' }, 'did not answer properly'],
  ])('is refused if %s', async (_, query, problem) => {
    const { browser, url } = await begun(realm);
    const { state = '' } = provider.signIn(url, claims());
    const { status, text, headers } = await comeBack(browser, { ...query, state });
    expect([status, text]).toEqual([400, expect.stringContaining(problem)]);
    expect(headers).not.toHaveProperty('Set-Cookie');
  });
});
