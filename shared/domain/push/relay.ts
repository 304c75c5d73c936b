import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import * as z from 'zod/mini';
import type { Environment } from '../../environment.ts';
import { outgoing, Unreachable } from '../../http/outgoing.ts';
import type { Outside, Secrets } from '../../kernel/outside.ts';
import { REFERENCE_VERSION, type Realm } from '../../model/realm/realm.ts';
import type { ActiveDevice } from './device.ts';
import type { PushToken } from './job.ts';
import type { Keyring } from './keyring.ts';

/** The relay's timeout, ms (wire facts 2). */
const TIMEOUT_MS = 30_000;

/** Error codes of the relay about the organization or this server, not about the request (wire facts 12.3). */
const UNREGISTERED = 'MISSING_REMOTE_REALM';
const DISALLOWED = 'PUSH_NOTIFICATIONS_DISALLOWED';
const WRONG_CREDENTIALS = 'INVALID_ZULIP_SERVER';

/** Connection failures before anything was sent, by the error codes of Node and its `fetch`. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Why a request to the relay failed:
 *
 * - `unreachable`: the relay did not get it;
 * - `noReply`: the relay may have got it, but its reply was lost;
 * - `relayError`: the relay has an error of its own or too much load;
 * - `unregistered`, `disallowed`: the relay does not serve the organization;
 * - `misconfigured`: the relay does not know this server, or is no relay: the operator must act;
 * - `refused`: the request is wrong, with the relay's code.
 */
export interface RelayError {
  readonly kind:
    | 'unreachable'
    | 'noReply'
    | 'relayError'
    | 'unregistered'
    | 'disallowed'
    | 'misconfigured'
    | 'refused';
  readonly code?: string;
}

/** The relay's reply, or why there is none. */
type RelayResult<T> =
  | { readonly reply: T; readonly error?: never }
  | { readonly error: RelayError; readonly reply?: never };

/** Whether the relay serves an organization, and until when (seconds since 1970) if that ends. */
export interface PushStatus {
  readonly isServed: boolean;
  readonly ends: number | undefined;
}

/** The relay: it forwards notifications to devices and cannot read them. */
export type Relay = NonNullable<Awaited<ReturnType<typeof relayOf>>>;

const failure = z.object({ code: z.optional(z.string().check(z.maxLength(100))) });
const success = z.looseObject({ result: z.literal('success') });
const notified = z.extend(success, {
  delete_token_ids: z.optional(z.array(z.string())),
  realm_push_status: z.nullish(
    z.object({ can_push: z.boolean(), expected_end_timestamp: z.nullish(z.int()) }),
  ),
});

/** The relay that the operator configured. Undefined if the configuration is incomplete. */
export async function relayOf(environment: Environment, secrets: Secrets) {
  const { PUSH_RELAY_URL: url, PUSH_RELAY_ORG_ID: id } = environment;
  const secret = await secrets.get('push-relay-org-key');
  if (!url || !id || secret === undefined) return undefined;
  const post = async <T>(
    path: string,
    { contentType, body }: { readonly contentType: string; readonly body: string },
    shape: z.ZodMiniType<T>,
    timeout = TIMEOUT_MS,
  ): Promise<RelayResult<T>> => {
    const fetch = outgoing({ addresses: [url], timeout: Math.max(1, Math.min(timeout, TIMEOUT_MS)) });
    const address = new URL(`api/v1/remotes/push/e2ee/${path}`, `${url.replace(/\/$/, '')}/`);
    const headers = {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      'content-type': contentType,
      'user-agent': `ZulipServer/${REFERENCE_VERSION}`,
    };
    try {
      const response = await fetch(address, { method: 'POST', headers, body });
      return resultOf(response.status, parsedJson(await response.text()), shape);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return { error: errorOf(error) };
    }
  };
  return {
    /** Registers the token of a device (wire facts 12.1). Safe to repeat. */
    register: (realmUuid: string, { tokenId, registration, relayKey }: PushToken) => {
      const parameters = new URLSearchParams({
        realm_uuid: realmUuid,
        token_id: tokenId,
        encrypted_push_registration: registration,
        bouncer_public_key: relayKey,
      });
      const contentType = 'application/x-www-form-urlencoded';
      return post('register', { contentType, body: parameters.toString() }, success);
    },
    /**
     * Sends notifications for any number of devices in one request, with a timeout (ms). Returns the dead tokens, whose
     * devices get nothing any more, and the status of the organization, if the relay gives it.
     */
    notify: async (realmUuid: string, requests: readonly object[], timeout: number) => {
      const body = JSON.stringify({ realm_uuid: realmUuid, push_requests: requests });
      const { error, reply } = await post(
        'notify',
        { contentType: 'application/json', body },
        notified,
        timeout,
      );
      if (error) return { error, dead: [] };
      const { delete_token_ids: dead = [], realm_push_status: given } = reply;
      const status = given && { isServed: given.can_push, ends: given.expected_end_timestamp ?? undefined };
      return { dead, status: status ?? undefined };
    },
  };
}

