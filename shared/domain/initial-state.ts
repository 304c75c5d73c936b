import type { Caller } from './caller.ts';
import type { Capability } from './event-queue.ts';
import { channelSections } from './initial-channels.ts';
import { loadPolicies, messageSections } from './initial-messages.ts';
import { realmSections } from './initial-realm.ts';
import { unusedSections } from './initial-unused.ts';
import { loadSettings, userSections } from './initial-users.ts';
import type { Outside } from './outside.ts';
import {
  type CountedChannel,
  loadChannels,
  loadSubscriptions,
  type Subscriptions,
} from './subscription-object.ts';
import type { User } from './user.ts';
import { loadUsers } from './user-list.ts';
import type { UserSettings } from './user-settings.ts';
import type { UserTopic } from './user-topic.ts';

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

/** The state by the event types that go on with it (wire facts 14.1). Types that are not here have none. */
const sections: Readonly<Record<string, Section>> = {
  ...realmSections,
  ...userSections,
  ...channelSections,
  ...messageSections,
  ...unusedSections,
};

/** The names of the types whose state can be asked for. */
export const stateTypes: readonly string[] = Object.keys(sections);

/**
 * The state of these types, or of all. Only what is asked for is read, all of it side by side. Must begin after the
 * cursor of the queue is fixed: then what is not in the state comes as an event (DESIGN 5, rule 4).
 */
export async function loadInitialState(asked: Asked): Promise<object> {
  const { outside, caller, types } = asked;
  const asking: Asking = {
    ...asked,
    users: lazily(() => loadUsers(outside.table, caller.realmId)),
    settings: lazily(() => loadSettings(asked)),
    policies: lazily(() => loadPolicies(asked)),
    channels: lazily(() => loadChannels(outside.table, caller.realmId)),
    subscriptions: lazily(() => loadSubscriptions(outside.table, caller.realmId, caller.user.userId)),
  };
  const wanted = Object.entries(sections).flatMap(([type, section]) =>
    types === undefined || types.has(type) ? [section] : [],
  );
  const parts = await Promise.all([...new Set(wanted)].map((section) => section(asking)));
  return Object.assign({}, ...parts);
}

function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}
