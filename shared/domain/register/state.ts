import { traceOf } from '../../kernel/errors.ts';
import { loadChannels, loadFormer, loadSubscriberIds } from '../../model/subscription/object.ts';
import { loadUsers } from '../../model/user/principals.ts';
import { FirstMessages } from '../reader/first-messages.ts';
import { Reader } from '../reader/reader.ts';
import { channelSections } from './channels.ts';
import { deviceSections } from './initial-devices.ts';
import { presenceSections } from './initial-presence.ts';
import { profileSections } from './initial-profile.ts';
import { unusedSections } from './initial-unused.ts';
import { loadPolicies, messageSections } from './messages.ts';
import { lazily, once } from './once.ts';
import { realmSections } from './realm.ts';
import type { Asked, Asking, Section } from './section.ts';
import { loadKnown, loadSettings, userSections } from './users.ts';

/** The state by the event types that go on with it (wire facts 14.1). Types that are not here have none. */
const sections: Readonly<Record<string, Section>> = {
  ...realmSections,
  ...userSections,
  ...channelSections,
  ...messageSections,
  ...presenceSections,
  ...deviceSections,
  ...profileSections,
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
  const { table } = outside;
  const { realmId, user } = caller;
  const reader = new Reader(outside, realmId, user.userId);
  const asking: Asking = {
    ...asked,
    reader,
    users: lazily(() => loadUsers(table, realmId)),
    settings: lazily(() => loadSettings(asked)),
    policies: lazily(() => loadPolicies(reader)),
    channels: lazily(() => loadChannels(table, realmId)),
    firsts: new FirstMessages(outside, realmId, asked.cursor),
    subscriptions: lazily(async () => {
      const [current, former] = await Promise.all([
        reader.subscriptions(),
        loadFormer(table, realmId, user.userId),
      ]);
      return { current: [...current.values()], former };
    }),
    subscribersOf: once((channelId) => loadSubscriberIds(table, realmId, channelId)),
    known: lazily(() => loadKnown(asking)),
  };
  const wanted = Object.entries(sections).flatMap(([type, section]) =>
    types === undefined || types.has(type) ? [section] : [],
  );
  const parts = await Promise.all([...new Set(wanted)].map((section) => section(asking)));
  if (asking.firsts.haveLooked) await rememberFirsts(asking);
  return Object.assign({}, ...parts);
}

/** Remembers the oldest messages of channels that had to be looked for. The state does not need it. */
async function rememberFirsts({ firsts, channels, outside }: Asking): Promise<void> {
  const counts = (await channels()).flatMap(({ count }) => count ?? []);
  await firsts
    .remember(counts)
    .catch((error: Error) =>
      outside.report({ level: 'WARN', message: 'first messages not saved', error: traceOf(error) }),
    );
}
