import { createHash, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../../kernel/errors.ts';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { key } from '../../table/keys.ts';
import type { CallProvider } from './call-provider.ts';

/** How long somebody may take to give their consent, ms. */
const VALID = 10 * 60_000;

/** The longest text that can be a state of ours. */
const LONGEST = 2_000;

/** Whose consent is asked, and for what: it travels through the provider as `state`, sealed. */
export interface CallState {
  readonly realm: string;
  readonly userId: number;
  readonly provider: string;
  /** SHA-256 of what the browser that began holds in a cookie, hex. */
  readonly browser: string;
  /** Makes it good for once only. */
  readonly nonce: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

const CONTEXT = { purpose: 'video call consent' } as const;

/** The name of the cookie that a browser keeps while somebody gives their consent. */
export const consentCookie = ({ name }: CallProvider): string => `call-${name}`;

/** A consent that was begun. */
interface BegunConsent {
  /** What travels through the provider. */
  readonly state: string;
  /** What the browser keeps meanwhile, to show that it is the one that began. */
  readonly secret: string;
  /** How long it is good, seconds. */
  readonly seconds: number;
}

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Begins a consent: seals a new state, which nobody else can make, read or change, and which ends by itself. It is good
 * in the browser that began only: otherwise somebody could begin as themselves and have another person consent, whose
 * account at the provider would then be used by the first (RFC 6749, 10.12; wire facts 13.3).
 */
export async function beginConsent(
  { table, uuid, now, randomBytes }: Outside,
  vault: Vault,
  who: Pick<CallState, 'realm' | 'userId' | 'provider'>,
): Promise<BegunConsent> {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  const browser = digestOf(secret).toString('hex');
  const state: CallState = { ...who, browser, nonce: uuid(), expires: now() + VALID };
  const [sealed] = await Promise.all([
    vault.seal(JSON.stringify(state), CONTEXT),
    // DynamoDB removes it in time; until then it is the time in the state that counts.
    table.put(key('callState', state), { expires: Math.ceil(state.expires / 1000) + 3600 }),
  ]);
  return { state: Buffer.from(sealed, 'base64').toString('base64url'), secret, seconds: VALID / 1000 };
}

const unasked = () =>
  badRequest('This consent was not asked for in this browser, or is too old: please start again.');

/**
 * Opens a state that came back, which must still be used up. Nothing is read but what it says itself.
 *
 * @param secret what the browser that came back holds
 * @throws Refusal for one that is not ours, that another browser began, that is for another provider or too old.
 */
export async function openCallState(
  { now }: Pick<Outside, 'now'>,
  vault: Vault,
  given: string,
  provider: string,
  secret: string | undefined,
): Promise<CallState> {
  if (given.length > LONGEST) throw unasked();
  const sealed = Buffer.from(given, 'base64url').toString('base64');
  const opened = await vault.open(sealed, CONTEXT).catch((error: Error) => {
    // A key service that does not answer is our fault, and not that of the state.
    if (error.name !== 'InvalidCiphertextException') throw error;
    throw unasked();
  });
  const state: CallState = JSON.parse(opened);
  if (state.provider !== provider || state.expires < now()) throw unasked();
  // A state of a version before this one names no browser, and is too old within minutes.
  const expected = Buffer.from(state.browser ?? '', 'hex');
  const shown = digestOf(secret ?? '');
  if (expected.length !== shown.length || !timingSafeEqual(expected, shown)) throw unasked();
  return state;
}

/** Uses up a state. One round trip; throws a Refusal for one that was used. */
export async function useCallState(outside: Outside, state: CallState): Promise<void> {
  const { state: outcome } = await carryOut(outside, [
    { delete: key('callState', state), when: { absent: false } },
  ]);
  if (outcome === 'refused') throw unasked();
}
