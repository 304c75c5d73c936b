import { badRequest } from '../../kernel/errors.ts';
import type { TokenKind } from './device.ts';

/** The first byte of a push key: NaCl's secretbox, the one way of encryption that there is (wire facts 12.4). */
const SECRETBOX = 0x31;
/** Bytes of a push key: the byte that says what it is for, and the secret. */
const KEY_LENGTH = 33;
/** Bytes of the integer that a token id is. */
const TOKEN_LENGTH = 8;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A key for notifications and the device's own number for it. */
export interface GivenKey {
  readonly id: number;
  readonly secret: Uint8Array;
}

/** A token and the registration that the relay is to read. */
export interface GivenToken {
  readonly id: string;
  readonly kind: TokenKind;
  readonly relayKey: string;
  readonly registration: string;
}

/** What a device asks for: a key, a token, or both. */
export interface GivenPush {
  readonly key: GivenKey | undefined;
  readonly token: GivenToken | undefined;
}

/** The parameters of `POST /mobile_push/register`, as they came. */
interface PushInput {
  readonly push_key?: string;
  readonly push_key_id?: number;
  readonly token_kind?: TokenKind;
  readonly token_id?: string;
  readonly bouncer_public_key?: string;
  readonly encrypted_push_registration?: string;
}

/** Bytes in base64, which must be the standard one, padded and without anything else in it. */
function bytesOf(name: string, base64: string): Buffer {
  if (!BASE64.test(base64)) throw badRequest(`'${name}' must be base64.`);
  return Buffer.from(base64, 'base64');
}

function checkKey(key: string, id: number): GivenKey {
  const bytes = bytesOf('push_key', key);
  if (bytes.length !== KEY_LENGTH || bytes[0] !== SECRETBOX)
    throw badRequest("'push_key' is not a push key.");
  return { id, secret: bytes.subarray(1) };
}

/** The token id in the one form that is stored and told: the reference reads any length and writes eight bytes. */
function checkTokenId(base64: string): string {
  const bytes = bytesOf('token_id', base64);
  if (bytes.length === 0 || bytes.length > TOKEN_LENGTH) throw badRequest("'token_id' is not a token's id.");
  const sign = (bytes[0] ?? 0) >= 0x80 ? 0xff : 0;
  return Buffer.concat([Buffer.alloc(TOKEN_LENGTH - bytes.length, sign), bytes]).toString('base64');
}

/**
 * Decides whether a device says enough: all of a key, all of a token, or both (wire facts 12.1). Half of one beside
 * all of the other is as if it were not there.
 */
export function checkPushForm(input: PushInput): GivenPush {
  const { push_key, push_key_id, token_kind: kind, token_id } = input;
  const { bouncer_public_key: relayKey, encrypted_push_registration: registration } = input;
  const key =
    push_key === undefined || push_key_id === undefined ? undefined : checkKey(push_key, push_key_id);
  const token =
    kind === undefined || token_id === undefined || relayKey === undefined || registration === undefined
      ? undefined
      : { id: checkTokenId(token_id), kind, relayKey, registration };
  if (key === undefined && token === undefined) {
    throw badRequest('Send all that belongs to a push key, all that belongs to a token, or both.');
  }
  return { key, token };
}
