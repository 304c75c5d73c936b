import { badRequest } from '../../kernel/errors.ts';
import { isSameSecret } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { hasVersion } from '../../table/write.ts';
import { type Device, type DeviceChanges, deviceEvent, deviceKey, type TokenKind } from './device.ts';
import { doListForSweep, newJob, type PushToken, putJob } from './job.ts';
import type { Keyring } from './keyring.ts';

/** The first byte of a push key: NaCl's secretbox, the only encryption that is supported (wire facts 12.4). */
const SECRETBOX = 0x31;
/** Bytes of a push key: the byte above, then the secret. */
const KEY_BYTES = 33;
/** Most bytes of a token id, which is an integer. */
const TOKEN_BYTES = 8;

/** Standard, padded base64. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A key for notifications, with the device's own number for it. */
interface PushKey {
  readonly id: number;
  readonly secret: Uint8Array;
}

/** A registration request: a key, a token, or both. */
export interface PushRegistration {
  readonly key: PushKey | undefined;
  readonly token: PushToken | undefined;
}

/** The parameters of `POST /mobile_push/register`. */
interface PushParameters {
  readonly push_key?: string;
  readonly push_key_id?: number;
  readonly token_kind?: TokenKind;
  readonly token_id?: string;
  readonly bouncer_public_key?: string;
  readonly encrypted_push_registration?: string;
}

function bytesOf(name: string, base64: string): Buffer {
  if (!BASE64.test(base64)) throw badRequest(`'${name}' must be base64.`);
  return Buffer.from(base64, 'base64');
}

function checkKey(key: string, id: number): PushKey {
  const bytes = bytesOf('push_key', key);
  if (bytes.length !== KEY_BYTES || bytes[0] !== SECRETBOX) throw badRequest("'push_key' is not a push key.");
  return { id, secret: bytes.subarray(1) };
}

/** The token id as eight bytes: the reference server accepts any length and returns eight. */
function checkTokenId(base64: string): string {
  const bytes = bytesOf('token_id', base64);
  if (bytes.length === 0 || bytes.length > TOKEN_BYTES) throw badRequest("'token_id' is not a token's id.");
  const sign = (bytes[0] ?? 0) >= 0x80 ? 0xff : 0;
  return Buffer.concat([Buffer.alloc(TOKEN_BYTES - bytes.length, sign), bytes]).toString('base64');
}

/**
 * Parses a registration request. An incomplete key beside a complete token is ignored, and the other way round (wire
 * facts 12.1). Throws `BAD_REQUEST`.
 */
export function checkPushParameters(input: PushParameters): PushRegistration {
  const { push_key, push_key_id, token_kind: tokenKind, token_id } = input;
  const { bouncer_public_key: relayKey, encrypted_push_registration: registration } = input;
  const key =
    push_key === undefined || push_key_id === undefined ? undefined : checkKey(push_key, push_key_id);
  const token =
    tokenKind === undefined || token_id === undefined || relayKey === undefined || registration === undefined
      ? undefined
      : { tokenId: checkTokenId(token_id), tokenKind, relayKey, registration };
  if (key === undefined && token === undefined) {
    throw badRequest('Send a complete push key, a complete token, or both.');
  }
  return { key, token };
}

/**
 * Checks a registration, and whether it changes anything (wire facts 12.1). A key or a token alone replaces the one of an
 * existing registration. A new token has to wait until the pending one is settled. Throws `BAD_REQUEST`.
 *
 * @param keyring the organization's keyring; needed if the registration has a key
 */
export function checkRegistration(
  device: Device,
  { key, token }: PushRegistration,
  keyring: Keyring | undefined,
): boolean {
  if ((key === undefined || token === undefined) && device.keyId === undefined) {
    throw badRequest('There is no registration of this device to change: send both a key and a token.');
  }
  const isSameKey = key === undefined || (keyring !== undefined && hasKey(device, key, keyring));
  if (token === undefined) return !isSameKey;
  const failed = device.errorCode !== undefined;
  if (device.pendingTokenId !== undefined && !failed) {
    throw badRequest('A registration of this device is in progress.');
  }
  const isSameKind = key === undefined || device.tokenKind === token.tokenKind;
  return !isSameKey || failed || device.tokenId !== token.tokenId || !isSameKind;
}

/** Whether the device has this key already, compared in constant time. */
function hasKey(device: Device, { id, secret }: PushKey, keyring: Keyring): boolean {
  if (device.keyId !== id || device.sealedKey === undefined) return false;
  return isSameSecret(keyring.open(device.sealedKey, device), secret);
}

/**
 * Registers a device for notifications. A key takes effect at once, a token when the relay has accepted it. The job
 * that sends the token is part of the same transaction, so that no registration stays half done.
 *
 * @param at the time (ms), the number of the event, and the organization's URL as the device knows it
 * @returns the name of the job, if there is one
 */
export function doRegisterPush(
  realm: string,
  device: Device,
  { key, token }: PushRegistration,
  keyring: Keyring | undefined,
  { now, seq, url }: { readonly now: number; readonly seq: number; readonly url: string },
): Change<string | undefined> {
  const since = Math.floor(now / 1000);
  const { userId, deviceId } = device;
  const changes: DeviceChanges = {
    ...(key && { push_key_id: key.id }),
    ...(token && {
      pending_push_token_id: token.tokenId,
      push_token_last_updated_timestamp: since,
      push_registration_error_code: null,
    }),
  };
  const set = {
    url,
    ...(key && { sealedKey: keyring?.seal(key.secret, device), keyId: key.id }),
    ...(token && { pendingTokenId: token.tokenId, tokenSince: since }),
  };
  const job =
    token && newJob({ kind: 'register', userId, deviceId, ...token }, `register-${deviceId}-${seq}`, now);
  return {
    writes: [
      {
        update: deviceKey(realm, device),
        change: { set, ...(token && { remove: ['errorCode'] }), add: { version: 1 } },
        when: hasVersion(device.version),
        lastWriterWins: true,
      },
      ...(keyring?.write ? [keyring.write] : []),
      ...(job ? [putJob(realm, job), doListForSweep(realm)] : []),
    ],
    entries: [deviceEvent(device, 'update', changes)],
    result: job?.job,
  };
}
