import type { LookupKey, Resolved } from '../kernel/lookup.ts';
import type { Outside } from '../kernel/outside.ts';
import type { Change } from '../log/commit.ts';
import type { Log } from '../log/log.ts';
import type { ApiKey, Caller, CallerByRole } from '../model/user/caller.ts';
import type { Held } from './held.ts';

/** A file in a multipart body. */
export interface UploadedFile {
  readonly bytes: Uint8Array;
  /** What the client calls it: any text. */
  readonly name: string;
  /** The content type that the client gave; empty if it gave none. */
  readonly contentType: string;
}

/** A request before its caller is verified, for the reads of its endpoint. Its ids may be remembered ones that are wrong. */
export interface UnverifiedRequest<I> {
  /** The parameters, as `parse` of the handler interpreted them. */
  readonly input: I;
  readonly realm: string;
  readonly userId: number;
  readonly ownerId?: number;
  /** The address that the caller gave. */
  readonly email: string;
  /** The key that the caller presented, as it was read. */
  readonly apiKey: ApiKey;
  /** What the lookup keys led to. */
  readonly resolved: Resolved;
  readonly outside: Outside;
  readonly log: Log;
  /** Name of the client program, at most 30 characters. */
  readonly client: string;
  /** The base URL that the client used. */
  readonly baseUrl: string;
  /** The cookies that a browser sent, as one header (`shared/serve/cookie.ts`). */
  readonly cookies: string | undefined;
  /** The `User-Agent` that was sent: what a browser says of itself. */
  readonly userAgent: string | undefined;
  /** Whether a page of another site led the browser here: `Sec-Fetch-Site`, which only browsers send. */
  readonly fromOtherSite: boolean;
  /** The file that was uploaded, where the endpoint takes one. */
  readonly file: UploadedFile;
}

/** A request whose caller is verified and may call this endpoint. */
export interface Request<I> extends UnverifiedRequest<I> {
  readonly caller: Caller;
  /**
   * Commits a change in one transaction (`shared/log/commit.ts`), with reserved numbers as long as they are enough. A
   * commit that needs more allocates its own, which takes one more round trip.
   */
  readonly commit: <T>(count: number, plan: (numbers: readonly number[]) => Change<T>) => Promise<T>;
}

/** The same, where nothing depends on the groups of the caller. They were not read (`serveByRole`). */
export type RequestByRole<I> = Omit<Request<I>, 'caller'> & { readonly caller: CallerByRole };

/**
 * How a function handles its endpoint, in the order in which it happens. `P` are the parameters as declared, `I` is what
 * `parse` makes of them, `D` what was loaded, `R` the reply, `C` the clients, `Q` what `run` gets.
 *
 * `load` only reads. It may run on remembered ids while they are being verified, so that a warm container reads
 * everything in one round trip. `run` decides and writes.
 */
export interface HandlerSpec<P, I, D, R, C = unknown, Q = Request<I>> {
  /**
   * Interprets the parameters, once for each request, for all that follows. Refuses bad input before anything is read.
   * Pure: it knows nothing but the parameters. Left out where they need no interpretation.
   */
  readonly parse?: (parameters: P) => I;
  /** Names in the input that lead to ids, looked up together with the credentials; and hints for this caller. */
  readonly keys?: (input: I, email: string) => readonly LookupKey[];
  readonly load?: (request: UnverifiedRequest<I> & { readonly clients: C }) => Promise<D>;
  /**
   * How many numbers of the log to reserve while the request is loaded: as many as its commit usually needs. A list is
   * for several commits: each takes the next entry. What is not used is released.
   */
  readonly reserve?: number | ((input: I) => number | readonly number[]);
  /** Of how many of these numbers messages are made. */
  readonly messages?: number;
  readonly run: (request: Q & { readonly clients: C }, loaded: D) => Promise<R | Held<R & object>> | R;
}
