import { timingSafeEqual } from 'node:crypto';
import { refusal } from '../kernel/errors.ts';
import { folded } from '../kernel/folding.ts';
import { limits } from '../model/realm/realm.ts';
import { digestOf } from '../model/user/user.ts';

/**
 * What HTTP Basic brings: the email, folded, and the digest of the key. The key itself goes no further. However the header
 * is spelled (case of the scheme and of the address, blanks, padding), the same credentials are the same here, which is
 * all that anything may be counted or kept by.
 */
export interface Credentials {
  readonly email: string;
  readonly keyDigest: string;
}

/** Room for the longest address and a key in base64, and for blanks. */
const LONGEST_HEADER = 2_000;

/** Longer names than any address are cut to this, which no account has, so that they cost the same look-up. */
const NO_ADDRESS = '';

/**
 * Reads the `Authorization` header (wire facts 1.3): no header, an empty one, or one that does not decode into exactly two
 * parts, is `UNAUTHORIZED`; another scheme is `BAD_REQUEST`. Email and key are trimmed.
 */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined || header.trim() === '') throw refusal('noCredentials');
  const [scheme, encoded, ...rest] = header.trim().split(/\s+/);
  if (scheme?.toLowerCase() !== 'basic') throw refusal('unsupportedScheme');
  if (encoded === undefined || rest.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw refusal('unauthorized');
  }
  if (header.length > LONGEST_HEADER) throw refusal('unauthorized');
  const parts = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const [email, key] = parts;
  if (parts.length !== 2 || email === undefined || key === undefined) throw refusal('unauthorized');
  const name = email.trim();
  return { email: name.length > limits.email ? NO_ADDRESS : folded(name), keyDigest: digestOf(key.trim()) };
}

/** A digest that no key has: compared for unknown addresses, so that they take as long as known ones. */
const NOBODY = '0'.repeat(64);

/** Whether the presented key is the account's, in constant time. */
export const isKeyOf = (account: { readonly keyDigest: string } | undefined, presented: string): boolean => {
  const same = timingSafeEqual(
    Buffer.from(account?.keyDigest ?? NOBODY, 'hex'),
    Buffer.from(presented, 'hex'),
  );
  return same && account !== undefined;
};
