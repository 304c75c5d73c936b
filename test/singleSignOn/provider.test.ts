import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { handler as begin } from '../../functions/singleSignOn/begin.ts';
import { Browser } from '../support/browser.ts';
import {
  answer,
  newKeyPair,
  type OpenIdProvider,
  startOpenIdProvider,
  type TokenFaults,
} from '../support/openid-provider.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { begun, claimsOf, comeBack, newPad, signInWith, withProvider } from '../support/single-sign-on.ts';

let provider: OpenIdProvider;
let realm: TestRealm;
beforeEach(async () => {
  provider = await startOpenIdProvider();
  realm = withProvider(await newRealm(), provider.issuer);
});
afterEach(() => {
  vi.restoreAllMocks();
  provider.stop();
});

const DISCOVERY = '/.well-known/openid-configuration';
/** Lets the provider never answer at a path, and ends our patience when it is asked there. Returns who set its length. */
function neverAnswering(path: string) {
  const patience = new AbortController();
  provider.behave(path, () => patience.abort());
  return vi.spyOn(AbortSignal, 'timeout').mockReturnValue(patience.signal);
}

const seconds = (): number => Math.floor(Date.now() / 1000);

/** Signs in, which the fault of the provider must prevent, with a page and a line for the operator. */
async function expectFault(query: Record<string, string> = {}): Promise<string> {
  const { status, text, headers } = await signInWith(realm, provider, claimsOf(realm.people.member), query);
  expect([status, text]).toEqual([400, expect.stringContaining('Ant ID did not answer properly.')]);
  expect(headers).not.toHaveProperty('Set-Cookie');
  expect(headers).not.toHaveProperty('Location');
  expect(realm.reports).toEqual([
    {
      level: 'WARN',
      message: 'the provider of single sign-on did not answer properly',
      problem: expect.stringMatching(/./),
    },
  ]);
  return String(realm.reports[0]?.problem);
}

