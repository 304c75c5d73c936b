import { refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import type { Change } from '../../log/commit.ts';
import type { Channel, ChannelCount } from '../../model/channel/channel.ts';
import { accessFolderForChannel, type Folder } from '../../model/channel/folder.ts';
import { creationEvent } from '../../model/channel/object.ts';
import { doLimitChannel } from '../../model/channel/retention.ts';
import {
  checkMakingWebPublic,
  checkNewChannelGroups,
  checkPrivacyState,
  checkRetention,
  checkSettingRetention,
  checkSettingTopicsPolicy,
  checkTopicsPolicyName,
  type GivenChannelGroups,
  mayMakeChannels,
} from '../../model/channel/settings.ts';
import type { NamedInSettings } from '../../model/group/setting.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';

/** What a request says of the channels that it creates, under the wire names. */
export interface NewChannelSettings extends GivenChannelGroups {
  readonly invite_only?: boolean;
  readonly is_web_public?: boolean;
  readonly is_default_stream?: boolean;
  readonly history_public_to_subscribers?: boolean;
  readonly message_retention_days?: string;
  readonly topics_policy?: string;
  readonly folder_id?: number | null;
}

/** A channel that was decided on, before it has an id and a name. */
export type NewChannel = Omit<Channel, 'channelId' | 'name' | 'description' | 'renderedDescription'>;

/** Whether the caller may create channels of the kind that the request asks for. */
export const mayCreateChannel = ({ standing, realm }: Caller, given: NewChannelSettings): boolean =>
  mayMakeChannels(standing, realm.settings, given.invite_only === true);

/** What the settings of new channels refer to, as far as it exists. */
export interface CreationSnapshot {
  readonly namedInSettings: NamedInSettings;
  readonly folder: Folder | undefined;
  /** The service has web-public channels. */
  readonly isWebPublicEnabled: boolean;
}

/**
 * Decides on the settings of a new channel (wire facts 4.3 to 4.5). The history of a public channel is always
 * public; that of a private one is protected unless the request says otherwise.
 *
 * @param now milliseconds
 */
export function checkCreateChannel(
  caller: Caller,
  given: NewChannelSettings,
  { namedInSettings: named, folder, isWebPublicEnabled }: CreationSnapshot,
  now: number,
): NewChannel {
  const { standing, realm, user } = caller;
  const isPrivate = given.invite_only === true;
  const groups = checkNewChannelGroups(user.userId, given, named);
  const privacy = {
    isPrivate,
    isWebPublic: given.is_web_public === true,
    isDefault: given.is_default_stream === true,
    historyPublicToSubscribers: !isPrivate || given.history_public_to_subscribers === true,
  };
  if (!mayCreateChannel(caller, given)) throw refusal('insufficientPermission');
  if (privacy.isDefault && !isAdministrator(standing)) throw refusal('insufficientPermission');
  checkPrivacyState(privacy, { topicCreators: groups.can_create_topic_group, isForModeration: false });
  if (privacy.isWebPublic) checkMakingWebPublic(standing, realm.settings, isWebPublicEnabled);
  const retention = checkRetention(given.message_retention_days ?? 'realm_default');
  checkSettingRetention(standing, retention);
  const topicsPolicy = checkTopicsPolicyName(given.topics_policy ?? 'inherit');
  if (topicsPolicy !== 'inherit') checkSettingTopicsPolicy(standing, realm.settings);
  const folderId = typeof given.folder_id === 'number' ? accessFolderForChannel(folder).folderId : undefined;
  return {
    ...privacy,
    ...(retention !== undefined && { messageRetentionDays: retention }),
    topicsPolicy,
    ...(folderId !== undefined && { folderId }),
    groups,
    dateCreated: Math.floor(now / 1000),
    creatorId: user.userId,
    isArchived: false,
    version: 1,
  };
}

/**
 * Creates a channel: the channel, the guard of its name, its counts, and the event for those who may see it.
 * `subscribers` is how many people the same transaction subscribes, since a transaction has one write an item.
 */
export function doCreateChannel(realm: string, channel: Channel, subscribers = 0): Change<Channel> {
  const { channelId } = channel;
  const count: ChannelCount = {
    channelId,
    subscribers,
    ...(channel.topicsPolicy === 'empty_topic_only' && { onlyEmptyTopic: true }),
  };
  return {
    writes: [
      { put: key('channel', { realm, channelId }), item: { ...channel } },
      {
        put: key('channelName', { realm, name: folded(channel.name) }),
        item: { channelId },
        when: { absent: true },
      },
      { put: key('channelCount', { realm, channelId }), item: { ...count } },
      ...doLimitChannel(realm, channel, undefined),
    ],
    entries: [creationEvent({ channel: channelId }, channel, undefined)],
    result: channel,
  };
}
