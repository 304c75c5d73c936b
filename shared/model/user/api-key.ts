import { createHash } from 'node:crypto';
import type { Outside } from '../../kernel/outside.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 32;
/** The largest multiple of the alphabet's length that a byte can hold: bytes above would favour some letters. */
const FAIR = 256 - (256 % ALPHABET.length);

/** A new API key: 32 unguessable alphanumerics (wire facts 1.3). Shown once, stored only as its digest. */
export function newApiKey(outside: Pick<Outside, 'randomBytes'>): string {
  let key = '';
  while (key.length < LENGTH) {
    for (const byte of outside.randomBytes(LENGTH)) {
      if (byte < FAIR && key.length < LENGTH) key += ALPHABET[byte % ALPHABET.length];
    }
  }
  return key;
}

/** What is stored of an API key: 32 random characters need no salt and no slow hash. */
export const digestOf = (apiKey: string): string => createHash('sha256').update(apiKey).digest('hex');
