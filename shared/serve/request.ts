import type { Caller } from '../domain/caller.ts';
import type { Outside } from '../domain/outside.ts';
import type { Known, Pointer } from '../domain/pointer.ts';
import type { Change } from '../log/commit.ts';
import type { Log } from '../log/log.ts';

/** A request before the caller is loaded: what its own reads may use. Ids in it may still be guesses. */
export interface Look<I> {
  readonly input: I;
  readonly realm: string;
  readonly userId: number;
  readonly ownerId?: number;
  /** The address that the caller gave. */
  readonly email: string;
  readonly known: Known;
  readonly outside: Outside;
  readonly log: Log;
  /** Name of the client program, at most 30 characters. */
  readonly client: string;
  /** The base URL that the client used. */
  readonly baseUrl: string;
  /** The cookies that a browser sent, as one header (`shared/serve/cookie.ts`). */
  readonly cookies: string | undefined;
  /** Whether a page of another site led the browser here: `Sec-Fetch-Site`, which only browsers send. */
  readonly fromOtherSite: boolean;
  /** The file that was uploaded, where the endpoint takes one. */
  readonly file: Uint8Array;
}

/** A request with its caller, verified and allowed in. */
export interface Context<I> extends Look<I> {
  readonly caller: Caller;
  /** Commits a change in one transaction (see `shared/log/commit.ts`), with numbers taken ahead if there are any. */
  readonly commit: <T>(count: number, plan: (numbers: readonly number[]) => Change<T>) => Promise<T>;
}

/**
 * What a function does with its endpoint, in two steps, so that a warm container needs one round trip to read:
 * `load` only reads, and may run on remembered ids while they are being verified; `run` decides and writes.
 */
export interface Handling<I, D, R, T = unknown> {
  /** Names in the input that lead to ids, to be looked up together with the credentials, and hints for this caller. */
  readonly pointers?: (input: I, email: string) => readonly Pointer[];
  readonly load?: (look: Look<I>) => Promise<D>;
  /**
   * How many numbers of the log to take ahead, beside the reads: what the endpoint usually needs. A list is for several
   * commits at once, each of which takes the next numbers of the list.
   */
  readonly ahead?: number | ((input: I) => number | readonly number[]);
  /** Of how many of these numbers messages are made. */
  readonly messages?: number;
  readonly run: (context: Context<I> & { readonly tools: T }, loaded: D) => Promise<R> | R;
}
