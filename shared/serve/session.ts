import type { Outside } from '../kernel/outside.ts';
import { isSameSecret, sha256 } from '../kernel/text.ts';
import { newToken } from '../model/user/link.ts';
import type { Site } from '../pages/layout.ts';
import { readCookie, setCookie } from './cookie.ts';

/** The cookie with the credentials of a browser that has signed in, and how long it is kept (s). */
const SESSION = 'session';
const SESSION_SECONDS = 30 * 86_400;

/** The cookie that ties forms to a browser that has not signed in, and how long it is kept (s). */
const VISITOR = 'visitor';
const VISITOR_SECONDS = 86_400;

/** A request of a browser. */
interface Browser {
  readonly baseUrl: string;
  readonly cookies: string | undefined;
}

/** The header that begins a session: the browser keeps the key that the sign-in made for it. */
export const beginSession = (baseUrl: string, email: string, apiKey: string) =>
  setCookie(baseUrl, {
    name: SESSION,
    value: Buffer.from(`${email}:${apiKey}`).toString('base64url'),
    seconds: SESSION_SECONDS,
  });

/** The header by which the browser forgets its session. The key is revoked apart from this. */
export const endSession = (baseUrl: string) => setCookie(baseUrl, { name: SESSION, value: '', seconds: 0 });

/** What the cookie of the session holds, if there is one. */
export const readSession = ({ baseUrl, cookies }: Browser): string | undefined =>
  readCookie(baseUrl, cookies, SESSION) || undefined;

/** Where a page for somebody with a session stands. */
export const siteOf = (browser: Browser): Site => ({
  root: rootOf(browser.baseUrl),
  formToken: tokenOf(readSession(browser) ?? ''),
});

/** Where a page for anyone stands, and the header that gives a new browser its cookie. */
export function visitorSite(
  { baseUrl, cookies }: Browser,
  outside: Pick<Outside, 'randomBytes'>,
): { readonly site: Site; readonly headers: Readonly<Record<string, string>> } {
  const kept = readCookie(baseUrl, cookies, VISITOR);
  const isKept = kept !== undefined && /^[\w-]{22}$/.test(kept);
  const value = isKept ? kept : newToken(outside, 16);
  return {
    site: { root: rootOf(baseUrl), formToken: tokenOf(value) },
    headers: isKept ? {} : setCookie(baseUrl, { name: VISITOR, value, seconds: VISITOR_SECONDS }),
  };
}

/** What comes before every path of this service in an address: the name of the stage, or nothing. */
export const rootOf = (baseUrl: string): string => baseUrl.replace(/^https?:\/\/[^/]*/, '');

/**
 * Whether a form token belongs to this browser: it follows from a cookie that other sites cannot read.
 *
 * @param isSession whether the page with the form was for somebody with a session
 */
export function isFormToken({ baseUrl, cookies }: Browser, isSession: boolean, token: string): boolean {
  const secret = readCookie(baseUrl, cookies, isSession ? SESSION : VISITOR);
  return secret !== undefined && secret !== '' && isSameSecret(sha256(token), sha256(tokenOf(secret)));
}

const tokenOf = (secret: string): string => sha256(`form:${secret}`).toString('base64url');
