import { accessCaller, type Caller } from '../domain/caller.ts';
import type { Outside } from '../domain/outside.ts';
import { isAdministrator, isGuest, isOwner } from '../domain/permission.ts';
import { type Known, lookUp, type Pointer } from '../domain/pointer.ts';
import { Refusal, refusal } from '../domain/problems.ts';
import type { Account } from '../domain/user/user.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { commit } from '../log/commit.ts';
import { decideAnew } from '../log/decide-anew.ts';
import { giveBack, type Log, takeNumbers } from '../log/log.ts';
import { isMilestone, keepSolid } from '../log/solid.ts';
import { type Credentials, isKeyOf, readCredentials } from './credentials.ts';
import type { Context, Handling, Look } from './request.ts';

/** What a request says of itself, before anything is believed. */
export interface Admission extends Pick<Look<unknown>, 'host' | 'baseUrl' | 'cookie' | 'fromOtherSite'> {
  readonly authorization: string | undefined;
  readonly client: string;
  /** The parsed parameters, or the refusal that they deserve, which only an admitted caller hears. */
  readonly input: { readonly read: unknown } | Refusal;
  readonly file?: Uint8Array | undefined;
}

const NOTHING = new Uint8Array();

type AnyHandling = Omit<Handling<unknown, unknown, object>, 'run'> & {
  readonly run: (context: Context<unknown>, loaded: unknown) => Promise<object> | object;
};

/** What an endpoint says of those who may call it. */
type Admitted = Pick<Endpoint, 'who' | 'webhookBots'>;

type AccountPointer = Extract<Pointer, { readonly kind: 'account' }>;

/** The bot type that may do nothing but send. */
const INCOMING_WEBHOOK = 2;

/**
 * Lets a request in and runs it (DESIGN 7 counts its round trips):
 *
 * 1. one look-up of the host, the account and the names in the input;
 * 2. beside it, if the container remembers where they lead, or else after it: the caller, the endpoint's own
 *    reads, and the numbers of the log that it will need;
 * 3. `run`, which decides and commits.
 *
 * Nothing is decided on what was only remembered: when the look-up finds something else, step 2 is done again.
 */
export async function admit(
  outside: Outside,
  endpoint: Admitted,
  admission: Admission,
  given: AnyHandling,
): Promise<object> {
  const credentials = readCredentials(admission.authorization);
  const account: AccountPointer = { kind: 'account', email: credentials.email };
  const { pointers, handling } = prepare(given, admission, credentials.email);
  const wanted = [account, ...pointers];
  return decideAnew(outside, async () => {
    const truth = lookUp(outside.table, outside.memory, admission.host, wanted);
    truth.catch(ignored);
    const guess = outside.memory.guess(admission.host, wanted);
    const ahead =
      guess && isAccepted(guess, account, credentials)
        ? start(outside, admission, handling, guess, account)
        : undefined;
    try {
      const known = await truth;
      if (known === undefined) throw refusal('unknownOrganization');
      if (!isAccepted(known, account, credentials)) throw refusal('unauthorized');
      const right = ahead && guess?.equals(known);
      const started = right ? ahead : start(outside, admission, handling, known, account);
      if (ahead && !right) await ahead.giveBack();
      return await finish(started, endpoint, handling);
    } catch (error) {
      await ahead?.giveBack();
      throw error;
    }
  });
}

const ignored = (): void => {};

/** The names to look up; where the input is refused, a handling that only says so, after the caller is let in. */
function prepare(
  handling: AnyHandling,
  { input, host }: Admission,
  email: string,
): { readonly pointers: readonly Pointer[]; readonly handling: AnyHandling } {
  try {
    if (input instanceof Refusal) throw input;
    return { pointers: handling.pointers?.(input.read, host, email) ?? [], handling };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refuse = (): never => {
      throw error;
    };
    return { pointers: [], handling: { run: refuse } };
  }
}

const isAccepted = (known: Known, account: Pointer, credentials: Credentials): boolean =>
  isKeyOf(known.follow<Account>(account), credentials.keyDigest);

