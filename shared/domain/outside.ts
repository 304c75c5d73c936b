import type { Table } from '../table/table.ts';
import type { Environment } from './environment.ts';
import type { Memory } from './pointer.ts';

/** Everything that a request gets from outside itself, as one record, so that tests can hold it still and break it. */
export interface Outside {
  readonly table: Table;
  /** What the container remembers of names and ids: hints, never truth. */
  readonly memory: Memory;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits some milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
  /** A new unguessable identifier. */
  readonly uuid: () => string;
  /** Unguessable bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** What mail addresses of channels look like, with `%s` for their first part; absent where no mail is taken. */
  readonly mailPattern?: string;
  /** Where tools beyond the table are found (`shared/serve/tools.ts`). */
  readonly environment: Environment;
  /** Tells the operator; never message contents, keys or addresses. */
  readonly report: (line: Readonly<Record<string, unknown>>) => void;
}

/** The work queues that a function may send to. */
export interface Queues {
  /** Hands a message (JSON) to the queue's worker, at the earliest after some seconds (at most 900). */
  readonly send: (queue: string, message: object, delaySeconds?: number) => Promise<void>;
}

/** The buckets that a function may use. Keys begin with the realm. */
export interface Objects {
  readonly put: (bucket: string, key: string, bytes: Uint8Array, contentType: string) => Promise<void>;
  /** The object, or undefined where there is none. */
  readonly get: (
    bucket: string,
    key: string,
  ) => Promise<{ readonly bytes: Uint8Array; readonly contentType: string } | undefined>;
  /** Removes the object; one that is gone already is removed as well. */
  readonly remove: (bucket: string, key: string) => Promise<void>;
  /** An address at which anyone can download the object for some seconds, under this file name. */
  readonly link: (bucket: string, key: string, seconds: number, filename: string) => Promise<string>;
}

/** Seals what must not be stored in clear: what it sealed opens with the same context only. */
export interface Vault {
  readonly seal: (text: string, context: Readonly<Record<string, string>>) => Promise<string>;
  /** Fails for what was not sealed here, or with another context. */
  readonly open: (sealed: string, context: Readonly<Record<string, string>>) => Promise<string>;
}

/** What the operator trusts the service with. */
export interface Secrets {
  /** The secret of this name, or undefined where the operator has set none. */
  readonly get: (name: string) => Promise<string | undefined>;
}
