import { createDecipheriv } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { handler as listKeys } from '../../functions/apiKeys/list.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as showSignIn } from '../../functions/pages/showSignIn.ts';
import { handler as signIn } from '../../functions/pages/signIn.ts';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { handler as begin } from '../../functions/singleSignOn/begin.ts';
import { handler as useToken } from '../../functions/singleSignOn/useLoginToken.ts';
import { handler as deactivateUser } from '../../functions/users/deactivate.ts';
import { newProviderMemory } from '../../shared/domain/single-sign-on/provider.ts';
import { signInUrl } from '../../shared/domain/single-sign-on/provider-api.ts';
import { key } from '../../shared/table/keys.ts';
import { mayCall } from '../support/accounts.ts';
import { Browser, type BrowserReply } from '../support/browser.ts';
import { givenDomain } from '../support/domain-state.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { begun, claimsOf, newPad, readMobile, signInWith, withProvider } from '../support/single-sign-on.ts';

let provider: OpenIdProvider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startOpenIdProvider();
  realm = withProvider(await newRealm(), provider.issuer);
});
afterEach(() => provider.stop());

/** Signs in on a telephone and returns the account with its new key. */
async function onPhone(claims: Readonly<Record<string, unknown>>, at = realm): Promise<Person> {
  const pad = newPad();
  const reply = await signInWith(at, provider, claims, { mobile_flow_otp: pad });
  const { url, apiKey } = readMobile(reply, pad);
  const email = url.searchParams.get('email') ?? '';
  return { email, apiKey, userId: Number(url.searchParams.get('user_id')) };
}

/** The account that the session of a browser is for. */
function sessionOf({ headers }: BrowserReply): Person {
  const [, value = ''] = /^__Host-parlance-session=([\w-]+);/.exec(String(headers['Set-Cookie'])) ?? [];
  const [email = '', apiKey = ''] = Buffer.from(value, 'base64url').toString().split(':');
  return { email, apiKey, userId: 0 };
}

const askToBegin = (query: Readonly<Record<string, string>>, at = realm): Promise<BrowserReply> =>
  new Browser(at).open(begin, { query });

/** The status of a page that signs nobody in, and what it says. */
function refusalOf({ status, headers, text }: BrowserReply): [number, string] {
  expect(headers).not.toHaveProperty('Location');
  expect(headers).not.toHaveProperty('Set-Cookie');
  return [status, /<\/header>\s*<p>([^<]*)<\/p>/.exec(text)?.[1] ?? ''];
}

const deactivated = expect.stringContaining('deactivated');

