import { createHash, timingSafeEqual } from 'node:crypto';

/** The SHA-256 digest of a text or of bytes. */
export const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** Whether two secrets, or their digests, are the same. Compares in constant time; only a difference in length shows. */
export const isSameSecret = (shown: Uint8Array, expected: Uint8Array): boolean =>
  shown.length === expected.length && timingSafeEqual(shown, expected);
