import { refusal } from '../../kernel/errors.ts';
import type { Objects, Outside, Queues } from '../../kernel/outside.ts';
import { wakeSearch } from '../../kernel/wake-up.ts';
import type { RangeRequest } from '../../model/message/load.ts';
import {
  type Candidates,
  IndexDamaged,
  type IndexWish,
  type SearchIndex,
  SegmentCache,
  segmentIndex,
} from './candidates.ts';
import { loadSearchState, type SearchState } from './tail.ts';

/** What a function needs to search. */
export interface SearchClients {
  readonly objects: Objects;
  readonly queues: Queues;
}

/** Seconds after which a client may search again if the index was not ready. */
const RETRY_SECONDS = 10;

const caches = new WeakMap<object, SegmentCache>();

/** The segments that a container has loaded. */
function cacheOf({ cache }: Pick<Outside, 'cache'>): SegmentCache {
  const known = caches.get(cache) ?? new SegmentCache();
  caches.set(cache, known);
  return known;
}

/** The index as one request finds it. */
export class Searcher implements SearchIndex {
  readonly #outside: Pick<Outside, 'table' | 'now' | 'cache' | 'report' | 'wait'>;
  readonly #realm: string;
  readonly #clients: SearchClients;
  #state: Promise<SearchState | undefined> | undefined;

  constructor(
    outside: Pick<Outside, 'table' | 'now' | 'cache' | 'report' | 'wait'>,
    realm: string,
    clients: SearchClients,
  ) {
    this.#outside = outside;
    this.#realm = realm;
    this.#clients = clients;
  }

  /** Reads what it needs of the table, once. */
  load(): Promise<SearchState | undefined> {
    this.#state ??= loadSearchState(this.#outside, this.#realm);
    return this.#state;
  }

  /** Throws the refusal of a search that must wait for the worker, and wakes it. */
  async candidates(wish: IndexWish, range: RangeRequest): Promise<Candidates> {
    const state = await this.load();
    if (state === undefined) throw await this.#refuse(false);
    try {
      return await segmentIndex(this.#clients.objects, cacheOf(this.#outside), state).candidates(wish, range);
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      this.#outside.report({ level: 'WARN', message: 'search index damaged', error: String(error) });
      throw await this.#refuse(true);
    }
  }

  async #refuse(verify: boolean): Promise<Error> {
    await wakeSearch(this.#outside, this.#clients.queues, { realm: this.#realm, verify });
    return refusal('searchNotReady', { seconds: RETRY_SECONDS });
  }
}
