import type { Outside } from '../../kernel/outside.ts';
import type { CountedChannel } from '../../model/subscription/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { UserSettings } from '../../model/user/user.ts';
import type { Listed } from '../../table/remembered-lists.ts';
import type { Capability } from '../event/queue.ts';
import type { FirstMessages } from '../reader/first-messages.ts';
import type { Reader } from '../reader/reader.ts';
import type { Hints } from './queue.ts';

/** Who asks for the initial state, and in which form. */
export interface StateRequest {
  readonly outside: Outside;
  readonly caller: Caller;
  /** The base URL that the client used. */
  readonly baseUrl: string;
  readonly capabilities: readonly Capability[];
  /** The client computes Gravatar addresses itself. */
  readonly clientGravatar: boolean;
  readonly includeSubscribers: boolean;
  /** Presences are sent in the modern format, and only for the last `presenceDays` days. */
  readonly slimPresence: boolean;
  readonly presenceDays: number | undefined;
  /** The types that the client asked for; undefined for all. */
  readonly types: ReadonlySet<string> | undefined;
  /** Where the events of the queue begin: the state includes everything up to here. */
  readonly cursor: number;
  /** No message up to the cursor has a higher id. */
  readonly maxMessageId: number;
  readonly hints: Hints;
}

/** The request with the lists that several sections need. Each is read once, when it is first needed. */
export interface StateContext extends StateRequest {
  readonly users: () => Promise<readonly Listed<'user'>[]>;
  /** The users whom the caller may see: some guests do not see everyone (wire facts 3.8). */
  readonly visibleUsers: () => Promise<readonly Listed<'user'>[]>;
  readonly channels: () => Promise<readonly CountedChannel[]>;
  /** Finds the oldest messages of channels that do not store them. */
  readonly firsts: FirstMessages;
  readonly settings: () => Promise<UserSettings>;
  /** The subscriptions and conversations of the caller, and what they have read. */
  readonly reader: Reader;
  readonly subscribersOf: (channelId: number) => Promise<readonly number[]>;
}

/** The parts of the state, by the type of the events that update them. */
export type Sections = Readonly<Record<string, (context: StateContext) => object | Promise<object>>>;

/**
 * Loads each thing once, when it is first needed. A thing may also be loaded in advance without waiting for it: if that
 * fails, the error reaches only the callers that wait.
 */
export function once<K, T>(load: (id: K) => Promise<T>): (id: K) => Promise<T> {
  const loading = new Map<K, Promise<T>>();
  return (id) => {
    const known = loading.get(id) ?? load(id);
    known.catch(() => {});
    loading.set(id, known);
    return known;
  };
}

/** The same for one thing. */
export const lazily = <T>(load: () => Promise<T>): (() => Promise<T>) => once<void, T>(load);
