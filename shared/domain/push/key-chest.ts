import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import type { Device } from './device.ts';

/**
 * Push keys are secrets: whoever has one reads what its device is notified of. None is stored in clear. Each is
 * sealed with a key of its organization, and only that one with the service's own: a notification for a hundred
 * devices asks the key service once.
 */
export interface Keyring {
  readonly seal: (secret: Uint8Array, of: Owner) => string;
  /** Fails for what was not sealed here, or for another device. */
  readonly open: (sealed: string, of: Owner) => Uint8Array;
}

type Owner = Pick<Device, 'userId' | 'deviceId'>;

/** The key of an organization as stored. */
export interface StoredChest {
  readonly sealed: string;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    pushChest: StoredChest;
  }
}

const CIPHER = 'aes-256-gcm';
const KEY = 32;
const NONCE = 12;
const TAG = 16;

const contextOf = (realm: string) => ({ purpose: 'push keys', realm });

export const loadStoredChest = (table: Table, realm: string): Promise<StoredChest | undefined> =>
  table.get('pushChest', { realm });

type Random = Pick<Outside, 'randomBytes'>;

/** The chest of an organization. One call of the key service. */
export async function openChest(
  random: Random,
  vault: Vault,
  realm: string,
  { sealed }: StoredChest,
): Promise<Keyring> {
  return chestOf(random, realm, Buffer.from(await vault.open(sealed, contextOf(realm)), 'base64'));
}

/** A chest for an organization that has none yet, and the write that keeps it; somebody else's may be first. */
export async function newChest(
  random: Random,
  vault: Vault,
  realm: string,
): Promise<{ readonly chest: Keyring; readonly write: Write }> {
  const own = Buffer.from(random.randomBytes(KEY));
  const stored: StoredChest = { sealed: await vault.seal(own.toString('base64'), contextOf(realm)) };
  return {
    chest: chestOf(random, realm, own),
    write: { put: key('pushChest', { realm }), item: { ...stored }, when: { absent: true } },
  };
}

/** What is sealed for one device opens for no other. */
const labelOf = (realm: string, { userId, deviceId }: Owner): Buffer =>
  Buffer.from(JSON.stringify([realm, userId, deviceId]));

const chestOf = ({ randomBytes }: Random, realm: string, own: Uint8Array): Keyring => ({
  seal: (secret, of) => {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, own, nonce).setAAD(labelOf(realm, of));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  },
  open: (sealed, of) => {
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv(CIPHER, own, bytes.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(labelOf(realm, of)).setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
  },
});
