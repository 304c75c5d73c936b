import type { Outside } from '../../kernel/outside.ts';
import type { UserTopic } from '../../model/message/user-topic.ts';
import type { CountedChannel, Subscriptions } from '../../model/subscription/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User, UserSettings } from '../../model/user/user.ts';
import type { Capability } from '../event/queue.ts';
import type { FirstMessages } from '../reader/first-messages.ts';
import type { Reader } from '../reader/reader.ts';
import type { Hints } from './hints.ts';

/** What the state is told of: who asks, and how they want it. */
export interface Asked {
  readonly outside: Outside;
  readonly caller: Caller;
  /** The base URL that the client used. */
  readonly baseUrl: string;
  readonly capabilities: readonly Capability[];
  /** The client works out Gravatar's addresses itself. */
  readonly clientGravatar: boolean;
  readonly includeSubscribers: boolean;
  /** Presences are wanted in their modern form, and of so many days. */
  readonly slimPresence: boolean;
  readonly presenceDays: number | undefined;
  /** The types that the client named itself, if any. */
  readonly types: ReadonlySet<string> | undefined;
  /** Where the events of the queue begin: the state has everything up to here. */
  readonly cursor: number;
  /** No message up to the cursor of the queue has a higher id. */
  readonly maxMessageId: number;
  readonly hints: Hints;
}

/** The same with the lists that several sections need: each is read when it is first asked for, once. */
export interface Asking extends Asked {
  readonly users: () => Promise<readonly User[]>;
  readonly channels: () => Promise<readonly CountedChannel[]>;
  /** Finds their oldest messages where those are forgotten. */
  readonly firsts: FirstMessages;
  readonly subscriptions: () => Promise<Subscriptions>;
  readonly settings: () => Promise<UserSettings>;
  readonly policies: () => Promise<readonly UserTopic[]>;
  /** What the caller has to do with channels and conversations, and what they have read. */
  readonly reader: Reader;
  readonly subscribersOf: (channelId: number) => Promise<readonly number[]>;
  /** The users of whom the caller may know: guests perhaps not of everybody (wire facts 3.8). */
  readonly known: () => Promise<readonly User[]>;
}

/** Tells the part of the state that goes on with events of one type. */
export type Section = (asking: Asking) => object | Promise<object>;