describe('GET /accounts/login/social/oidc', () => {
  it('sends the browser to the provider with all parameters of the authorization code flow and PKCE', async () => {
    const { url } = await begun(realm);
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'parlance',
      redirect_uri: `https://${realm.host}/complete/oidc`,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  it('loads the metadata of the provider once an hour', async () => {
    const asking = {
      outside: realm.outside,
      provider: { issuer: provider.issuer, clientId: 'parlance', name: 'Ant ID', clientSecret: '' },
      memory: newProviderMemory(),
    };
    const parameters = { state: 'a', nonce: 'b', verifier: 'c', redirectUri: 'https://chat.example' };
    for (const _ of [1, 2, 3]) await signInUrl(asking, parameters);
    expect(provider.heard).toHaveLength(1);
    realm.pass(61 * 60_000);
    await signInUrl(asking, parameters);
    expect(provider.heard).toHaveLength(2);
  });

  const badPad = 'must be 64 hexadecimal digits';

  test.each<[string, Record<string, string>, string]>([
    ['a pad that is too short', { mobile_flow_otp: 'ab'.repeat(31) }, badPad],
    ['a pad that is too long', { mobile_flow_otp: 'ab'.repeat(33) }, badPad],
    ['a pad that is not hex', { desktop_flow_otp: 'xy'.repeat(32) }, badPad],
    ['a pad that ends with a new line', { desktop_flow_otp: `${'ab'.repeat(32)}\n` }, badPad],
    ['an empty pad', { mobile_flow_otp: '' }, badPad],
    ['two pads', { mobile_flow_otp: newPad(), desktop_flow_otp: newPad() }, 'not both'],
    ['a page with a very long address', { next: `/${'x'.repeat(10_000)}` }, 'too long'],
  ])('refuses %s', async (_, query, problem) => {
    expect(refusalOf(await askToBegin(query))).toEqual([400, expect.stringContaining(problem)]);
    expect(provider.heard).toEqual([]);
  });

  it('is refused on a server without a provider, and for an unknown host', async () => {
    const problem = 'Single sign-on is not set up on this server.';
    expect(refusalOf(await askToBegin({}, await newRealm()))).toEqual([400, problem]);
    const headers = { host: 'nobody.test' };
    expect(refusalOf(await new Browser(realm).open(begin, { headers }))[0]).toBe(404);
  });
});

describe('the offer of single sign-on (companion facts 3.13)', () => {
  it('is among the sign-in methods of server_settings and of register', async () => {
    const { body } = await realm.call(getSettings, undefined);
    expect(body.authentication_methods['openid connect']).toBe(true);
    expect(body.external_authentication_methods).toEqual([
      {
        name: 'oidc:oidc',
        display_name: 'Ant ID',
        display_icon: null,
        login_url: '/accounts/login/social/oidc',
        signup_url: '/accounts/login/social/oidc',
      },
    ]);
    const registered = await realm.call(register, realm.people.member, { fetch_event_types: ['realm'] });
    expect(registered.body.realm_authentication_methods).toHaveProperty('OpenID Connect');
  });

  it('is a button of the sign-in page, also after a wrong password', async () => {
    const browser = new Browser(realm);
    const link = 'href="/accounts/login/social/oidc?next=%2Faccount">Sign in with Ant ID</a>';
    const page = await browser.open(showSignIn, { query: { next: '/account' } });
    expect(page.text).toContain(link);
    const fields = { email: 'member@example.com', password: 'wrong', next: '/account' };
    expect((await browser.submit(signIn, page, fields)).text).toContain(link);
  });

  it('is absent on a server without a provider', async () => {
    const bare = await newRealm();
    const { body } = await bare.call(getSettings, undefined);
    expect(body.authentication_methods['openid connect']).toBe(false);
    expect(body.external_authentication_methods).toEqual([]);
    expect((await new Browser(bare).open(showSignIn)).text).not.toContain('Sign in with');
  });
});

describe('a sign-in on a phone (companion facts 3.14)', () => {
  it('returns a working key that only the client can decrypt', async () => {
    const { member } = realm.people;
    const pad = newPad();
    const reply = await signInWith(realm, provider, claimsOf(member), { mobile_flow_otp: pad });
    expect(reply.status).toBe(302);
    const { url, encrypted, apiKey } = readMobile(reply, pad);
    expect(url.href).toMatch(/^zulip:\/\/login\?otp_encrypted_api_key=/);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      otp_encrypted_api_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      email: member.email,
      user_id: String(member.userId),
      realm: `https://${realm.host}`,
    });
    expect(encrypted).not.toContain(Buffer.from(apiKey).toString('hex'));
    const phone = { ...member, apiKey };
    const { body } = await realm.call(listKeys, phone);
    expect(body.api_keys.at(-1)).toMatchObject({ label: 'Zulip mobile', is_current: true });
    expect(await mayCall(realm, member)).toBe(true);
  });

  it('deletes the cookie of the sign-in, and starts no session', async () => {
    const reply = await signInWith(realm, provider, claimsOf(realm.people.member), {
      mobile_flow_otp: newPad(),
    });
    expect(reply.headers['Set-Cookie']).toMatch(/^__Host-parlance-sign-in=; Path=\/; Max-Age=0;/);
  });

  it('finds the account in any case of the address', async () => {
    const { member } = realm.people;
    expect(await onPhone({ ...claimsOf(member), email: 'MEMBER@Example.COM' })).toMatchObject({
      userId: member.userId,
      email: member.email,
    });
  });
});

