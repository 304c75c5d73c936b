import fc from 'fast-check';
import { handler as createFolder } from '../../functions/channelFolders/create.ts';
import { handler as editFolder } from '../../functions/channelFolders/update.ts';
import { handler as addDefault } from '../../functions/channels/addDefault.ts';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as removeDefault } from '../../functions/channels/removeDefault.ts';
import { handler as editChannel } from '../../functions/channels/update.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as editRealm } from '../../functions/realm/update.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { channelGroupNames } from '../../shared/model/channel/channel.ts';
import {
  changedSettings,
  channelId,
  channelName,
  deed,
  few,
  folderId,
  nameOf,
  newSettings,
  optional,
  principals,
  settings,
  some,
} from './deed.ts';

const properties = {
  is_web_public: fc.boolean(),
  history_public_to_subscribers: fc.boolean(),
  is_default_stream: fc.boolean(),
  topics_policy: fc.constantFrom('inherit', 'disable_empty_topic', 'empty_topic_only'),
};

/** Settings that decide who may know of a channel are more likely than the others. */
const groups = fc.oneof(
  settings(['can_add_subscribers_group', 'can_administer_channel_group', 'can_subscribe_group']),
  settings(channelGroupNames),
);

export const editsChannel = deed(
  'edits a channel',
  fc.record({
    channel: some,
    plain: optional({
      ...properties,
      is_private: fc.boolean(),
      new_name: nameOf('c'),
      description: fc.constantFrom('', 'words'),
      is_archived: fc.boolean(),
      message_retention_days: fc.constantFrom('30', 'unlimited'),
    }),
    folder: fc.option(fc.option(some), { nil: undefined }),
    groups,
  }),
  ({ channel, plain, folder, groups }, known) => ({
    handler: editChannel,
    path: { stream_id: channelId(known, channel) },
    parameters: {
      ...plain,
      ...(folder !== undefined && { folder_id: folder === null ? null : folderId(known, folder) }),
      ...changedSettings(groups, known),
    },
  }),
);

/** One property at a time gets further than many. */
export const changesPrivacy = deed(
  'changes the privacy of a channel',
  fc.record({
    channel: some,
    to: fc.constantFrom<object>(
      { is_private: true, is_default_stream: false, is_web_public: false },
      { is_private: true, history_public_to_subscribers: true, is_web_public: false },
      { is_private: false },
      { is_private: false, is_web_public: true },
    ),
  }),
  ({ channel, to }, known) => ({
    handler: editChannel,
    path: { stream_id: channelId(known, channel) },
    parameters: { ...to },
  }),
);

export const createsChannel = deed(
  'creates a channel',
  fc.record({
    name: nameOf('c'),
    plain: optional({ ...properties, invite_only: fc.boolean() }),
    folder: fc.option(some),
    groups,
    others: few,
  }),
  ({ name, plain, folder, groups, others }, known) => ({
    handler: subscribe,
    parameters: {
      subscriptions: [{ name }],
      ...plain,
      ...(folder !== null && { folder_id: folderId(known, folder) }),
      ...newSettings(groups, known),
      ...principals(known, others),
    },
  }),
);

export const subscribes = deed(
  'subscribes',
  fc.record({ channels: few, others: few, authorization_errors_fatal: fc.boolean() }),
  ({ channels, others, authorization_errors_fatal }, known) => ({
    handler: subscribe,
    parameters: {
      subscriptions: channels.map((n) => ({ name: channelName(known, n) })),
      authorization_errors_fatal,
      ...principals(known, others),
    },
  }),
);

export const unsubscribes = deed(
  'unsubscribes',
  fc.record({ channels: few, others: few }),
  ({ channels, others }, known) => ({
    handler: unsubscribe,
    parameters: {
      subscriptions: channels.map((n) => channelName(known, n)),
      ...principals(known, others),
    },
  }),
);

export const archivesChannel = deed(
  'archives a channel',
  fc.record({ channel: some }),
  ({ channel }, known) => ({
    handler: archive,
    path: { stream_id: channelId(known, channel) },
  }),
);

export const choosesDefaults = deed(
  'chooses default channels',
  fc.record({ channel: some, isAdded: fc.boolean() }),
  ({ channel, isAdded }, known) => ({
    handler: isAdded ? addDefault : removeDefault,
    parameters: { stream_id: channelId(known, channel) },
  }),
);

export const createsFolder = deed('creates a folder', fc.record({ name: nameOf('f') }), ({ name }) => ({
  handler: createFolder,
  parameters: { name, description: '' },
}));

export const editsFolder = deed(
  'edits a folder',
  fc.record({ folder: some, plain: optional({ name: nameOf('f'), is_archived: fc.boolean() }) }),
  ({ folder, plain }, known) => ({
    handler: editFolder,
    path: { channel_folder_id: folderId(known, folder) },
    parameters: { ...plain },
  }),
);

export const saysSomething = deed(
  'says something',
  fc.record({ channel: some, topic: fc.constantFrom('', 'tea') }),
  ({ channel, topic }, known) => ({
    handler: send,
    parameters: { type: 'channel', to: channelId(known, channel), topic, content: 'hello' },
  }),
);

export const choosesModeration = deed(
  'chooses the channel for moderation requests',
  fc.record({ channel: some }),
  ({ channel }, known) => ({
    handler: editRealm,
    parameters: { moderation_request_channel_id: channelId(known, channel) },
  }),
);
