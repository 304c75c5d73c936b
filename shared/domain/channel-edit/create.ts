import { refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import {
  type Channel,
  type ChannelCount,
  type ChannelGroupName,
  channelGroupRules,
  checkMakeWebPublic,
  checkPrivacyState,
  checkRetention,
  checkSetTopicsPolicy,
  checkTopicsPolicyName,
  mayCreateChannels,
} from '../../model/channel/channel.ts';
import { accessFolderForChannel, type Folder } from '../../model/channel/folder.ts';
import { creationEvent } from '../../model/channel/object.ts';
import { doSetChannelRetention } from '../../model/channel/retention.ts';
import { checkNewSettings, type SettingReferences } from '../../model/group/setting.ts';
import { type GroupSetting, isAdministrator, isOwner } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import { key } from '../../table/keys.ts';

/** The settings of new channels in a request, under their wire names. */
export interface NewChannelSettings
  extends Partial<Readonly<Record<ChannelGroupName, GroupSetting | undefined>>> {
  readonly invite_only?: boolean;
  readonly is_web_public?: boolean;
  readonly is_default_stream?: boolean;
  readonly history_public_to_subscribers?: boolean;
  readonly message_retention_days?: string;
  readonly topics_policy?: string;
  readonly folder_id?: number | null;
}

/** A checked new channel, before it has an id, a name and a description. */
export type NewChannel = Omit<Channel, 'channelId' | 'name' | 'description' | 'renderedDescription'>;

/** Whether the caller may create channels that are as private as in the request. */
export const mayCreateChannel = ({ standing, realm }: Caller, input: NewChannelSettings): boolean =>
  mayCreateChannels(standing, realm.settings, input.invite_only === true);

/** What the settings of new channels refer to. */
export interface CreationSnapshot {
  readonly namedInSettings: SettingReferences;
  readonly folder: Folder | undefined;
  /** The deployment supports web-public channels. */
  readonly isWebPublicEnabled: boolean;
}

/**
 * Checks the settings of a new channel (wire facts 4.3 to 4.5). By default the history of a private channel is protected.
 *
 * @param now milliseconds
 */
export function checkCreateChannel(
  caller: Caller,
  input: NewChannelSettings,
  { namedInSettings: named, folder, isWebPublicEnabled }: CreationSnapshot,
  now: number,
): NewChannel {
  const { standing, realm, user } = caller;
  const isPrivate = input.invite_only === true;
  const groups = checkNewSettings(channelGroupRules, user.userId, input, named);
  const privacy = {
    isPrivate,
    isWebPublic: input.is_web_public === true,
    isDefault: input.is_default_stream === true,
    historyPublicToSubscribers: !isPrivate || input.history_public_to_subscribers === true,
  };
  if (!mayCreateChannel(caller, input)) throw refusal('insufficientPermission');
  if (privacy.isDefault && !isAdministrator(standing)) throw refusal('insufficientPermission');
  checkPrivacyState(privacy, { topicCreators: groups.can_create_topic_group, isForModeration: false });
  if (privacy.isWebPublic) checkMakeWebPublic(standing, realm.settings, isWebPublicEnabled);
  const retention = checkRetention(input.message_retention_days ?? 'realm_default');
  if (retention !== undefined && !isOwner(standing)) throw refusal('notOwner');
  const topicsPolicy = checkTopicsPolicyName(input.topics_policy ?? 'inherit');
  if (topicsPolicy !== 'inherit') checkSetTopicsPolicy(standing, realm.settings);
  const folderId = typeof input.folder_id === 'number' ? accessFolderForChannel(folder).folderId : undefined;
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
 * Creates a channel: the channel, the guard of its name, its counters, and the event for people who can see it.
 * `subscribers` is how many people the same transaction subscribes: it may write the counters only once.
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
      ...doSetChannelRetention(realm, channel, undefined),
    ],
    entries: [creationEvent({ channel: channelId }, channel, undefined)],
    result: channel,
  };
}
