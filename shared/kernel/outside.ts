import type { Environment } from '../environment.ts';
import type { WaitingRoom } from '../log/waiting-room.ts';
import type { Table } from '../table/table.ts';
import type { LookupCache } from './lookup.ts';

/** Everything that a request gets from outside itself, as one record that tests replace. */
export interface Outside {
  readonly table: Table;
  /** What the container remembers of names and ids: hints, never truth. */
  readonly cache: LookupCache;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits some milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
  /** A new unguessable identifier. */
  readonly uuid: () => string;
  /** Unguessable bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** What a new password costs to hash. */
  readonly passwordCost: PasswordCost;
  /** The domain at which channels take mail; absent where none is taken. */
  readonly mailDomain?: string;
  /** Where the clients of other services are configured (`shared/serve/container.ts`). */
  readonly environment: Environment;
  /** Where polls wait; absent in a function, which holds one at a time. */
  readonly waitingRoom?: WaitingRoom;
  /** Writes a line to the operator's log; never message contents, keys or addresses. */
  readonly report: (line: LogLine) => void;
  /** Counts something for the operator; the same rule applies to its details. */
  readonly count: (
    metric: MetricName,
    kind: string | undefined,
    details?: Readonly<Record<string, unknown>>,
  ) => void;
}

/** The parameters of scrypt: `2 ** log2N` blocks of `128 * r` bytes, `p` times. */
export interface PasswordCost {
  readonly log2N: number;
  readonly r: number;
  readonly p: number;
}

/** A line of the operator's log. `message` is the same text for each occurrence, so that it can be searched for. */
export interface LogLine {
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly message: string;
  /** What went wrong, with its stack trace (`traceOf`). */
  readonly error?: string;
  readonly [field: string]: unknown;
}

/** The work queues that a function may send to. */
export interface Queues {
  /** Hands a message (JSON) to the queue's worker, at the earliest after some seconds (at most 900). */
  readonly send: (queue: string, message: object, delaySeconds?: number) => Promise<void>;
}

/** The buckets that a function may use. Keys begin with the realm. */
export interface Objects {
  /** `cacheControl` is for those that a cache hands out, and says for how long it may. */
  readonly put: (
    bucket: string,
    key: string,
    bytes: Uint8Array,
    contentType: string,
    cacheControl?: string,
  ) => Promise<void>;
  /** The object; undefined if there is none. */
  readonly get: (
    bucket: string,
    key: string,
  ) => Promise<{ readonly bytes: Uint8Array; readonly contentType: string } | undefined>;
  /** Removes the object. Does nothing if it is gone. */
  readonly remove: (bucket: string, key: string) => Promise<void>;
  /** An address at which anyone can download the object for some seconds, under this file name. */
  readonly link: (bucket: string, key: string, seconds: number, filename: string) => Promise<string>;
}

/** Writes large objects into the buckets, in numbered parts that may come from several runs of a worker. */
export interface Uploads {
  /** Begins an upload and returns its id. */
  readonly begin: (bucket: string, key: string, contentType: string) => Promise<string>;
  /**
   * Sends a part of at least 5 MiB (the last one may be smaller) and returns its mark. The numbers, from 1 to 10,000,
   * are the order of the parts; some may be left out, and a part that is sent again replaces the first.
   */
  readonly putPart: (upload: Upload, number: number, bytes: Uint8Array) => Promise<string>;
  /** Makes the object from these parts. Does nothing if that was done before. */
  readonly complete: (upload: Upload, parts: readonly UploadedPart[]) => Promise<void>;
  /** Aborts an upload and removes its parts. Does nothing if it is gone. */
  readonly abort: (upload: Upload) => Promise<void>;
}

export interface Upload {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
}

export interface UploadedPart {
  readonly number: number;
  readonly mark: string;
}

/** Encrypts what must not be stored in clear. It can be opened with the same context only. */
export interface Vault {
  readonly seal: (text: string, context: Readonly<Record<string, string>>) => Promise<string>;
  /** Fails for another context, and for what was not sealed here. */
  readonly open: (sealed: string, context: Readonly<Record<string, string>>) => Promise<string>;
}

/** A mail that the service sends. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mail. */
export interface Mailer {
  readonly send: (mail: OutgoingMail) => Promise<void>;
}

/** Secrets that the operator gives to the service. */
export interface Secrets {
  /** The secret of this name; undefined if the operator has set none. */
  readonly get: (name: string) => Promise<string | undefined>;
}

/**
 * What the service counts, with the dimension of each in CloudWatch. The stack makes alarms from these.
 */
export const metrics = {
  /** Replies with an error, by their code. */
  Errors: 'Code',
  /** Runs of a worker that failed, or that nobody could ask for, by worker. */
  WorkFailures: 'Worker',
  /** Holes of the log that a reader had to fill, as their writers died or were slow. */
  HolesFilled: undefined,
  /** Requests and work that failed since the table, or an index of it, was asked for too much, after all repetitions. */
  StoreThrottled: undefined,
} as const;

export type MetricName = keyof typeof metrics;

/**
 * The name of all of them together, where the stack gives none under `NAMESPACE`: metrics belong to the account, in which
 * there may be several stacks.
 */
export const METRICS = 'Parlance';
export const NAMESPACE = 'METRICS_NAMESPACE';

/** The variable with the version of a function's code, for its log. */
export const CODE = 'CODE';
