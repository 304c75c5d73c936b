import type { Environment } from '../environment.ts';
import { refusal } from '../kernel/errors.ts';
import type { Outside } from '../kernel/outside.ts';
import { limits } from '../model/realm/realm.ts';
import { key } from '../table/keys.ts';
import { isRefused } from '../table/outcome.ts';
import type { Incoming } from './incoming.ts';

/** The time (ms) in which requests are counted. The windows of all accounts begin with the minute. */
const WINDOW = 60_000;

/** Seconds after its window for which a count is kept: clocks of containers differ a little. */
const KEPT = 600;

/** What an account may still ask for in this minute. */
interface Allowance {
  readonly remaining: number;
  /** When all of the limit is there again, ms. */
  readonly reset: number;
  readonly isOver: boolean;
}

/** Requests a minute for an account; 0 is no limit. */
const limitOf = ({ API_RATE_LIMIT: given }: Environment): number => Number(given ?? limits.requests);

/** Counts one request, once, whatever is tried again; tells the allowance in the reply's headers, and refuses. */
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
    // What counts as many requests can still be done once a minute.
    this.#weight = Math.min(weight, this.#limit);
  }

  /**
   * Refuses a request of which the container remembers that the account is over the limit: as long as the minute lasts,
   * one that counts as many is refused without asking the table.
   */
  checkRemembered(realm: string, userId: number): void {
    const spent = this.#outside.cache.spentBy(realm, userId);
    if (this.#limit === 0 || spent === undefined || this.#outside.now() >= spent.until) return;
    if (this.#weight >= spent.weight) this.#tell({ remaining: 0, reset: spent.until, isOver: true });
  }

  /**
   * Counts it for this account and refuses it if it is over the limit; that one is not counted. One write of one unit, in
   * an item of its own for each account and minute, which no other request touches.
   *
   * A write whose reply is lost is repeated by the client of DynamoDB, so that it may count twice.
   */
  count(realm: string, userId: number): Promise<void> {
    if (this.#limit === 0) return Promise.resolve();
    const account = `${userId}/${realm}`;
    const counted =
      this.#counts.get(account) ?? this.#count(realm, userId).then((found) => this.#tell(found));
    this.#counts.set(account, counted);
    return counted;
  }

  async #count(realm: string, userId: number): Promise<Allowance> {
    const { table, cache, now } = this.#outside;
    const window = Math.floor(now() / WINDOW);
    const reset = (window + 1) * WINDOW;
    const [limit, weight] = [this.#limit, this.#weight];
    try {
      const { requests } = await table.update(
        key('requests', { realm, userId, window }),
        { add: { requests: weight }, setOnce: { expires: reset / 1_000 + KEPT } },
        { below: { requests: limit - weight + 1 } },
      );
      return { remaining: limit - Number(requests), reset, isOver: false };
    } catch (error) {
      if (!isRefused(error)) throw error;
      cache.spent(realm, userId, { weight, until: reset });
      return { remaining: 0, reset, isOver: true };
    }
  }

  /** Every counted reply tells the allowance, as the reference does (companion facts 5). */
  #tell({ remaining, reset, isOver }: Allowance): void {
    Object.assign(this.#incoming.replyHeaders, {
      'X-RateLimit-Limit': String(this.#limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(reset / 1_000),
    });
    if (isOver)
      throw refusal('tooManyRequests', { seconds: Math.max(1, reset - this.#outside.now()) / 1_000 });
  }
}
