import { accessCaller, type Caller } from '../domain/caller.ts';
import type { Outside } from '../domain/outside.ts';
import { isAdministrator, isGuest, isOwner } from '../domain/permission.ts';
import { fitsOneBatch, type Known, lookUp, type Pointer } from '../domain/pointer.ts';
import { Refusal, refusal } from '../domain/problems.ts';
import type { Account } from '../domain/user/user.ts';
import { type Endpoint, SMALL_REQUEST } from '../endpoints/endpoint.ts';
import { commit } from '../log/commit.ts';
import { decideAnew } from '../log/decide-anew.ts';
import { giveBack, joinNumbers, type Log, type Numbers, splitNumbers, takeNumbers } from '../log/log.ts';
import { isMilestone, keepSolid } from '../log/solid.ts';
import { type Credentials, isKeyOf, readCredentials } from './credentials.ts';
import type { Incoming } from './incoming.ts';
import type { Context, Handling, Look } from './request.ts';
import { RequestCounter } from './request-limit.ts';

const NOTHING = new Uint8Array();

type AnyHandling = Omit<Handling<unknown, unknown, object>, 'run'> & {
  readonly run: (context: Context<unknown>, loaded: unknown) => Promise<object> | object;
};

/** What an endpoint says of those who may call it. */
type Admitted = Pick<Endpoint, 'who' | 'webhookBots' | 'weight'>;

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
 *
 * An account that is over its limit of requests is refused after step 2, and from then on by what the container
 * remembers, for nothing.
 *
 * A caller without a valid key has only a small request parsed, and only as many names looked up as one batch holds. For
 * more than that, step 1 is done for the account alone first, unless the container remembers the account with this key.
 */
export async function admit(
  outside: Outside,
  endpoint: Admitted,
  incoming: Incoming,
  given: AnyHandling,
): Promise<object> {
  const credentials = readCredentials(incoming.header('authorization'));
  const { memory } = outside;
  const { host } = incoming.address;
  const account: AccountPointer = { kind: 'account', email: credentials.email };
  const isTrusted = (known: Known): boolean => isAccepted(known, account, credentials);
  const requireKey = (): Promise<void> => requireKeyOf(outside, host, account, credentials);
  if (incoming.size > SMALL_REQUEST) await requireKey();
  const { pointers, handling, request } = await prepare(given, incoming, account);
  const wanted = [account, ...pointers];
  if (!fitsOneBatch(memory, host, wanted)) await requireKey();
  const counter = new RequestCounter(outside, incoming, weightOf(endpoint, request.input));
  const remembered = rememberedAs(outside, host, account, credentials);
  if (remembered) counter.checkRemembered(remembered.realm, userOf(remembered, account));
  return decideAnew(outside, async () => {
    const truth = lookUp(outside.table, memory, host, wanted, isTrusted);
    truth.catch(ignored);
    const guess = memory.guess(host, wanted);
    const ahead =
      guess && isAccepted(guess, account, credentials)
        ? start(outside, request, handling, guess, account, counter)
        : undefined;
    try {
      const known = accepted(await truth, account, credentials);
      const right = ahead && guess?.equals(known);
      const started = right ? ahead : start(outside, request, handling, known, account, counter);
      if (ahead && !right) await ahead.giveBack();
      return await finish(started, endpoint, handling);
    } catch (error) {
      await ahead?.giveBack();
      throw error;
    }
  });
}

const ignored = (): void => {};

/** Refuses a key that neither the container remembers nor the table knows. At most one round trip. */
async function requireKeyOf(
  outside: Outside,
  host: string,
  account: AccountPointer,
  credentials: Credentials,
): Promise<void> {
  if (rememberedAs(outside, host, account, credentials)) return;
  const isTrusted = (known: Known): boolean => isAccepted(known, account, credentials);
  accepted(await lookUp(outside.table, outside.memory, host, [account], isTrusted), account, credentials);
}

/** What the container remembers of the account, if that has this key. */
function rememberedAs(
  { memory }: Outside,
  host: string,
  account: AccountPointer,
  credentials: Credentials,
): Known | undefined {
  const guess = memory.guess(host, [account]);
  return guess && isAccepted(guess, account, credentials) ? guess : undefined;
}

const userOf = (known: Known, account: AccountPointer): number =>
  (known.follow<Account>(account) as Account).userId;

/** What was found for a caller whose key is the account's, or the refusal. */
function accepted(known: Known | undefined, account: AccountPointer, credentials: Credentials): Known {
  if (known === undefined) throw refusal('unknownOrganization');
  if (!isAccepted(known, account, credentials)) throw refusal('unauthorized');
  return known;
}

