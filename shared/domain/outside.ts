import type { Table } from '../table/table.ts';
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
  /** Tells the operator; never message contents, keys or addresses. */
  readonly report: (line: Readonly<Record<string, unknown>>) => void;
}
