import type { Caller } from '../caller.ts';
import type { Capability } from '../event/event-queue.ts';
import type { Outside } from '../outside.ts';
import type { CountedChannel, Subscriptions } from '../subscription/subscription-object.ts';
import type { UserTopic } from '../topic/user-topic.ts';
import type { User } from '../user/user.ts';
import type { UserSettings } from '../user/user-settings.ts';

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
  /** The types that the client named itself, if any. */
  readonly types: ReadonlySet<string> | undefined;
  /** Where the events of the queue begin: the state has everything up to here. */
  readonly cursor: number;
  /** No message up to the cursor of the queue has a higher id. */
  readonly maxMessageId: number;
}

/** The same with the lists that several sections need: each is read when it is first asked for, once. */
export interface Asking extends Asked {
  readonly users: () => Promise<readonly User[]>;
  readonly channels: () => Promise<readonly CountedChannel[]>;
  readonly subscriptions: () => Promise<Subscriptions>;
  readonly settings: () => Promise<UserSettings>;
  readonly policies: () => Promise<readonly UserTopic[]>;
}

/** Tells the part of the state that goes on with events of one type. */
export type Section = (asking: Asking) => object | Promise<object>;
