import { badRequest } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import { carryOut } from '../../log/carry-out.ts';
import { newToken } from '../../model/user/link.ts';
import { key } from '../../table/keys.ts';

/** Who may sign in with a token. */
interface LoginToken {
  readonly email: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** When DynamoDB may delete it, in seconds since 1970. */
  readonly expires: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    loginToken: LoginToken;
  }
}

/** How long a token is valid, ms (companion facts 3.14). */
const LIFETIME_MS = 15_000;

const keyFor = (realm: string, token: string) => key('loginToken', { realm, digest: digestOf(token) });

/** Makes a token that signs a person in once, within 15 seconds. Only its digest is stored. One round trip. */
export async function newLoginToken(outside: Outside, realm: string, email: string): Promise<string> {
  const { table, now } = outside;
  const token = newToken(outside, 32);
  const until = now() + LIFETIME_MS;
  await table.put(keyFor(realm, token), { email, until, expires: Math.ceil(until / 1000) + 3600 });
  return token;
}

/**
 * Uses up a token. Two round trips.
 *
 * @returns the address of the account that it is for
 * @throws Refusal if it is not ours, was used before, or has expired
 */
export async function spendLoginToken(outside: Outside, realm: string, token: string): Promise<string> {
  const invalid = () => badRequest('This link has been used, or it has expired. Please sign in again.');
  const at = keyFor(realm, token);
  const stored = await outside.table.get(at);
  if (stored === undefined || stored.until < outside.now()) throw invalid();
  const deletion = { delete: at, when: { absent: false } };
  if ((await carryOut(outside, [deletion])).state === 'refused') throw invalid();
  return stored.email;
}