describe('the ID token (OpenID Connect Core 1.0, 3.1.3.7)', () => {
  const stranger = newKeyPair().privateKey;
  const hour = 3_600;

  test.each<[string, TokenFaults]>([
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['without an issuer', { claims: { iss: undefined } }],
    ['for another application', { claims: { aud: 'other' } }],
    ['for two applications, by another one', { claims: { aud: ['parlance', 'other'], azp: 'other' } }],
    ['with another nonce', { claims: { nonce: 'x' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['that has expired', { claims: { iat: seconds() - 2 * hour, exp: seconds() - hour } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['that is not valid yet', { claims: { nbf: seconds() + hour } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['signed with another key', { key: stranger }],
    ['signed with a key that nobody knows', { header: { kid: 'other' } }],
    ['that says it needs no signature', { header: { alg: 'none' } }],
    ['that says it is signed with a shared secret', { header: { alg: 'HS256' } }],
  ])('is refused %s', async (_, faults) => {
    provider.misissue(faults);
    await expectFault({ mobile_flow_otp: newPad() });
  });

  it('is accepted from a provider whose clock is a few seconds off', async () => {
    provider.misissue({ claims: { iat: seconds() - 310, exp: seconds() - 10 } });
    expect((await signInWith(realm, provider, claimsOf(realm.people.member))).status).toBe(303);
  });
});

describe('the replies of the provider', () => {
  test.each(['', 'x', '<html>', '[]', 'null', '{}', '{"access_token":1}', '{"id_token":"a.b.c"}', '\0'])(
    'are refused if the token is %j',
    async (body) => {
      provider.behave('/token', (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      );
      await expectFault();
    },
  );

  test.each([
    ['an error', answer({ error: 'invalid_grant', error_description: 'secret' }, 400)],
    ['a failure', answer({}, 500)],
    ['no token', answer({ access_token: 'x', token_type: 'bearer' })],
    ['too much', answer({ padding: 'x'.repeat(300_000) })],
  ])('are refused if the token is %s', async (_, how) => {
    provider.behave('/token', how);
    expect(await expectFault()).not.toContain('secret');
  });

  test.each(['/token', '/keys'])('time out after five seconds: %s', async (path) => {
    const timeout = neverAnswering(path);
    expect(await expectFault()).toContain('no answer in time');
    expect(timeout.mock.calls.flat()).toContain(5_000);
  });

  it('are refused if they are redirects', async () => {
    provider.behave('/token', (_, response) => response.writeHead(302, { location: '/keys' }).end());
    await expectFault();
    expect(provider.heard.map(({ path }) => path)).not.toContain('/keys');
  });

  test.each([
    ['no keys', { keys: [] }],
    ['what are no keys', { keys: [1, 'x', null] }],
    ['broken keys', { keys: [{ kty: 'RSA', kid: 'first', n: '!', e: 'AQAB' }] }],
    ['nothing', {}],
  ])('are refused if the keys are %s', async (_, keys) => {
    provider.behave('/keys', answer(keys));
    await expectFault();
  });

  it('may have the address in the user info', async () => {
    const { member } = realm.people;
    const endpoints = { userinfo_endpoint: `${provider.issuer}/me` };
    provider.behave(DISCOVERY, answer({ ...metadata(), ...endpoints }));
    provider.behave('/me', answer({ sub: 'person', ...claimsOf(member) }));
    expect((await signInWith(realm, provider, {})).status).toBe(303);
    provider.behave('/me', answer({ sub: 'another person', ...claimsOf(member) }));
    const { status, text } = await signInWith(realm, provider, {});
    expect([status, text]).toEqual([400, expect.stringContaining('did not answer properly')]);
  });
});

/** The metadata of the provider. */
const metadata = () => ({
  issuer: provider.issuer,
  authorization_endpoint: `${provider.issuer}/authorize`,
  token_endpoint: `${provider.issuer}/token`,
  jwks_uri: `${provider.issuer}/keys`,
});

describe('the metadata of the provider', () => {
  test.each<[string, () => object]>([
    ['nothing', () => ({})],
    ['of another issuer', () => ({ ...metadata(), issuer: 'https://evil.example' })],
    ['without a sign-in page', () => ({ ...metadata(), authorization_endpoint: undefined })],
    [
      'with a sign-in page that is a script',
      () => ({ ...metadata(), authorization_endpoint: 'javascript:x' }),
    ],
    [
      'with a sign-in page without TLS',
      () => ({ ...metadata(), authorization_endpoint: 'http://evil.example/' }),
    ],
  ])('is refused: %s', async (_, body) => {
    provider.behave(DISCOVERY, answer(body()));
    const { status, headers, text } = await new Browser(realm).open(begin);
    expect([status, text]).toEqual([400, expect.stringContaining('did not answer properly')]);
    expect(headers).not.toHaveProperty('Location');
    expect(headers).not.toHaveProperty('Set-Cookie');
  });

  it('cannot lead to an address that is not public', async () => {
    const other = await startOpenIdProvider();
    provider.behave(DISCOVERY, answer({ ...metadata(), token_endpoint: `${other.issuer}/token` }));
    await expectFault();
    expect(other.heard).toEqual([]);
    other.stop();
  });

  it('times out after five seconds', async () => {
    const timeout = neverAnswering(DISCOVERY);
    const { status, text } = await new Browser(realm).open(begin);
    expect([status, text]).toEqual([400, expect.stringContaining('did not answer properly')]);
    expect(timeout.mock.calls.flat()).toContain(5_000);
  });

  it('causes a refusal if the provider cannot be reached', async () => {
    provider.stop();
    const { status, text } = await new Browser(realm).open(begin);
    expect([status, text]).toEqual([400, expect.stringContaining('did not answer properly')]);
  });
});

it('no secret of a sign-in is in the log or on a page', async () => {
  const { browser, url } = await begun(realm);
  const query = provider.signIn(url, claimsOf(realm.people.member));
  provider.behave('/token', answer({ error: 'invalid_client', error_description: query.code }, 401));
  const { text } = await comeBack(browser, query);
  const written = JSON.stringify([realm.reports, realm.counts, text]);
  const secrets = ['of the tests', query.code, query.state, url.searchParams.get('nonce'), 'member@'];
  for (const secret of secrets) expect(written).not.toContain(secret);
});
