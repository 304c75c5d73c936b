import { type Endpoint, SMALL_REQUEST } from '../endpoints/endpoint.ts';
import { Refusal, refusal } from '../kernel/errors.ts';
import { fitsOneBatch, type LookupKey, lookUp, type Resolved } from '../kernel/lookup.ts';
import type { Outside } from '../kernel/outside.ts';
import { commitAndCheckpoint } from '../log/checkpoint.ts';
import { allocate, joinNumbers, type Log, type Numbers, release, splitNumbers } from '../log/log.ts';
import { retryOnConflict } from '../log/retry-on-conflict.ts';
import { isAdministrator, isGuest, isOwner } from '../model/permission/permission.ts';
import { accessCaller, type Caller } from '../model/user/caller.ts';
import { type Credentials, isKeyOf } from './credentials.ts';
import type { Incoming } from './incoming.ts';
import type { HandlerSpec, Request, UnverifiedRequest } from './request.ts';
import { RequestCounter } from './request-limit.ts';

const NOTHING = new Uint8Array();

/** What is done for a request once its parameters are interpreted. */
type Steps = Omit<HandlerSpec<unknown, unknown, unknown, object>, 'parse' | 'run'> & {
  readonly run: (request: Request<unknown>, loaded: unknown) => Promise<object> | object;
};

type Spec = Steps & Pick<HandlerSpec<unknown, unknown, unknown, object>, 'parse'>;

/** What an endpoint says of those who may call it. */
type Admitted = Pick<Endpoint, 'access' | 'webhookBots' | 'weight'>;

type AccountKey = LookupKey<'account'>;

/** The bot type that may do nothing but send. */
const INCOMING_WEBHOOK = 2;

/**
 * Parses a request, authenticates its caller, loads what the endpoint reads, and runs it (DESIGN 7 counts the round
 * trips):
 *
 * 1. one look-up of the host, the account and the names in the input;
 * 2. the caller, the endpoint's own reads, and the reservation of log numbers: beside step 1 if the container remembers
 *    what the keys led to, else after it;
 * 3. `run`, which decides and commits.
 *
 * Nothing is decided on what was only remembered: when the look-up finds something else, step 2 is done again.
 *
 * An account that is over its limit of requests is refused after step 2, and from then on by what the container
 * remembers, for nothing.
 *
 * A caller without a valid key has only as many names looked up as one batch holds. For more than that, step 1 is done
 * for the account alone first, unless the container remembers the account with this key.
 */
export async function authenticateAndLoad(
  outside: Outside,
  endpoint: Admitted,
  incoming: Incoming,
  spec: Spec,
): Promise<object> {
  const { credentials } = incoming;
  const { cache } = outside;
  const { host } = incoming.address;
  const account: AccountKey = { kind: 'account', email: credentials.email };
  const isTrusted = (resolved: Resolved): boolean => isAccepted(resolved, account, credentials);
  const requireKey = (): Promise<void> => requireKeyOf(outside, host, account, credentials);
  const parsed = await parse(spec, endpoint, incoming, account);
  const wanted = [account, ...parsed.keys];
  if (!fitsOneBatch(cache, host, wanted)) await requireKey();
  const counter = new RequestCounter(outside, incoming, parsed.weight);
  const remembered = rememberedAs(outside, host, account, credentials);
  if (remembered) counter.checkRemembered(remembered.realm, userOf(remembered, account));
  return retryOnConflict(outside, async () => {
    const truth = lookUp(outside.table, cache, host, wanted, isTrusted);
    truth.catch(ignored);
    const guess = cache.cached(host, wanted);
    const early =
      guess && isAccepted(guess, account, credentials)
        ? start(outside, parsed, guess, account, counter)
        : undefined;
    try {
      const resolved = accepted(await truth, account, credentials);
      const isRight = early && guess?.equals(resolved);
      const started = isRight ? early : start(outside, parsed, resolved, account, counter);
      if (early && !isRight) await early.release();
      return await finish(started, endpoint, parsed.steps);
    } catch (error) {
      await early?.release();
      throw error;
    }
  });
}

const ignored = (): void => {};

/**
 * Refuses a request without credentials, and a large one without a valid key, before its body is parsed. The key of a
 * small request is checked later, beside the reads. At most one round trip.
 */
export async function checkKeyFirst(outside: Outside, incoming: Incoming): Promise<void> {
  const { credentials } = incoming;
  if (incoming.size <= SMALL_REQUEST) return;
  const account: AccountKey = { kind: 'account', email: credentials.email };
  await requireKeyOf(outside, incoming.address.host, account, credentials);
}

/** Refuses a key that neither the container remembers nor the table knows. At most one round trip. */
async function requireKeyOf(
  outside: Outside,
  host: string,
  account: AccountKey,
  credentials: Credentials,
): Promise<void> {
  if (rememberedAs(outside, host, account, credentials)) return;
  const isTrusted = (resolved: Resolved): boolean => isAccepted(resolved, account, credentials);
  accepted(await lookUp(outside.table, outside.cache, host, [account], isTrusted), account, credentials);
}

/** What the container remembers of the account, if that has this key. */
function rememberedAs(
  { cache }: Outside,
  host: string,
  account: AccountKey,
  credentials: Credentials,
): Resolved | undefined {
  const guess = cache.cached(host, [account]);
  return guess && isAccepted(guess, account, credentials) ? guess : undefined;
}

const userOf = (resolved: Resolved, account: AccountKey): number => resolved.existing(account).userId;

