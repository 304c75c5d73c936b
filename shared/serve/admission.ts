import type { Endpoint } from '../endpoints/endpoint.ts';
import { Refusal, refusal } from '../kernel/errors.ts';
import { fitsOneBatch, type LookupKey, lookUp, type Resolved } from '../kernel/lookup.ts';
import type { Outside } from '../kernel/outside.ts';
import { commitAndCheckpoint } from '../log/checkpoint.ts';
import { retryOnConflict } from '../log/commit.ts';
import { allocate, joinNumbers, type Log, logOf, type Numbers, release, splitNumbers } from '../log/log.ts';
import { isAdministrator, isGuest, isOwner } from '../model/permission/permission.ts';
import { type ApiKey, accessCaller, type Caller, type directGroups, keyWith } from '../model/user/caller.ts';
import type { Incoming } from './incoming.ts';
import { SMALL_REQUEST } from './parameters.ts';
import type { HandlerSpec, Request, UnverifiedRequest, UploadedFile } from './request.ts';
import { noteKeyUse, RequestCounter } from './request-limit.ts';

/** What an endpoint declares about its callers: who may call, and as how many requests a call counts. */
type CallerRules = Pick<Endpoint, 'access' | 'webhookBots' | 'weight'>;

type Spec = Omit<HandlerSpec<unknown, unknown, unknown, object>, 'load' | 'run'> & {
  readonly load?: (request: UnverifiedRequest<unknown>) => Promise<unknown>;
  readonly run: (request: Request<unknown>, loaded: unknown) => Promise<object> | object;
  /** Reads the groups of the caller. */
  readonly groupsOf: typeof directGroups;
};

/**
 * Handles a request from its parameters to its reply (DESIGN 7 counts the round trips):
 *
 * 1. `parse`: interpret the parameters.
 * 2. Look up the host, the account, and the keys that the handler needs. One round trip.
 * 3. `start`: read the caller and what the handler loads, count the request, reserve log numbers. A warm container does
 *    this in parallel with step 2, on the ids in its cache. If the look-up then finds other ids, it starts again.
 * 4. `finish`: check the caller and run the handler, which decides and commits.
 *
 * Steps 2 to 4 are repeated when the commit meets a conflict. Nothing is decided on cached ids.
 *
 * A caller without a valid key must not cost more than one batch of reads: with more lookup keys than that, the key is
 * checked first, unless the cache has the account with this key. An account that is over its request limit is refused
 * after step 3, and from then on by the cache, for nothing.
 */
export async function authenticateAndLoad(
  outside: Outside,
  rules: CallerRules,
  incoming: Incoming,
  spec: Spec,
): Promise<object> {
  const login = new Login(outside, incoming);
  const parsed = await parse(spec, rules, incoming, login.account.email);
  if (!login.fitsOneBatch(parsed.keys)) await login.requireKey();
  const counter = new RequestCounter(outside, incoming, parsed.weight);
  const known = login.cached();
  if (known) counter.checkCached(known.realm, known.existing(login.account).userId);
  return retryOnConflict(outside, async () => {
    const verifying = login.lookUp(parsed.keys);
    verifying.catch(ignored);
    const cached = login.cached(parsed.keys);
    const early = cached && start(outside, parsed, cached, login, counter);
    try {
      const resolved = await verifying;
      const isRight = cached?.equals(resolved);
      const started = early && isRight ? early : start(outside, parsed, resolved, login, counter);
      if (!isRight) await early?.release();
      return await finish(started, rules, parsed.spec);
    } catch (error) {
      await early?.release();
      throw error;
    }
  });
}

/**
 * Refuses a request without credentials, and a large one without a valid key, before its body is parsed. The key of a
 * small request is checked later, in parallel with its reads. At most one round trip.
 */
export async function checkKeyFirst(outside: Outside, incoming: Incoming): Promise<void> {
  const login = new Login(outside, incoming);
  if (incoming.size > SMALL_REQUEST) await login.requireKey();
}

type AccountKey = LookupKey<'account'>;