/** The reply in its expected shape, or the error that another reply means (wire facts 12.2, 12.3). */
function resultOf<T>(status: number, body: unknown, shape: z.ZodMiniType<T>): RelayResult<T> {
  if (status >= 500 || status === 429) return { error: { kind: 'relayError' } };
  if (status === 200) {
    const { success: isReply, data } = shape.safeParse(body);
    return isReply ? { reply: data } : { error: { kind: 'misconfigured' } };
  }
  const code = failure.safeParse(body).data?.code;
  if (code === UNREGISTERED) return { error: { kind: 'unregistered' } };
  if (code === DISALLOWED) return { error: { kind: 'disallowed' } };
  const isAboutServer = status === 401 || status === 403 || code === WRONG_CREDENTIALS;
  if (isAboutServer || code === undefined || status !== 400) return { error: { kind: 'misconfigured' } };
  return { error: { kind: 'refused', code } };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf({ reason, cause }: Unreachable): RelayError {
  if (reason === 'it redirected' || reason === 'too much' || reason === 'not configured') {
    return { kind: 'misconfigured' };
  }
  // `fetch` wraps connection errors once or twice.
  const causes = [cause, (cause as Error | undefined)?.cause] as (NodeJS.ErrnoException | undefined)[];
  return { kind: causes.some((each) => NEVER_CONNECTED.has(each?.code ?? '')) ? 'unreachable' : 'noReply' };
}

/** A notification for one device, before its encryption. */
export interface Notice {
  readonly device: ActiveDevice;
  /** Its fields, without those of the account. */
  readonly content: { readonly type: 'message' | 'remove' | 'test'; readonly [field: string]: unknown };
}

const NONCE_BYTES = 24;

/** The title that Apple's service shows if a phone does not decrypt in time. */
const TITLE = 'New notification';

/** NaCl's secretbox with its nonce in front, in base64 (wire facts 12.4). */
function encrypted(secret: Uint8Array, nonce: Uint8Array, plain: string): string {
  const box = xsalsa20poly1305(secret, nonce).encrypt(Buffer.from(plain));
  return Buffer.concat([nonce, box]).toString('base64');
}

/** A notice as the relay gets it. The relay can read the token id and nothing else (wire facts 12.3). */
export function pushRequest(
  { randomBytes }: Pick<Outside, 'randomBytes'>,
  keyring: Keyring,
  { name }: Pick<Realm, 'name'>,
  { device, content }: Notice,
): object {
  const account = { realm_url: device.url, realm_name: name, user_id: device.userId };
  const plain = JSON.stringify({ ...account, ...content });
  const payload = {
    push_key_id: device.keyId,
    encrypted_data: encrypted(keyring.open(device.sealedKey, device), randomBytes(NONCE_BYTES), plain),
  };
  // Removing a notification makes no sound and is not urgent.
  const isSilent = content.type === 'remove';
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
