import * as apiKeys from './api-keys.ts';
import * as bots from './bots.ts';
import * as calls from './calls.ts';
import * as channelFolders from './channel-folders.ts';
import * as channels from './channels.ts';
import * as defaultChannelGroups from './default-channel-groups.ts';
import * as domains from './domains.ts';
import * as drafts from './drafts.ts';
import * as emoji from './emoji.ts';
import type { Endpoint } from './endpoint.ts';
import * as events from './events.ts';
import * as exports from './exports.ts';
import * as filePages from './file-pages.ts';
import * as files from './files.ts';
import * as flags from './flags.ts';
import * as invites from './invites.ts';
import * as linkifiers from './linkifiers.ts';
import * as messages from './messages.ts';
import * as navigationViews from './navigation-views.ts';
import * as pages from './pages.ts';
import * as playgrounds from './playgrounds.ts';
import * as presence from './presence.ts';
import * as profileFields from './profile-fields.ts';
import * as push from './push.ts';
import * as reactions from './reactions.ts';
import * as realm from './realm.ts';
import * as realmPictures from './realm-pictures.ts';
import * as reminders from './reminders.ts';
import * as savedSnippets from './saved-snippets.ts';
import * as scheduledMessages from './scheduled-messages.ts';
import * as server from './server.ts';
import * as settings from './settings.ts';
import * as signIn from './sign-in.ts';
import * as singleSignOn from './single-sign-on.ts';
import * as submessages from './submessages.ts';
import * as subscriptions from './subscriptions.ts';
import * as topics from './topics.ts';
import * as typing from './typing.ts';
import * as userGroups from './user-groups.ts';
import * as users from './users.ts';

const areas: readonly object[] = [
  apiKeys,
  bots,
  calls,
  channelFolders,
  channels,
  defaultChannelGroups,
  domains,
  drafts,
  emoji,
  events,
  exports,
  files,
  flags,
  invites,
  linkifiers,
  messages,
  playgrounds,
  presence,
  profileFields,
  push,
  reactions,
  realm,
  realmPictures,
  reminders,
  navigationViews,
  savedSnippets,
  scheduledMessages,
  server,
  settings,
  signIn,
  submessages,
  subscriptions,
  topics,
  typing,
  userGroups,
  users,
];

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'route' in value;

const endpointsOf = (modules: readonly object[]): readonly Endpoint[] =>
  modules
    .flatMap((module) => Object.values(module).filter(isEndpoint))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** Every endpoint of the API, by its id. */
export const endpoints: readonly Endpoint[] = endpointsOf(areas);

/** Every endpoint, with the pages for browsers, which are no part of the API. */
export const everyEndpoint: readonly Endpoint[] = endpointsOf([...areas, filePages, pages, singleSignOn]);