/** The account that a request claims to come from, with the digest of the API key that it sent. */
class Login {
  readonly account: AccountKey;
  readonly #keyDigest: string;
  readonly #host: string;
  readonly #outside: Outside;
  readonly #keys = new Map<Resolved, ApiKey | undefined>();

  /** Refuses a request without credentials. */
  constructor(outside: Outside, incoming: Incoming) {
    const { email, keyDigest } = incoming.credentials;
    this.account = { kind: 'account', email };
    this.#keyDigest = keyDigest;
    this.#host = incoming.address.host;
    this.#outside = outside;
  }

  /** Where the account and these keys lead. Refuses an unknown host and a wrong key. One round trip. */
  async lookUp(keys: readonly LookupKey[] = []): Promise<Resolved> {
    const { table, cache } = this.#outside;
    const isValid = (resolved: Resolved): boolean => this.#isValid(resolved);
    const resolved = await lookUp(table, cache, this.#host, [this.account, ...keys], isValid);
    if (resolved === undefined) throw refusal('unknownOrganization');
    if (!this.#isValid(resolved)) throw refusal('unauthorized');
    return resolved;
  }

  /** The same from the cache; undefined if it has not all of it, or the account with another key. */
  cached(keys: readonly LookupKey[] = []): Resolved | undefined {
    const cached = this.#outside.cache.cached(this.#host, [this.account, ...keys]);
    return cached && this.#isValid(cached) ? cached : undefined;
  }

  /** Refuses a key that is valid neither in the cache nor in the table. At most one round trip. */
  async requireKey(): Promise<void> {
    if (!this.cached()) await this.lookUp();
  }

  /** The key of the account that was presented. */
  key(resolved: Resolved): ApiKey | undefined {
    if (!this.#keys.has(resolved)) {
      this.#keys.set(resolved, keyWith(resolved.follow(this.account), this.#keyDigest));
    }
    return this.#keys.get(resolved);
  }

  fitsOneBatch(keys: readonly LookupKey[]): boolean {
    return fitsOneBatch(this.#outside.cache, this.#host, [this.account, ...keys]);
  }

  #isValid(resolved: Resolved): boolean {
    return this.key(resolved) !== undefined;
  }
}

/** A request whose parameters are interpreted. */
interface Parsed {
  readonly spec: Omit<Spec, 'parse'>;
  readonly request: Pick<
    UnverifiedRequest<unknown>,
    'input' | 'client' | 'baseUrl' | 'cookies' | 'userAgent' | 'fromOtherSite' | 'file'
  >;
  readonly keys: readonly LookupKey[];
  /** How many log numbers to reserve, for each commit. */
  readonly reserve: readonly number[];
  /** As how many requests it counts. */
  readonly weight: number;
}

const NO_FILE: UploadedFile = { bytes: new Uint8Array(), name: '', contentType: '' };

/**
 * Interprets the parameters. If they are refused, the refusal is thrown only when the request runs: only a verified
 * caller learns what is wrong with a request. It then counts as one.
 */
async function parse(spec: Spec, rules: CallerRules, incoming: Incoming, email: string): Promise<Parsed> {
  const { surroundings } = incoming;
  try {
    const read = await incoming.read();
    const { input: parameters, file = NO_FILE } = read;
    const input = spec.parse === undefined ? parameters : spec.parse(parameters);
    const { keys, reserve = [] } = spec;
    return {
      spec,
      request: { input, file, client: incoming.clientName(read), ...surroundings },
      keys: keys?.(input, email) ?? [],
      reserve: [typeof reserve === 'function' ? reserve(input) : reserve].flat(),
      weight: rules.weight?.(parameters as never) ?? 1,
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const run = (): never => {
      throw error;
    };
    const request = { input: undefined, file: NO_FILE, client: incoming.clientName({}), ...surroundings };
    return { spec: { run, groupsOf: spec.groupsOf }, request, keys: [], reserve: [], weight: 1 };
  }
}

/** The reads of a request under way, and the numbers that are reserved for it. */
interface Started {
  readonly request: UnverifiedRequest<unknown>;
  readonly caller: Promise<Caller>;
  /** Rejects if the caller is over their request limit. */
  readonly counted: Promise<unknown>;
  readonly loaded: Promise<unknown>;
  readonly commit: Request<unknown>['commit'];
  /** Fills the slots of reserved numbers that were not used, so that no reader waits for them. */
  readonly release: () => Promise<void>;
}

function start(
  outside: Outside,
  { spec, request, reserve }: Parsed,
  resolved: Resolved,
  login: Login,
  counter: RequestCounter,
): Started {
  const { account } = login;
  const { userId, ownerId } = resolved.existing(account);
  const apiKey = login.key(resolved);
  if (apiKey === undefined) throw refusal('unauthorized');
  const { realm } = resolved;
  const log = countingLog(outside, realm);
  const started: UnverifiedRequest<unknown> = {
    ...request,
    realm,
    userId,
    ...(ownerId !== undefined && { ownerId }),
    email: account.email,
    apiKey,
    resolved,
    outside,
    log,
  };
  const counted = Promise.all([counter.count(realm, userId), noteKeyUse(outside, realm, userId, apiKey)]);
  const reserved = reserve.length === 0 ? [] : allocateBlocks(log, reserve, spec.messages);
  const caller = accessCaller(outside, realm, userId, ownerId, spec.groupsOf);
  const loaded = (async () => spec.load?.(started))();
  // If the cached ids were wrong, nobody awaits these.
  for (const promise of [...reserved, caller, counted, loaded]) promise.catch(ignored);
  return {
    request: started,
    caller,
    counted,
    loaded,
    commit: (count, plan) => commitAndCheckpoint(log, outside.report, count, plan, reserved.shift()),
    release: async () => {
      // Blocks are used in order, so those that are left are adjacent: one tombstone covers all. If the allocation
      // failed, its numbers may be taken all the same: readers fill that hole after their grace.
      const unused = Promise.all(reserved.splice(0));
      await unused.then((blocks) => release(log, joinNumbers(blocks))).catch(ignored);
    },
  };
}

/** The log of an organization, which counts filled holes. A poll that waits keeps it, so it must not know of the request. */
const countingLog = (outside: Outside, realm: string): Log => ({
  ...logOf(outside, realm),
  onHole: (slots) => outside.count('HolesFilled', undefined, { realm, slots }),
});

/** Allocates log numbers for several commits, in one step. */
function allocateBlocks(log: Log, sizes: readonly number[], messages?: number): Promise<Numbers>[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const blocks = allocate(log, total, messages).then((numbers) => splitNumbers(numbers, sizes));
  return sizes.map(async (_, i) => (await blocks)[i] as Numbers);
}

async function finish(started: Started, rules: CallerRules, spec: Parsed['spec']): Promise<object> {
  try {
    const caller = await started.caller;
    checkWebhookBot(caller, rules);
    await started.counted;
    checkAudience(caller, rules);
    const loaded = await started.loaded;
    return await spec.run({ ...started.request, caller, commit: started.commit }, loaded);
  } finally {
    await started.release();
  }
}

/** The type of a bot that may only send. */
const INCOMING_WEBHOOK = 2;

/** Refuses a bot that may only send, as if its key were wrong (wire facts 1.3). */
function checkWebhookBot({ user }: Caller, { webhookBots }: CallerRules): void {
  if (user.botType === INCOMING_WEBHOOK && !webhookBots) throw refusal('unauthorized');
}

/** Refuses a caller to whom the endpoint is not open (specification 5, wire facts 1.3). */
function checkAudience({ user, standing }: Caller, { access }: CallerRules): void {
  if ((access === 'human' || access === 'person') && user.isBot) throw refusal('botsMayNot');
  if ((access === 'member' || access === 'person') && isGuest(standing)) throw refusal('guestsMayNot');
  if (access === 'administrator' && !isAdministrator(standing)) throw refusal('notAdministrator');
  if (access === 'owner' && !isOwner(standing)) throw refusal('notOwner');
}

const ignored = (): void => {};