/** As how many requests one counts; what cannot be read counts as one. */
const weightOf = (endpoint: Admitted, input: unknown): number =>
  input === undefined ? 1 : (endpoint.weight?.(input as never) ?? 1);

/** What a request asks for, once it is parsed. */
type Asked = Pick<Look<unknown>, 'input' | 'client' | 'baseUrl' | 'cookies' | 'fromOtherSite' | 'file'>;

/** The names to look up; where the input is refused, a handling that only says so, after the caller is let in. */
async function prepare(
  handling: AnyHandling,
  incoming: Incoming,
  { email }: AccountPointer,
): Promise<{
  readonly pointers: readonly Pointer[];
  readonly handling: AnyHandling;
  readonly request: Asked;
}> {
  const { surroundings } = incoming;
  try {
    const read = await incoming.read();
    const { input, file = NOTHING } = read;
    return {
      pointers: handling.pointers?.(input, email) ?? [],
      handling,
      request: { input, file, client: incoming.clientName(read), ...surroundings },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refuse = (): never => {
      throw error;
    };
    const request = { input: undefined, file: NOTHING, client: incoming.clientName({}), ...surroundings };
    return { pointers: [], handling: { run: refuse }, request };
  }
}

const isAccepted = (known: Known, account: Pointer, credentials: Credentials): boolean =>
  isKeyOf(known.follow<Account>(account), credentials.keyDigest);

/** The reads of a request under way, and the numbers that it took ahead. */
interface Started {
  readonly look: Look<unknown>;
  readonly caller: Promise<Caller>;
  /** Refuses a caller who is over their limit of requests. */
  readonly counted: Promise<void>;
  readonly loaded: Promise<unknown>;
  readonly commit: Context<unknown>['commit'];
  /** Fills the slots of numbers that were taken and not used, so that no reader waits for them. */
  readonly giveBack: () => Promise<void>;
}

function start(
  outside: Outside,
  request: Asked,
  handling: AnyHandling,
  known: Known,
  account: AccountPointer,
  counter: RequestCounter,
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
    ...request,
    realm: known.realm,
    userId,
    ...(ownerId !== undefined && { ownerId }),
    email: account.email,
    known,
    outside,
    log,
  };
  const counted = counter.count(known.realm, userId);
  const count = typeof handling.ahead === 'function' ? handling.ahead(look.input) : handling.ahead;
  const taken = count === undefined ? [] : takeBlocks(log, [count].flat(), handling.messages);
  const caller = accessCaller(outside, known.realm, userId, ownerId);
  const loaded = (async () => handling.load?.(look))();
  // A guess that turns out wrong is thrown away with whatever it met.
  for (const promise of [...taken, caller, counted, loaded]) promise.catch(ignored);
  return {
    look,
    caller,
    counted,
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
      await unused.then((blocks) => giveBack(log, joinNumbers(blocks))).catch(ignored);
    },
  };
}

/** Takes numbers of the log for several commits, in one step. */
function takeBlocks(log: Log, sizes: readonly number[], messages: number | undefined): Promise<Numbers>[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const blocks = takeNumbers(log, total, messages).then((numbers) => splitNumbers(numbers, sizes));
  return sizes.map(async (_, i) => (await blocks)[i] as Numbers);
}

async function finish(started: Started, endpoint: Admitted, handling: AnyHandling): Promise<object> {
  try {
    const caller = await started.caller;
    checkWebhookBot(caller, endpoint);
    await started.counted;
    checkAudience(caller, endpoint);
    const loaded = await started.loaded;
    return await handling.run({ ...started.look, caller, commit: started.commit }, loaded);
  } finally {
    await started.giveBack();
  }
}

/** Refuses a bot that may do nothing but send, like a key that is not valid (wire facts 1.3). */
function checkWebhookBot({ user }: Caller, { webhookBots }: Admitted): void {
  if (user.botType === INCOMING_WEBHOOK && !webhookBots) throw refusal('unauthorized');
}

/** Refuses a caller whom the declaration does not admit (specification 5, wire facts 1.3). */
function checkAudience({ user, standing }: Caller, { who }: Admitted): void {
  if (who === 'human' && user.isBot) throw refusal('botsMayNot');
  if (who === 'member' && isGuest(standing)) throw refusal('guestsMayNot');
  if (who === 'administrator' && !isAdministrator(standing)) throw refusal('notAdministrator');
  if (who === 'owner' && !isOwner(standing)) throw refusal('notOwner');
}
