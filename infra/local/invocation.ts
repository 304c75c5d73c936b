/**
 * What the two sides of a function's thread say to each other. Only types: the thread's code is handed over as
 * text and can import no file of ours.
 */

/** The data that a thread gets when it starts. */
export interface ThreadSetup {
  /** Address of the module, as `file:///…/index.mjs`. */
  readonly module: string;
  /** Name of the export that handles events. */
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
  readonly logGroup: string;
  readonly logStream: string;
}

/** One event to handle. */
export interface Invocation {
  readonly requestId: string;
  readonly traceId: string;
  /** The event as JSON, which is how Lambda hands it over. */
  readonly event: string;
  /** When the time limit ends, in milliseconds since 1970. */
  readonly deadline: number;
}

/** An error in the form in which Lambda reports it. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
}

/** What a thread says: that it can take events, what came of one, or why it cannot go on. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'success'; readonly payload: string }
  | { readonly kind: 'failure'; readonly error: FunctionError };

/** What came of an invocation. */
export type InvocationResult =
  | { readonly outcome: 'success'; readonly payload: string }
  | { readonly outcome: 'failure'; readonly error: FunctionError }
  | { readonly outcome: 'throttled' };
