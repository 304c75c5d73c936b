import { badRequest } from '../../kernel/errors.ts';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { digestOf, isSameSecret, sha256 } from '../../kernel/text.ts';
import { carryOut } from '../../log/carry-out.ts';
import { key } from '../../table/keys.ts';
import type { CallProvider } from './provider.ts';

/** How long a person may take to give consent, ms. */
const CONSENT_TIMEOUT_MS = 10 * 60_000;

/** Longest `state` that we issue, in characters. */
const MAX_STATE_LENGTH = 2_000;

/** Who consents to what. It travels through the provider as `state`, sealed. */
interface CallState {
  readonly realm: string;
  readonly userId: number;
  readonly provider: string;
  /** SHA-256 (hex) of the secret in the cookie of the browser that started the consent. */
  readonly browser: string;
  /** Makes the state usable only once. */
  readonly nonce: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

const CONTEXT = { purpose: 'video call consent' } as const;

/** The name of the cookie that a browser keeps while a person gives consent. */
export const consentCookie = ({ name }: CallProvider): string => `call-${name}`;

/**
 * Starts a consent: seals a new state that nobody else can forge, read or change, and that expires. Only the browser that
 * started the consent can complete it. Otherwise an attacker could start one and have a victim complete it, which would
 * bind the victim's account at the provider to the attacker's user (RFC 6749, 10.12; wire facts 13.3).
 *
 * @returns the `state` that travels through the provider, the secret for the browser's cookie, and its lifetime in seconds
 */
export async function beginConsent(
  { table, uuid, now, randomBytes }: Outside,
  vault: Vault,
  who: Pick<CallState, 'realm' | 'userId' | 'provider'>,
) {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  const browser = digestOf(secret);
  const state: CallState = { ...who, browser, nonce: uuid(), expires: now() + CONSENT_TIMEOUT_MS };
  const [sealed] = await Promise.all([
    vault.seal(JSON.stringify(state), CONTEXT),
    // DynamoDB deletes the item some time later. Until then the time in the state decides.
    table.put(key('callState', state), { expires: Math.ceil(state.expires / 1000) + 3600 }),
  ]);
  return {
    state: Buffer.from(sealed, 'base64').toString('base64url'),
    secret,
    seconds: CONSENT_TIMEOUT_MS / 1000,
  };
}

const invalidConsent = () =>
  badRequest('This consent was not started in this browser, or it has expired. Please start again.');

/**
 * Opens a state that came back from the provider. It reads nothing from the table; call `useCallState` next.
 *
 * @param secret the secret in the browser's cookie
 * @throws Refusal if the state is not ours, belongs to another browser or provider, or has expired.
 */
export async function openCallState(
  { now }: Pick<Outside, 'now'>,
  vault: Vault,
  given: string,
  provider: string,
  secret: string | undefined,
): Promise<CallState> {
  if (given.length > MAX_STATE_LENGTH) throw invalidConsent();
  const sealed = Buffer.from(given, 'base64url').toString('base64');
  const opened = await vault.open(sealed, CONTEXT).catch((error: Error) => {
    // If the key service does not answer, the fault is ours: that is a 500.
    if (error.name !== 'InvalidCiphertextException') throw error;
    throw invalidConsent();
  });
  const state: CallState = JSON.parse(opened);
  if (state.provider !== provider || state.expires < now()) throw invalidConsent();
  // States of an older release have no browser. They expire within minutes.
  const expected = Buffer.from(state.browser ?? '', 'hex');
  if (!isSameSecret(sha256(secret ?? ''), expected)) throw invalidConsent();
  return state;
}

/** Marks a state as used. One round trip. Throws a Refusal if it was used before. */
export async function useCallState(outside: Outside, state: CallState): Promise<void> {
  const deletion = { delete: key('callState', state), when: { absent: false } };
  if ((await carryOut(outside, [deletion])).state === 'refused') throw invalidConsent();
}
