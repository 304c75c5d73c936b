import { createBot, deactivateBot, listBots, regenerateBotKey } from './bots.ts';
import {
  createChannelFolder,
  listChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
} from './channel-folders.ts';
import { getChannelEmailAddress } from './channel-mail.ts';
import { archiveChannel, updateChannel } from './channel-update.ts';
import { getChannel, getChannelId, listChannelMembers, listChannels } from './channels.ts';
import type { Endpoint } from './endpoint.ts';
import { deleteQueue, getEvents, registerQueue } from './events.ts';
import { deleteMessage, getMessageHistory, updateMessage } from './message-edit.ts';
import { getMessage, listMessages, updateFlags } from './messages.ts';
import { addReaction, removeReaction } from './reactions.ts';
import { sendMessage } from './send-message.ts';
import { getServerSettings } from './server.ts';
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
import {
  createUser,
  deactivateUser,
  getOwnUser,
  getUser,
  listUsers,
  reactivateUser,
  regenerateOwnKey,
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
  deactivateUser,
  reactivateUser,
  regenerateOwnKey,
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
  getChannelEmailAddress,
  listTopics,
  setTopicVisibility,
  createChannelFolder,
  listChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
  listUserGroups,
  createUserGroup,
  updateUserGroup,
  deactivateUserGroup,
  updateUserGroupMembers,
  updateUserGroupSubgroups,
  listUserGroupMembers,
  isUserGroupMember,
  listUserGroupSubgroups,
];