/** What was found for a caller whose key is the account's, or the refusal. */
function accepted(resolved: Resolved | undefined, account: AccountKey, credentials: Credentials): Resolved {
  if (resolved === undefined) throw refusal('unknownOrganization');
  if (!isAccepted(resolved, account, credentials)) throw refusal('unauthorized');
  return resolved;
}

/** A request whose parameters are interpreted. */
interface Parsed {
  readonly steps: Steps;
  readonly request: Pick<
    UnverifiedRequest<unknown>,
    'input' | 'client' | 'baseUrl' | 'cookies' | 'fromOtherSite' | 'file'
  >;
  readonly keys: readonly LookupKey[];
  /** How many numbers of the log to reserve, for each commit. */
  readonly reserve: readonly number[];
  /** As how many requests it counts. */
  readonly weight: number;
}

/**
 * Interprets the parameters. Where they are refused, all that is left to do is to say so once the caller is let in;
 * that counts as one request.
 */
async function parse(
  { parse: interpret, ...steps }: Spec,
  endpoint: Admitted,
  incoming: Incoming,
  { email }: AccountKey,
): Promise<Parsed> {
  const { surroundings } = incoming;
  try {
    const read = await incoming.read();
    const { input: parameters, file = NOTHING } = read;
    const input = interpret === undefined ? parameters : interpret(parameters);
    const { keys, reserve = [] } = steps;
    return {
      steps,
      request: { input, file, client: incoming.clientName(read), ...surroundings },
      keys: keys?.(input, email) ?? [],
      reserve: [typeof reserve === 'function' ? reserve(input) : reserve].flat(),
      weight: endpoint.weight?.(parameters as never) ?? 1,
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refuse = (): never => {
      throw error;
    };
    const request = { input: undefined, file: NOTHING, client: incoming.clientName({}), ...surroundings };
    return { steps: { run: refuse }, request, keys: [], reserve: [], weight: 1 };
  }
}

const isAccepted = (resolved: Resolved, account: AccountKey, credentials: Credentials): boolean =>
  isKeyOf(resolved.follow(account), credentials.keyDigest);

/** The reads of a request under way, and the numbers that are reserved for it. */
interface Started {
  readonly request: UnverifiedRequest<unknown>;
  readonly caller: Promise<Caller>;
  /** Refuses a caller who is over their limit of requests. */
  readonly counted: Promise<void>;
  readonly loaded: Promise<unknown>;
  readonly commit: Request<unknown>['commit'];
  /** Fills the slots of reserved numbers that were not used, so that no reader waits for them. */
  readonly release: () => Promise<void>;
}

function start(
  outside: Outside,
  { steps, request, reserve }: Parsed,
  resolved: Resolved,
  account: AccountKey,
  counter: RequestCounter,
): Started {
  const { userId, ownerId } = resolved.existing(account);
  const log: Log = {
    table: outside.table,
    realm: resolved.realm,
    now: outside.now,
    wait: outside.wait,
    onHole: (slots) => outside.count('HolesFilled', undefined, { realm: resolved.realm, slots }),
  };
  const started: UnverifiedRequest<unknown> = {
    ...request,
    realm: resolved.realm,
    userId,
    ...(ownerId !== undefined && { ownerId }),
    email: account.email,
    resolved,
    outside,
    log,
  };
  const counted = counter.count(resolved.realm, userId);
  const reserved = reserve.length === 0 ? [] : allocateBlocks(log, reserve, steps.messages);
  const caller = accessCaller(outside, resolved.realm, userId, ownerId);
  const loaded = (async () => steps.load?.(started))();
  // A guess that turns out wrong is thrown away with whatever it met.
  for (const promise of [...reserved, caller, counted, loaded]) promise.catch(ignored);
  return {
    request: started,
    caller,
    counted,
    loaded,
    commit: (count, plan) => commitAndCheckpoint(log, outside.report, count, plan, reserved.shift()),
    release: async () => {
      // A number whose allocation failed was perhaps allocated all the same: readers fill that hole after its grace.
      // Blocks are used in their order, so that those that are left stand side by side: one tombstone is for all.
      const unused = Promise.all(reserved.splice(0));
      await unused.then((blocks) => release(log, joinNumbers(blocks))).catch(ignored);
    },
  };
}

/** Allocates numbers of the log for several commits, in one step. */
function allocateBlocks(
  log: Log,
  sizes: readonly number[],
  messages: number | undefined,
): Promise<Numbers>[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const blocks = allocate(log, total, messages).then((numbers) => splitNumbers(numbers, sizes));
  return sizes.map(async (_, i) => (await blocks)[i] as Numbers);
}

async function finish(started: Started, endpoint: Admitted, steps: Steps): Promise<object> {
  try {
    const caller = await started.caller;
    checkWebhookBot(caller, endpoint);
    await started.counted;
    checkAudience(caller, endpoint);
    const loaded = await started.loaded;
    return await steps.run({ ...started.request, caller, commit: started.commit }, loaded);
  } finally {
    await started.release();
  }
}

/** Refuses a bot that may do nothing but send, like a key that is not valid (wire facts 1.3). */
function checkWebhookBot({ user }: Caller, { webhookBots }: Admitted): void {
  if (user.botType === INCOMING_WEBHOOK && !webhookBots) throw refusal('unauthorized');
}

/** Refuses a caller whom the declaration does not admit (specification 5, wire facts 1.3). */
function checkAudience({ user, standing }: Caller, { access }: Admitted): void {
  if (access === 'human' && user.isBot) throw refusal('botsMayNot');
  if (access === 'member' && isGuest(standing)) throw refusal('guestsMayNot');
  if (access === 'administrator' && !isAdministrator(standing)) throw refusal('notAdministrator');
  if (access === 'owner' && !isOwner(standing)) throw refusal('notOwner');
}
