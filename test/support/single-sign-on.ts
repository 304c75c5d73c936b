import { randomBytes } from 'node:crypto';
import { handler as begin } from '../../functions/singleSignOn/begin.ts';
import { handler as complete } from '../../functions/singleSignOn/complete.ts';
import { Browser, type BrowserReply } from './browser.ts';
import { CLIENT_ID, type OpenIdProvider } from './openid-provider.ts';
import type { Person, TestRealm } from './realm.ts';

type Query = Readonly<Record<string, string>>;

/** The same organization on a server whose operator set this provider up, in a new container. */
export const withProvider = (realm: TestRealm, issuer: string): TestRealm =>
  realm.container(undefined, {
    environment: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_NAME: 'Ant ID' },
  });

/** 32 random bytes as hex, as a client makes them. */
export const newPad = (): string => randomBytes(32).toString('hex');

/** Is sent to the provider, in a browser of its own unless one is given. */
export async function begun(realm: TestRealm, query: Query = {}, browser = new Browser(realm)) {
  const { status, headers, text } = await browser.open(begin, { query });
  if (status !== 302) throw new Error(`not sent on: ${status} ${text}`);
  return { browser, url: new URL(String(headers.Location)) };
}

/** Comes back from the provider with this query. */
export const comeBack = (browser: Browser, query: Query): Promise<BrowserReply> =>
  browser.open(complete, { query, headers: { 'sec-fetch-site': 'cross-site' } });

/** What an honest provider says about a user. */
export const claimsOf = ({ email }: Pick<Person, 'email'>) => ({
  email,
  email_verified: true,
  name: 'Ada Ant',
});

/** Signs in from the beginning to the end, as a user with these claims. */
export async function signInWith(
  realm: TestRealm,
  provider: OpenIdProvider,
  claims: Readonly<Record<string, unknown>>,
  query: Query = {},
): Promise<BrowserReply> {
  const { browser, url } = await begun(realm, query);
  return comeBack(browser, provider.signIn(url, claims));
}

/** What the mobile client reads from the address that it is handed. */
export function readMobile({ headers }: Pick<BrowserReply, 'headers'>, pad: string) {
  const url = new URL(String(headers.Location));
  const encrypted = url.searchParams.get('otp_encrypted_api_key') ?? '';
  const padBytes = Buffer.from(pad, 'hex');
  const bytes = Buffer.from(encrypted, 'hex').map((byte, i) => byte ^ (padBytes[i] ?? 0));
  return { url, encrypted, apiKey: Buffer.from(bytes).toString('latin1') };
}
