import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { Outside } from '../../kernel/outside.ts';
import type { Realm } from '../../model/realm/realm.ts';
import type { ActiveDevice } from './device.ts';
import type { Keyring } from './key-chest.ts';

/** What a device is told, before it is encrypted for it. */
export interface Notice {
  readonly device: ActiveDevice;
  /** What it says besides the account that it is for. */
  readonly says: { readonly type: 'message' | 'remove' | 'test'; readonly [field: string]: unknown };
}

const NONCE = 24;

/** The title that Apple's service shows where a telephone does not decrypt in time. */
const TITLE = 'New notification';

/** NaCl's secretbox with a new nonce before it, in base64 (wire facts 12.4). */
function encrypted(secret: Uint8Array, nonce: Uint8Array, plain: string): string {
  const box = xsalsa20poly1305(secret, nonce).encrypt(Buffer.from(plain));
  return Buffer.concat([nonce, box]).toString('base64');
}

/** A notice as the relay hands it on: it can read the token's id and nothing else (wire facts 12.3). */
export function pushRequest(
  { randomBytes }: Pick<Outside, 'randomBytes'>,
  chest: Keyring,
  { name }: Pick<Realm, 'name'>,
  { device, says }: Notice,
): object {
  const account = { realm_url: device.url, realm_name: name, user_id: device.userId };
  const plain = JSON.stringify({ ...account, ...says });
  const payload = {
    push_key_id: device.keyId,
    encrypted_data: encrypted(chest.open(device.sealedKey, device), randomBytes(NONCE), plain),
  };
  // What takes a notification away makes no sound and can wait.
  const isSilent = says.type === 'remove';
  if (device.tokenKind === 'fcm') {
    return { token_id: device.tokenId, fcm_priority: isSilent ? 'normal' : 'high', payload };
  }
  return {
    token_id: device.tokenId,
    http_headers: isSilent
      ? { apns_priority: 5, apns_push_type: 'background' }
      : { apns_priority: 10, apns_push_type: 'alert' },
    payload: {
      ...payload,
      aps: isSilent
        ? { 'content-available': 1 }
        : { 'mutable-content': 1, alert: { title: TITLE }, sound: 'default' },
    },
  };
}
