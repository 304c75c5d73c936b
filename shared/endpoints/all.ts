import * as apiKeys from './api-keys.ts';
import * as bots from './bots.ts';
import * as calls from './calls.ts';
import * as channelFolders from './channel-folders.ts';
import * as channels from './channels.ts';
import * as domains from './domains.ts';
import * as emoji from './emoji.ts';
import type { Endpoint } from './endpoint.ts';
import * as events from './events.ts';
import * as exports from './exports.ts';
import * as messages from './messages.ts';
import * as presence from './presence.ts';
import * as profileFields from './profile-fields.ts';
import * as push from './push.ts';
import * as reactions from './reactions.ts';
import * as realm from './realm.ts';
import * as server from './server.ts';
import * as settings from './settings.ts';
import * as subscriptions from './subscriptions.ts';
import * as topics from './topics.ts';
import * as userGroups from './user-groups.ts';
import * as users from './users.ts';

/** Every endpoint of the service, in the order of the reference page. */
export const endpoints: readonly Endpoint[] = [
  server.getServerSettings,
  messages.sendMessage,
  messages.listMessages,
  messages.getMessage,
  messages.updateFlags,
  messages.updateMessage,
  messages.deleteMessage,
  messages.getMessageHistory,
  reactions.addReaction,
  reactions.removeReaction,
  events.registerQueue,
  events.getEvents,
  events.deleteQueue,
  users.listUsers,
  users.getOwnUser,
  users.getUser,
  users.createUser,
  users.updateUser,
  users.deactivateUser,
  users.reactivateUser,
  users.regenerateOwnKey,
  apiKeys.listApiKeys,
  apiKeys.revokeApiKey,
  profileFields.updateProfileData,
  profileFields.removeProfileData,
  settings.updateSettings,
  users.setUserStatus,
  users.getUserStatus,
  presence.updatePresence,
  presence.listPresences,
  presence.getPresence,
  bots.listBots,
  bots.createBot,
  bots.deactivateBot,
  bots.regenerateBotKey,
  subscriptions.listSubscriptions,
  subscriptions.addSubscriptions,
  subscriptions.removeSubscriptions,
  subscriptions.setSubscriptionProperties,
  channels.listChannels,
  channels.getChannelId,
  channels.getChannel,
  channels.listChannelMembers,
  channels.updateChannel,
  channels.archiveChannel,
  channels.addDefaultChannel,
  channels.removeDefaultChannel,
  channels.getChannelEmailAddress,
  topics.listTopics,
  topics.setTopicVisibility,
  channelFolders.createChannelFolder,
  channelFolders.listChannelFolders,
  channelFolders.reorderChannelFolders,
  channelFolders.updateChannelFolder,
  push.registerDevice,
  push.removeDevice,
  push.registerPush,
  push.testPush,
  push.testLegacyPush,
  calls.createCall,
  calls.registerCalls,
  calls.completeCalls,
  emoji.listEmoji,
  emoji.addEmoji,
  emoji.deactivateEmoji,
  emoji.getEmojiImage,
  userGroups.listUserGroups,
  userGroups.createUserGroup,
  userGroups.updateUserGroup,
  userGroups.deactivateUserGroup,
  userGroups.updateUserGroupMembers,
  userGroups.updateUserGroupSubgroups,
  userGroups.listUserGroupMembers,
  userGroups.isUserGroupMember,
  userGroups.listUserGroupSubgroups,
  realm.updateRealm,
  profileFields.createProfileField,
  profileFields.listProfileFields,
  profileFields.reorderProfileFields,
  profileFields.updateProfileField,
  profileFields.deleteProfileField,
  domains.listDomains,
  domains.addDomain,
  domains.updateDomain,
  domains.removeDomain,
  exports.createExport,
  exports.listExports,
  exports.listExportConsents,
  exports.deleteExport,
  server.getOpenApi,
  server.getEmojiNames,
];
