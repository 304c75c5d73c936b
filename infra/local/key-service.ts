import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createJsonService, type JsonService, ServiceError } from './json-service.ts';

/** Bytes of a nonce and of a tag of AES-GCM. */
const NONCE = 12;
const TAG = 16;

/**
 * The part of AWS KMS that functions use: encrypting and decrypting small data with a key that stays here.
 *
 * @param file Where the key is kept, readable by its owner only; it is made when it is not there.
 */
export function createKeyService(file: string): JsonService {
  const secret = readOrMake(file);
  return createJsonService('TrentService', {
    Encrypt: ({ KeyId, Plaintext, EncryptionContext }) => {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(bound(KeyId, EncryptionContext));
      const sealed = [cipher.update(Buffer.from(String(Plaintext), 'base64')), cipher.final()];
      const blob = Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]);
      return { CiphertextBlob: blob.toString('base64'), KeyId, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' };
    },
    Decrypt: ({ KeyId, CiphertextBlob, EncryptionContext }) => {
      const blob = Buffer.from(String(CiphertextBlob), 'base64');
      try {
        const opened = createDecipheriv('aes-256-gcm', secret, blob.subarray(0, NONCE), {
          authTagLength: TAG,
        })
          .setAAD(bound(KeyId, EncryptionContext))
          .setAuthTag(blob.subarray(-TAG));
        const plaintext = Buffer.concat([opened.update(blob.subarray(NONCE, -TAG)), opened.final()]);
        return { Plaintext: plaintext.toString('base64'), KeyId, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' };
      } catch {
        throw new ServiceError(
          'InvalidCiphertextException',
          'The ciphertext was not sealed with this key and context.',
        );
      }
    },
  });
}

/** What a ciphertext is bound to: it opens with the same key and context only. */
function bound(keyId: unknown, context: unknown): Buffer {
  const pairs = Object.entries(typeof context === 'object' && context !== null ? context : {}).sort();
  return Buffer.from(JSON.stringify([keyId, pairs]));
}

function readOrMake(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const secret = randomBytes(32);
    writeFileSync(file, secret, { mode: 0o600 });
    return secret;
  }
}
