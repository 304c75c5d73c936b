import { createCipheriv } from 'node:crypto';
import type { Outside } from '../../kernel/outside.ts';

/** An API key of 32 ASCII characters, XORed with the pad of a mobile client: 64 hex digits (companion facts 3.14). */
function encryptKey(apiKey: string, pad: string): string {
  const key = Buffer.from(apiKey, 'latin1');
  const encrypted = Buffer.from(pad, 'hex').map((byte, i) => byte ^ (key[i] ?? 0));
  return Buffer.from(encrypted).toString('hex');
}

/** Text for a desktop client, encrypted by AES-256-GCM with its pad as the key: IV, ciphertext and tag as hex. */
export function encryptText(
  { randomBytes }: Pick<Outside, 'randomBytes'>,
  text: string,
  pad: string,
): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(pad, 'hex'), iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'hex',
  );
}

/** The address at which the mobile client takes over. Only the client can read the key in it. */
export function mobileAddress(
  who: { readonly email: string; readonly userId: number; readonly apiKey: string },
  pad: string,
  realmUrl: string,
): URL {
  const url = new URL('zulip://login');
  url.search = new URLSearchParams({
    otp_encrypted_api_key: encryptKey(who.apiKey, pad),
    email: who.email,
    user_id: String(who.userId),
    realm: realmUrl,
  }).toString();
  return url;
}
