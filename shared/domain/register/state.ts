import { traceOf } from '../../kernel/errors.ts';
import { loadList } from '../../kernel/list-cache.ts';
import type { Outside } from '../../kernel/outside.ts';
import { loadChannels, loadSubscriberIds } from '../../model/subscription/object.ts';
import { loadUsers } from '../../model/user/principals.ts';
import { FirstMessages } from '../reader/first-messages.ts';
import { Reader } from '../reader/reader.ts';
import { stopWords } from '../search/words.ts';
import { channelSections } from './channels.ts';
import { messageSections } from './messages.ts';
import { realmSections } from './realm.ts';
import { lazily, once, type Sections, type StateContext, type StateRequest } from './section.ts';
import { loadSettings, loadVisibleUsers, userSections } from './users.ts';

/** Types of state that this service does not keep: clients get the empty form of each. */
const unusedSections: Sections = {
  attachments: () => ({}),
  giphy: () => ({ giphy_api_key: '' }),
  klipy: () => ({ klipy_api_key: '' }),
  onboarding_steps: () => ({ onboarding_steps: [], navigation_tour_video_url: null }),
  realm_billing: () => ({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_embedded_bots: () => ({ realm_embedded_bots: [] }),
  realm_filters: () => ({ realm_filters: [] }),
  realm_incoming_webhook_bots: () => ({ realm_incoming_webhook_bots: [] }),
  stop_words: () => ({ stop_words: [...stopWords] }),
};

/** The state by event type (wire facts 14.1). Other types have no state. */
const sections: Sections = {
  ...realmSections,
  ...userSections,
  ...channelSections,
  ...messageSections,
  ...unusedSections,
};

/** The names of the types that have state. */
export const stateTypes: readonly string[] = Object.keys(sections);

/** The lists of one user that are state. They stand side by side in the user's partition. */
const ownLists = [
  ['subscription', 'membership'],
  ['read', 'scheduled'],
  ['snippet', 'userTopic'],
] as const;

/** The outside for the reads of the state. If all of it is wanted, the user's own lists are read by three queries. */
export const outsideForState = (
  { outside, realm, userId }: { readonly outside: Outside; readonly realm: string; readonly userId: number },
  types: ReadonlySet<string> | undefined,
): Outside =>
  types === undefined ? { ...outside, table: outside.table.joined({ realm, userId }, ownLists) } : outside;

/**
 * Loads the state of the types in the request, concurrently, and reads only what they need. Call it after the cursor of
 * the queue is fixed: every later change then comes as an event (DESIGN 5, rule 4).
 */
export async function loadInitialState(request: StateRequest): Promise<object> {
  const { outside, caller, types, cursor } = request;
  const { table } = outside;
  const { realmId, user } = caller;
  const context: StateContext = {
    ...request,
    reader: new Reader(outside, realmId, user.userId, user),
    firsts: new FirstMessages(outside, realmId, cursor),
    users: lazily(() => loadUsers(outside, realmId, cursor)),
    visibleUsers: lazily(() => loadVisibleUsers(context)),
    channels: lazily(() => loadChannels(table, realmId, loadList(outside, 'channel', realmId, cursor))),
    settings: lazily(() => loadSettings(request)),
    subscribersOf: once((channelId) => loadSubscriberIds(table, realmId, channelId)),
  };
  const wanted = Object.entries(sections).flatMap(([type, section]) =>
    types === undefined || types.has(type) ? [section] : [],
  );
  const parts = await Promise.all([...new Set(wanted)].map((section) => section(context)));
  if (context.firsts.haveSearched) await saveFirstMessages(context);
  return Object.assign({}, ...parts);
}

/** Stores the oldest messages that were found for channels. The state does not need it. */
async function saveFirstMessages({ firsts, channels, outside }: StateContext): Promise<void> {
  const counts = (await channels()).flatMap(({ count }) => count ?? []);
  await firsts
    .remember(counts)
    .catch((error: Error) =>
      outside.report({ level: 'WARN', message: 'first messages not saved', error: traceOf(error) }),
    );
}
