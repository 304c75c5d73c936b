import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Device } from './device.ts';

/**
 * Encrypts the push keys of one organization's devices, so that none is stored in clear (envelope encryption). Only the
 * organization's key is sealed by the key service: a notification for a hundred devices calls that service once.
 */
export interface Keyring {
  readonly seal: (secret: Uint8Array, of: Owner) => string;
  /** Throws for a secret that was sealed elsewhere, or for another device. */
  readonly open: (sealed: string, of: Owner) => Uint8Array;
  /** Stores the organization's key, if it is new. */
  readonly write?: Write;
}

type Owner = Pick<Device, 'userId' | 'deviceId'>;

/** The organization's key, as stored. */
interface StoredKeyring {
  readonly sealed: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushChest: StoredKeyring;
  }
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Random = Pick<Outside, 'randomBytes'>;

/** The organization's keyring, or a new one if none is stored. One call of the key service. */
export async function openKeyring(
  random: Random,
  vault: Vault,
  realm: string,
  stored: StoredKeyring | undefined,
): Promise<Keyring> {
  const context = { purpose: 'push keys', realm };
  if (stored !== undefined) {
    return keyringOf(random, realm, Buffer.from(await vault.open(stored.sealed, context), 'base64'));
  }
  const own = Buffer.from(random.randomBytes(KEY_BYTES));
  const item = { sealed: await vault.seal(own.toString('base64'), context) };
  const write: Write = { put: key('pushChest', { realm }), item, when: { absent: true } };
  return { ...keyringOf(random, realm, own), write };
}

/** Authenticated with each secret, so that one sealed for a device opens for no other. */
const labelOf = (realm: string, { userId, deviceId }: Owner): Buffer =>
  Buffer.from(JSON.stringify([realm, userId, deviceId]));

const keyringOf = ({ randomBytes }: Random, realm: string, own: Uint8Array): Keyring => ({
  seal: (secret, of) => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, own, nonce).setAAD(labelOf(realm, of));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  },
  open: (sealed, of) => {
    const bytes = Buffer.from(sealed, 'base64');
    const start = NONCE_BYTES + TAG_BYTES;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, own, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(labelOf(realm, of)).setAuthTag(bytes.subarray(NONCE_BYTES, start));
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]);
  },
});
