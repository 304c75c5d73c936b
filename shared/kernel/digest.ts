import { createHash } from 'node:crypto';

/** SHA-256 of a text: secrets are compared by it in constant time, since it has one length. */
export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
