import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { isSameSecret, sha256 } from '../../kernel/text.ts';
import { carryOut } from '../../log/carry-out.ts';
import { newToken } from '../../model/user/link.ts';
import { key } from '../../table/keys.ts';
import type { Purpose } from './purpose.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    signInState: { readonly expires: number };
  }
}

/** How long a person may take to sign in at the provider, ms. */
const TIMEOUT_MS = 10 * 60_000;

/** The name of the cookie that a browser keeps while a person signs in at the provider. */
export const ATTEMPT_COOKIE = 'sign-in';

/** A person who is signing in at the provider. Only their browser keeps this, in a cookie. */
interface Attempt {
  readonly purpose: Purpose;
  /** Of PKCE (RFC 7636): proves to the provider that this browser began. */
  readonly verifier: string;
  /** Comes back in the ID token, so that a token of another attempt does not count. */
  readonly nonce: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** The state that belongs to a cookie. It does not reveal the cookie, and there is no second cookie for it. */
const stateOf = (cookie: string): string => sha256(cookie).toString('base64url');

/**
 * Begins an attempt. Everything about it is in a cookie, whose digest travels through the provider as `state`: so only
 * this browser can complete it (RFC 6749, 10.12), and the table holds no secret. One round trip.
 *
 * @returns the attempt with its state, and the cookie with its lifetime in seconds
 */
export async function beginAttempt(outside: Outside, realm: string, purpose: Purpose) {
  const { table, now } = outside;
  const expires = now() + TIMEOUT_MS;
  const attempt: Attempt = {
    purpose,
    verifier: newToken(outside, 32),
    nonce: newToken(outside, 32),
    expires,
  };
  const cookie = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  const state = stateOf(cookie);
  // DynamoDB deletes the item some time later. Until then the time in the cookie decides.
  await table.put(key('signInState', { realm, state }), { expires: Math.ceil(expires / 1000) + 3600 });
  return { ...attempt, state, cookie, seconds: TIMEOUT_MS / 1000 };
}

/**
 * Uses up an attempt that came back from the provider, so that nobody completes it twice. One round trip.
 *
 * @param cookie what the browser keeps
 * @throws Refusal if the attempt was begun in another browser, used before, or has expired
 */
export async function useAttempt(
  outside: Outside,
  realm: string,
  state: string,
  cookie: string | undefined,
): Promise<Attempt> {
  const invalid = () =>
    badRequest('This sign-in was not started in this browser, or it has expired. Please start again.');
  if (cookie === undefined) throw invalid();
  if (!isSameSecret(Buffer.from(state), Buffer.from(stateOf(cookie)))) throw invalid();
  const deletion = { delete: key('signInState', { realm, state }), when: { absent: false } };
  if ((await carryOut(outside, [deletion])).state === 'refused') throw invalid();
  // The state is one that we issued, so the cookie with this digest is ours too.
  const attempt: Attempt = JSON.parse(Buffer.from(cookie, 'base64url').toString());
  if (attempt.expires < outside.now()) throw invalid();
  return attempt;
}