describe('a sign-in in a browser', () => {
  it('starts a session, and redirects to the requested page', async () => {
    const { member } = realm.people;
    const reply = await signInWith(realm, provider, claimsOf(member), { next: '/account?done=x' });
    expect(reply.status).toBe(303);
    expect(reply.headers.Location).toBe('/account?done=x');
    expect(reply.headers['Set-Cookie']).toMatch(/; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax$/);
    const session = sessionOf(reply);
    expect(session.email).toBe(member.email);
    expect(await mayCall(realm, session)).toBe(true);
  });

  it('redirects to the account page if no page was requested', async () => {
    const reply = await signInWith(realm, provider, claimsOf(realm.people.member));
    expect(reply.headers.Location).toBe('/account');
  });

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/\t/evil.example/',
    'javascript:x',
  ])('does not redirect to another site: %j', async (next) => {
    const reply = await signInWith(realm, provider, claimsOf(realm.people.member), { next });
    expect([reply.status, reply.headers.Location]).toEqual([303, '/account']);
  });

  it('names the key after the browser', async () => {
    const { member } = realm.people;
    const reply = await signInWith(realm, provider, claimsOf(member));
    const { body } = await realm.call(listKeys, sessionOf(reply));
    expect(body.api_keys.at(-1).label).toBe('Firefox on Linux');
  });
});

describe('a sign-in on a desktop (companion facts 3.14)', () => {
  /** The login token on the page, as the client decrypts it. */
  async function tokenFor(person: Person): Promise<string> {
    const pad = newPad();
    const { status, text } = await signInWith(realm, provider, claimsOf(person), { desktop_flow_otp: pad });
    expect(status).toBe(200);
    const shown = Buffer.from(/\b[0-9a-f]{56,}\b/.exec(text)?.[0] ?? '', 'hex');
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(pad, 'hex'), shown.subarray(0, 12));
    decipher.setAuthTag(shown.subarray(-16));
    return decipher.update(shown.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
  }

  const expired = [400, 'This link has been used, or it has expired. Please sign in again.'];

  const use = (token: string, headers: Readonly<Record<string, string>> = {}, at = realm) =>
    new Browser(at).open(useToken, { path: { token }, headers });

  it('shows a token with which the client gets a session', async () => {
    const { member } = realm.people;
    const token = await tokenFor(member);
    const reply = await use(token);
    expect([reply.status, reply.headers.Location]).toEqual([303, '/account']);
    const session = sessionOf(reply);
    expect(session.email).toBe(member.email);
    expect(await mayCall(realm, session)).toBe(true);
  });

  it('accepts a token once, even in requests at the same time', async () => {
    const token = await tokenFor(realm.people.member);
    const replies = await Promise.all([1, 2, 3].map(() => use(token)));
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
    expect(refusalOf(await use(token))).toEqual(expired);
  });

  it('refuses a token after 15 seconds, a modified one, and one of another organization', async () => {
    const [old, other] = [await tokenFor(realm.people.member), await tokenFor(realm.people.guest)];
    const elsewhere = withProvider(await newRealm(), provider.issuer);
    expect(refusalOf(await use(other, {}, elsewhere))).toEqual(expired);
    realm.pass(15_100);
    expect(refusalOf(await use(old))).toEqual(expired);
    for (const token of ['x', `${await tokenFor(realm.people.member)}x`, 'x'.repeat(10_000)]) {
      expect(refusalOf(await use(token)), token).toEqual(expired);
    }
  });

  it('refuses a token in a link from another site, and leaves it usable', async () => {
    const token = await tokenFor(realm.people.member);
    expect(refusalOf(await use(token, { 'sec-fetch-site': 'cross-site' }))).toEqual([
      400,
      'A link of another site cannot sign you in.',
    ]);
    expect((await use(token, { 'sec-fetch-site': 'none' })).status).toBe(303);
  });

  it('refuses the token of a user who was deactivated meanwhile', async () => {
    const { admin, member } = realm.people;
    const token = await tokenFor(member);
    await realm.call(deactivateUser, admin, {}, { path: { user: member.userId } });
    expect(refusalOf(await use(token))).toEqual([403, deactivated]);
  });
});