/** The reads of a request under way, and the numbers that it took ahead. */
interface Started {
  readonly look: Look<unknown>;
  readonly caller: Promise<Caller>;
  readonly loaded: Promise<unknown>;
  readonly commit: Context<unknown>['commit'];
  /** Fills the slots of numbers that were taken and not used, so that no reader waits for them. */
  readonly giveBack: () => Promise<void>;
}

function start(
  outside: Outside,
  admission: Admission,
  handling: AnyHandling,
  known: Known,
  account: AccountPointer,
): Started {
  const { userId, ownerId } = known.follow<Account>(account) as Account;
  const log: Log = {
    table: outside.table,
    realm: known.realm,
    now: outside.now,
    wait: outside.wait,
    onHole: (slots) => outside.count('HolesFilled', undefined, { realm: known.realm, slots }),
  };
  const look: Look<unknown> = {
    input: 'read' in admission.input ? admission.input.read : undefined,
    realm: known.realm,
    userId,
    ...(ownerId !== undefined && { ownerId }),
    email: account.email,
    known,
    outside,
    log,
    client: admission.client,
    host: admission.host,
    baseUrl: admission.baseUrl,
    cookie: admission.cookie,
    fromOtherSite: admission.fromOtherSite,
    file: admission.file ?? NOTHING,
  };
  const count = typeof handling.ahead === 'function' ? handling.ahead(look.input) : handling.ahead;
  const taken = count === undefined ? [] : takeBlocks(log, [count].flat(), handling.messages);
  const caller = accessCaller(outside, known.realm, userId, ownerId);
  const loaded = (async () => handling.load?.(look))();
  // A guess that turns out wrong is thrown away with whatever it met.
  for (const promise of [...taken, caller, loaded]) promise.catch(ignored);
  return {
    look,
    caller,
    loaded,
    commit: async (count, plan) => {
      const numbers = taken.shift();
      let used: readonly number[] = [];
      const result = await commit(
        log,
        count,
        (given) => {
          used = given;
          return plan(given);
        },
        numbers,
      );
      // The work is done and told; keeping the log's floor near is only for the next registration.
      if (isMilestone([...((await numbers) ?? []), ...used])) {
        await keepSolid(log).catch((error: Error) => outside.report({ level: 'WARN', solid: error.message }));
      }
      return result;
    },
    giveBack: async () => {
      // A number whose taking failed was perhaps taken all the same: readers fill that hole after its grace.
      // Blocks are used in their order, so that those that are left stand side by side: one tombstone is for all.
      const unused = Promise.all(taken.splice(0));
      await unused.then((blocks) => giveBack(log, blocks.flat())).catch(ignored);
    },
  };
}

/** Takes numbers of the log for several commits, in one step. */
function takeBlocks(log: Log, sizes: readonly number[], messages: number | undefined): Promise<number[]>[] {
  const ends = sizes.map((_, i) => sizes.slice(0, i + 1).reduce((sum, size) => sum + size, 0));
  const all = takeNumbers(log, ends.at(-1) ?? 0, messages);
  return sizes.map(async (size, i) => (await all).slice((ends[i] as number) - size, ends[i]));
}

async function finish(started: Started, endpoint: Admitted, handling: AnyHandling): Promise<object> {
  try {
    const caller = await started.caller;
    checkAudience(caller, endpoint);
    const loaded = await started.loaded;
    return await handling.run({ ...started.look, caller, commit: started.commit }, loaded);
  } finally {
    await started.giveBack();
  }
}

/** Refuses a caller whom the declaration does not admit (specification 5, wire facts 1.3). */
function checkAudience({ user, standing }: Caller, { who, webhookBots }: Admitted): void {
  if (user.botType === INCOMING_WEBHOOK && !webhookBots) throw refusal('unauthorized');
  if (who === 'human' && user.isBot) throw refusal('botsMayNot');
  if (who === 'member' && isGuest(standing)) throw refusal('guestsMayNot');
  if (who === 'administrator' && !isAdministrator(standing)) throw refusal('notAdministrator');
  if (who === 'owner' && !isOwner(standing)) throw refusal('notOwner');
}
