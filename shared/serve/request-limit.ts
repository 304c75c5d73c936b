import type { Environment } from '../environment.ts';
import { refusal } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { limits } from '../model/realm/realm.ts';
import type { ApiKey } from '../model/user/caller.ts';
import { key } from '../table/keys.ts';
import { isPassing, isRefused } from '../table/outcome.ts';
import type { Incoming } from './incoming.ts';

/** Requests are counted per minute (ms); the windows of all accounts begin with the minute. */
const WINDOW_MS = 60_000;

/** Seconds for which a count outlives its window: clocks of containers differ a little. */
const KEPT_SECONDS = 600;

/** What is left of an account's limit in this minute. */
interface Allowance {
  readonly remaining: number;
  /** When the next minute begins, ms. */
  readonly reset: number;
  readonly isOver: boolean;
}

/** Requests a minute for an account; 0 is no limit. */
const limitOf = ({ API_RATE_LIMIT }: Environment): number => Number(API_RATE_LIMIT ?? limits.requests);

/** Counts one request, once for all its tries. Sets the headers of the allowance, and refuses. */
export class RequestCounter {
  readonly #outside: Outside;
  readonly #incoming: Pick<Incoming, 'replyHeaders'>;
  readonly #limit: number;
  readonly #weight: number;
  readonly #counts = new Map<string, Promise<void>>();

  /** `weight` is as how many requests it counts. */
  constructor(outside: Outside, incoming: Pick<Incoming, 'replyHeaders'>, weight: number) {
    this.#outside = outside;
    this.#incoming = incoming;
    this.#limit = limitOf(outside.environment);
    // A request whose weight exceeds the limit can still be made once a minute.
    this.#weight = Math.min(weight, this.#limit);
  }

  /** Refuses a request of an account that was over the limit in this minute, from the cache and without a read. */
  checkCached(realm: string, userId: number): void {
    const over = this.#outside.cache.overLimit(realm, userId);
    if (this.#limit === 0 || over === undefined || this.#outside.now() >= over.until) return;
    if (this.#weight >= over.weight) this.#apply({ remaining: 0, reset: over.until, isOver: true });
  }

  /**
   * Counts the request for this account, or refuses it (uncounted) if that would exceed the limit. One write unit, in an
   * item per account and minute. It may count twice: the client of DynamoDB repeats a write whose reply is lost.
   */
  count(realm: string, userId: number): Promise<void> {
    if (this.#limit === 0 || this.#weight === 0) return Promise.resolve();
    const account = `${userId}/${realm}`;
    const counted =
      this.#counts.get(account) ?? this.#count(realm, userId).then((allowance) => this.#apply(allowance));
    this.#counts.set(account, counted);
    return counted;
  }

  async #count(realm: string, userId: number): Promise<Allowance> {
    const { table, cache, now } = this.#outside;
    const window = Math.floor(now() / WINDOW_MS);
    const reset = (window + 1) * WINDOW_MS;
    const [limit, weight] = [this.#limit, this.#weight];
    try {
      const { requests } = await table.update(
        key('requests', { realm, userId, window }),
        { add: { requests: weight }, setOnce: { expires: reset / 1_000 + KEPT_SECONDS } },
        { below: { requests: limit - weight + 1 } },
      );
      return { remaining: limit - Number(requests), reset, isOver: false };
    } catch (error) {
      if (!isRefused(error)) throw error;
      cache.noteOverLimit(realm, userId, { weight, until: reset });
      return { remaining: 0, reset, isOver: true };
    }
  }

  /** Sets the headers of the allowance on every counted reply, as the reference does (companion facts 5). */
  #apply({ remaining, reset, isOver }: Allowance): void {
    Object.assign(this.#incoming.replyHeaders, {
      'X-RateLimit-Limit': String(this.#limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(reset / 1_000),
    });
    if (isOver)
      throw refusal('tooManyRequests', { seconds: Math.max(1, reset - this.#outside.now()) / 1_000 });
  }
}

const DAY_SECONDS = 86_400;

/** Days for which it is known when a key was last used. */
const KEPT_DAYS = 400;

/**
 * Notes the day on which a key is used, so that its owner sees which devices are still in use. One write unit, in
 * parallel with the reads of the request, at most once a day for each key and container, and none on the day on which the
 * key was made. The partition is that of the request counters, which every function may write.
 */
export async function noteKeyUse(
  { table, cache, now }: Outside,
  realm: string,
  userId: number,
  { id: keyId, created }: ApiKey,
): Promise<void> {
  const day = Math.floor(now() / 1_000 / DAY_SECONDS);
  if (created !== undefined && day <= Math.floor(created / DAY_SECONDS)) return;
  const at = key('keyUse', { realm, userId, keyId });
  if (cache.usedOn(at) === day) return;
  try {
    const expires = (day + KEPT_DAYS) * DAY_SECONDS;
    await table.update(at, { set: { keyId, day, expires } }, { below: { day } });
  } catch (error) {
    // Another container noted it first, or the store is busy: then a later request notes it.
    if (isRefused(error) || isPassing(error)) return;
    throw error;
  }
  cache.noteUse(at, day);
}
