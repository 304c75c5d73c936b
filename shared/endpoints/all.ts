import { createBot, deactivateBot, listBots, regenerateBotKey } from './bots.ts';
import { completeCalls, createCall, registerCalls } from './calls.ts';
import {
  createChannelFolder,
  listChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
} from './channel-folders.ts';
import { getChannelEmailAddress } from './channel-mail.ts';
import { addDefaultChannel, archiveChannel, removeDefaultChannel, updateChannel } from './channel-update.ts';
import { getChannel, getChannelId, listChannelMembers, listChannels } from './channels.ts';
import { addDomain, listDomains, removeDomain, updateDomain } from './domains.ts';
import { addEmoji, deactivateEmoji, getEmojiImage, listEmoji } from './emoji.ts';
import type { Endpoint } from './endpoint.ts';
import { deleteQueue, getEvents, registerQueue } from './events.ts';
import { createExport, deleteExport, listExportConsents, listExports } from './export.ts';
import { deleteMessage, getMessageHistory, updateMessage } from './message-edit.ts';
import { getMessage, listMessages, updateFlags } from './messages.ts';
import { getPresence, listPresences, updatePresence } from './presence.ts';
import {
  createProfileField,
  deleteProfileField,
  listProfileFields,
  removeProfileData,
  reorderProfileFields,
  updateProfileData,
  updateProfileField,
} from './profile-fields.ts';
import { registerDevice, registerPush, removeDevice, testLegacyPush, testPush } from './push.ts';
import { addReaction, removeReaction } from './reactions.ts';
import { updateRealm } from './realm.ts';
import { sendMessage } from './send-message.ts';
import { getEmojiNames, getOpenApi, getServerSettings } from './server.ts';
import { updateSettings } from './settings.ts';
import { setSubscriptionProperties } from './subscription-properties.ts';
import { addSubscriptions, listSubscriptions, removeSubscriptions } from './subscriptions.ts';
import { listTopics, setTopicVisibility } from './topics.ts';
import {
  createUserGroup,
  deactivateUserGroup,
  isUserGroupMember,
  listUserGroupMembers,
  listUserGroupSubgroups,
  listUserGroups,
  updateUserGroup,
  updateUserGroupMembers,
  updateUserGroupSubgroups,
} from './user-groups.ts';
import { getUserStatus, setUserStatus } from './user-status.ts';
import {
  createUser,
  deactivateUser,
  getOwnUser,
  getUser,
  listUsers,
  reactivateUser,
  regenerateOwnKey,
  updateUser,
} from './users.ts';

/** Every endpoint of the service, in the order in which the reference page shows them. */
export const endpoints: readonly Endpoint[] = [
  getServerSettings,
  sendMessage,
  listMessages,
  getMessage,
  updateFlags,
  updateMessage,
  deleteMessage,
  getMessageHistory,
  addReaction,
  removeReaction,
  registerQueue,
  getEvents,
  deleteQueue,
  listUsers,
  getOwnUser,
  getUser,
  createUser,
  updateUser,
  deactivateUser,
  reactivateUser,
  regenerateOwnKey,
  updateProfileData,
  removeProfileData,
  updateSettings,
  setUserStatus,
  getUserStatus,
  updatePresence,
  listPresences,
  getPresence,
  listBots,
  createBot,
  deactivateBot,
  regenerateBotKey,
  listSubscriptions,
  addSubscriptions,
  removeSubscriptions,
  setSubscriptionProperties,
  listChannels,
  getChannelId,
  getChannel,
  listChannelMembers,
  updateChannel,
  archiveChannel,
  addDefaultChannel,
  removeDefaultChannel,
  getChannelEmailAddress,
  listTopics,
  setTopicVisibility,
  createChannelFolder,
  listChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
  registerDevice,
  removeDevice,
  registerPush,
  testPush,
  testLegacyPush,
  createCall,
  registerCalls,
  completeCalls,
  listEmoji,
  addEmoji,
  deactivateEmoji,
  getEmojiImage,
  listUserGroups,
  createUserGroup,
  updateUserGroup,
  deactivateUserGroup,
  updateUserGroupMembers,
  updateUserGroupSubgroups,
  listUserGroupMembers,
  isUserGroupMember,
  listUserGroupSubgroups,
  updateRealm,
  createProfileField,
  listProfileFields,
  reorderProfileFields,
  updateProfileField,
  deleteProfileField,
  listDomains,
  addDomain,
  updateDomain,
  removeDomain,
  createExport,
  listExports,
  listExportConsents,
  deleteExport,
  getOpenApi,
  getEmojiNames,
];