describe('who may sign in', () => {
  const signedIn = (claims: Readonly<Record<string, unknown>>, at = realm) =>
    signInWith(at, provider, claims, { mobile_flow_otp: newPad() });

  const [unverified, unknown] = ['has not verified your email address', 'does not tell your email address'];

  test.each<[string, object, string]>([
    ['an address that is not verified', { email_verified: false }, unverified],
    ['an address that it neither verifies nor doubts', { email_verified: undefined }, unverified],
    ['an address that is verified in another word', { email_verified: 'true' }, unverified],
    ['no address', { email: undefined }, unknown],
    ['a list of addresses', { email: ['member@example.com'] }, unknown],
    ['an address that is none', { email: 'member' }, unknown],
    ['an address that holds another', { email: 'member@example.com,owner@example.com' }, unknown],
    ['an address with a NUL', { email: 'member@example.com\0' }, unknown],
    ['a very long address', { email: `${'x'.repeat(10_000)}@example.com` }, unknown],
    ['the address of a bot', { email: 'bot@example.com' }, 'does not belong to a person'],
    ['the address of nobody', { email: 'nobody@example.com' }, 'Open the link of your invitation'],
  ])('refuses %s', async (_, claims, problem) => {
    const { people } = realm;
    expect(people.bot.email).toBe('bot@example.com');
    const reply = await signedIn({ ...claimsOf(people.member), ...claims });
    expect(refusalOf(reply)).toEqual([400, expect.stringContaining(problem)]);
  });

  it('refuses deactivated users, and every user of a deactivated organization', async () => {
    const { admin, member, guest } = realm.people;
    await realm.call(deactivateUser, admin, {}, { path: { user: member.userId } });
    expect(refusalOf(await signedIn(claimsOf(member)))).toEqual([403, deactivated]);
    const at = key('realm', { realm: realm.realm });
    await realm.outside.table.update(at, { set: { deactivated: true } });
    expect(refusalOf(await signedIn(claimsOf(guest)))).toEqual([
      403,
      expect.stringContaining('organization'),
    ]);
  });

  const nina = { email: 'nina@ant.example', email_verified: true, name: 'Nina Ant' };

  /** An organization that lets people with an address at ant.example in. */
  async function openRealm(settings: object = {}): Promise<TestRealm> {
    const open = { emails_restricted_to_domains: true, invite_required: false, ...settings };
    const made = await newRealm(open);
    await givenDomain(made, 'ant.example');
    return withProvider(made, provider.issuer);
  }

  it('creates accounts for new users with an address in an allowed domain', async () => {
    const open = await openRealm();
    const person = await onPhone(nina, open);
    const user = await open.outside.table.get('user', { realm: open.realm, userId: person.userId });
    expect(user).toMatchObject({ email: nina.email, fullName: 'Nina Ant', role: 400, isBot: false });
    expect(await mayCall(open, person)).toBe(true);
    expect((await onPhone(nina, open)).userId).toBe(person.userId);
  });

  it('creates one account for a user who signs in twice at the same time', async () => {
    const open = await openRealm();
    const people = await Promise.all([1, 2, 3].map(() => onPhone(nina, open)));
    expect(new Set(people.map(({ userId }) => userId)).size).toBe(1);
    for (const person of people) expect(await mayCall(open, person)).toBe(true);
  });

  it('names new users without a name after their address', async () => {
    const open = await openRealm();
    const { userId } = await onPhone({ ...nina, name: undefined }, open);
    const user = await open.outside.table.get('user', { realm: open.realm, userId });
    expect(user?.fullName).toBe('nina');
  });

  test.each([
    ['an invitation is required', { invite_required: true }, nina, 'Open the link of your invitation'],
    [
      'no domain is allowed',
      { emails_restricted_to_domains: false },
      nina,
      'Open the link of your invitation',
    ],
    ['their domain is not allowed', {}, { ...nina, email: 'nina@bee.example' }, 'are not allowed'],
    ['their address has a plus', {}, { ...nina, email: 'nina+1@ant.example' }, 'with a +'],
    ['their name is not allowed', {}, { ...nina, name: 'Nina * Ant' }, 'cannot contain'],
    ['their name is very long', {}, { ...nina, name: 'x'.repeat(10_000) }, 'at most 100'],
  ])('refuses new users if %s', async (_, settings, claims, problem) => {
    const open = await openRealm(settings);
    const before = await open.outside.table.all('user', { realm: open.realm });
    expect(refusalOf(await signedIn(claims, open))).toEqual([400, expect.stringContaining(problem)]);
    expect(await open.outside.table.all('user', { realm: open.realm })).toHaveLength(before.length);
  });
});
