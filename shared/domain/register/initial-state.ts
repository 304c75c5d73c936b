import { loadChannels, loadSubscriptions } from '../subscription/subscription-object.ts';
import { loadUsers } from '../user/user-list.ts';
import { channelSections } from './initial-channels.ts';
import { loadPolicies, messageSections } from './initial-messages.ts';
import { realmSections } from './initial-realm.ts';
import type { Asked, Asking, Section } from './initial-section.ts';
import { unusedSections } from './initial-unused.ts';
import { loadSettings, userSections } from './initial-users.ts';

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
