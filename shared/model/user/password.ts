import { type BinaryLike, randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordCost } from '../../kernel/outside.ts';
import { isSameSecret } from '../../kernel/text.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    password: Password;
  }
}

/** A password as stored. */
export interface Password {
  /** `scrypt$log2(N)$r$p$salt$hash`, so that the costs can rise without making old passwords invalid. */
  readonly hash: string;
  /** When it was set, in seconds since 1970. */
  readonly changed: number;
}

/** Fewest and most code points of a password, and how many guesses it must withstand. */
export const passwordRules = { minLength: 8, maxLength: 100, minGuesses: 1_000_000 } as const;

/** One of the costs that OWASP recommends for scrypt (2026): 32 MB of memory, three times. Some 200 ms of a processor. */
export const passwordCost: PasswordCost = { log2N: 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;

const derive = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt);

/** The same text has one form, however a keyboard composes its letters. */
const formOf = (password: string): string => password.normalize('NFKC');

/** Hashes a password for storage. */
export async function hashPassword(password: string, cost: PasswordCost): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await hashed(password, salt, cost);
  return ['scrypt', cost.log2N, cost.r, cost.p, salt.toString('base64'), hash.toString('base64')].join('$');
}

async function hashed(password: string, salt: Buffer, { log2N, r, p }: PasswordCost): Promise<Buffer> {
  const N = 2 ** log2N;
  // scrypt needs 128 * N * r bytes; OpenSSL refuses more than `maxmem`.
  return derive(formOf(password), salt, HASH_BYTES, { N, r, p, maxmem: 130 * N * r });
}

/** Compared where there is no password, so that this takes as long. No password has this hash. */
const noHash = ({ log2N, r, p }: PasswordCost): string =>
  `scrypt$${log2N}$${r}$${p}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`;

/** Whether this is the stored password. It takes as long when nothing is stored; `newCost` is that of new passwords. */
export async function isPassword(
  stored: Password | undefined,
  password: string,
  newCost: PasswordCost,
): Promise<boolean> {
  const [, log2N, r, p, salt = '', hash = ''] = (stored?.hash ?? noHash(newCost)).split('$');
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const made = await hashed(password, Buffer.from(salt, 'base64'), cost);
  return isSameSecret(made, Buffer.from(hash, 'base64')) && stored !== undefined;
}

/** Sets the password of a user. */
export const doSetPassword = (realm: string, userId: number, password: Password): Write => ({
  put: key('password', { realm, userId }),
  item: { ...password },
});
