import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
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
}

type Owner = Pick<Device, 'userId' | 'deviceId'>;

/** The organization's key, as stored. */
export interface StoredKeyring {
  readonly sealed: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushChest: StoredKeyring;
  }
}

/** A keyring, with the write that stores it if it is new. */
export interface KeyringInUse {
  readonly keyring: Keyring;
  readonly write?: Write;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const contextOf = (realm: string) => ({ purpose: 'push keys', realm });

export const loadStoredKeyring = (table: Table, realm: string): Promise<StoredKeyring | undefined> =>
  table.get('pushChest', { realm });

type Random = Pick<Outside, 'randomBytes'>;

/** The stored keyring of an organization. One call of the key service. */
export async function openKeyring(
  random: Random,
  vault: Vault,
  realm: string,
  { sealed }: StoredKeyring,
): Promise<Keyring> {
  return keyringOf(random, realm, Buffer.from(await vault.open(sealed, contextOf(realm)), 'base64'));
}

/** The organization's keyring, or a new one if none is stored. One call of the key service. */
export async function openOrCreateKeyring(
  random: Random,
  vault: Vault,
  realm: string,
  stored: StoredKeyring | undefined,
): Promise<KeyringInUse> {
  if (stored !== undefined) return { keyring: await openKeyring(random, vault, realm, stored) };
  const own = Buffer.from(random.randomBytes(KEY_BYTES));
  const item = { sealed: await vault.seal(own.toString('base64'), contextOf(realm)) };
  return {
    keyring: keyringOf(random, realm, own),
    write: { put: key('pushChest', { realm }), item, when: { absent: true } },
  };
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
