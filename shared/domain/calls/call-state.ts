import { key } from '../../table/keys.ts';
import type { Outside, Vault } from '../outside.ts';
import { badRequest } from '../problems.ts';

/** How long somebody may take to give their consent, ms. */
const VALID = 10 * 60_000;

/** The longest text that can be a state of ours. */
const LONGEST = 2_000;

/** How often the use of a state is tried before that is a fault. */
const TRIES = 3;

/** Whose consent is asked, and for what: it travels through the provider as `state`, sealed. */
export interface CallState {
  readonly realm: string;
  readonly userId: number;
  readonly provider: string;
  /** Makes it good for once only. */
  readonly nonce: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

const CONTEXT = { purpose: 'video call consent' } as const;

/** Seals a new state. Nobody else can make one, read it or change it, and it ends by itself. */
export async function newCallState(
  { table, uuid, now }: Outside,
  vault: Vault,
  who: Pick<CallState, 'realm' | 'userId' | 'provider'>,
): Promise<string> {
  const state: CallState = { ...who, nonce: uuid(), expires: now() + VALID };
  const [sealed] = await Promise.all([
    vault.seal(JSON.stringify(state), CONTEXT),
    // DynamoDB removes it in time; until then it is the time in the state that counts.
    table.put(key('callState', state), { expires: Math.ceil(state.expires / 1000) + 3600 }),
  ]);
  return Buffer.from(sealed, 'base64').toString('base64url');
}

const unasked = () => badRequest('This consent was not asked for here, or is too old: please start again.');

/**
 * Opens a state that came back, which must still be used up. Nothing is read but what it says itself.
 *
 * @throws Refusal for one that is not ours, that is for another provider or too old.
 */
export async function openCallState(
  { now }: Pick<Outside, 'now'>,
  vault: Vault,
  given: string,
  provider: string,
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
  return state;
}

/** Uses up a state. One round trip; throws a Refusal for one that was used. */
export async function useCallState({ table, uuid }: Outside, state: CallState): Promise<void> {
  // The same token in every try: a delete whose answer was lost is known as ours.
  const token = uuid();
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const used = await table.transact([{ delete: key('callState', state), when: { absent: false } }], token);
    if (used.state === 'done') return;
    if (used.state === 'refused') throw unasked();
  }
  throw new Error('a consent could not be used up');
}
