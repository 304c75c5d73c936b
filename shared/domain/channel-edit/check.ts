import { badRequest, refusal } from '../../kernel/errors.ts';
import { checkQuota } from '../../kernel/quota.ts';
import { folded } from '../../kernel/text.ts';
import { renderDescription } from '../../markdown/render.ts';
import {
  accessMetadata,
  administersChannel,
  type ChannelWithSubscription,
  hasContentAccess,
  hasMetadataAccess,
} from '../../model/channel/access.ts';
import {
  type Channel,
  type ChannelGroups,
  channelBytes,
  channelGroupNames,
  channelGroupRules,
  checkChannelDescription,
  checkChannelName,
  checkMakeWebPublic,
  checkPrivacyState,
  checkRetention,
  checkSetTopicsPolicy,
  checkTopicsPolicyName,
  mayCreateChannels,
  type Privacy,
} from '../../model/channel/channel.ts';
import { accessFolderForChannel } from '../../model/channel/folder.ts';
import { checkChangedSettings } from '../../model/group/setting.ts';
import { isAdministrator, isOwner, normalized, type Standing } from '../../model/permission/permission.ts';
import type { TopicsPolicy } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { resolveReferences } from '../mention/references.ts';
import type { ChannelEdit, EditSnapshot } from './edit.ts';
import type { DecidedEdit } from './events.ts';

/** The channel, if the person administers it (wire facts 4.1). */
export function accessForAdministration(
  who: Standing,
  loaded: ChannelWithSubscription | undefined,
): ChannelWithSubscription {
  const seen = accessMetadata(who, loaded);
  if (!administersChannel(who, seen.channel)) throw refusal('cannotAdministerChannel');
  return seen;
}

/**
 * Checks an edit (specification 4.2, wire facts 4.2 to 4.5). It is applied whole or not at all. The order of the checks is
 * that of wire facts 4.2, because clients see only the first refusal.
 */
export function checkChannelEdit(caller: Caller, edit: ChannelEdit, snapshot: EditSnapshot): DecidedEdit {
  const seen = accessForAdministration(caller.standing, snapshot.seen);
  const before = seen.channel;
  const privacy = checkPrivacy(caller, edit, seen, snapshot);
  const retention = checkRetentionChange(caller.standing, edit, before);
  const isArchived = checkUnarchiving(edit, before, privacy, snapshot);
  const topicsPolicy = checkTopicsPolicyChange(caller, edit, before, snapshot);
  const description = checkChannelDescription(edit.description ?? before.description);
  const name = checkRenaming(caller.standing, edit, before, snapshot.holder);
  const folderId = checkMoving(edit, before, snapshot);
  const groups = checkGroups(caller.standing, edit, seen, snapshot);
  const { messageRetentionDays: _retention, folderId: _folder, ...kept } = before;
  const after: Channel = {
    ...kept,
    ...privacy,
    ...(retention !== undefined && { messageRetentionDays: retention }),
    isArchived,
    topicsPolicy,
    description,
    renderedDescription:
      description === before.description
        ? before.renderedDescription
        : renderDescription(description, resolveReferences(caller.standing, snapshot.inDescription)),
    name,
    ...(folderId !== undefined && { folderId }),
    groups,
  };
  checkQuota('channels', snapshot.channelBytes, channelBytes(after) - channelBytes(before));
  return { before, after };
}

/** Who can see the channel and its history, and whether it is a default channel (wire facts 4.3, 4.4). */
function checkPrivacy(
  { standing, realm }: Caller,
  edit: ChannelEdit,
  seen: ChannelWithSubscription,
  { isWebPublicEnabled }: EditSnapshot,
): Privacy {
  const { channel } = seen;
  const { is_private: isPrivate, is_web_public: isWebPublic, history_public_to_subscribers: isShared } = edit;
  const proposed: Privacy = {
    isPrivate: isPrivate ?? channel.isPrivate,
    isWebPublic: isWebPublic ?? channel.isWebPublic,
    historyPublicToSubscribers:
      isShared ?? (isPrivate === undefined ? channel.historyPublicToSubscribers : !isPrivate),
    isDefault: edit.is_default_stream ?? channel.isDefault,
  };
  checkPrivacyState(proposed, {
    topicCreators: normalized(edit.can_create_topic_group?.new ?? channel.groups.can_create_topic_group),
    isForModeration: realm.settings.moderation_request_channel_id === channel.channelId,
  });
  const isTouched = isPrivate !== undefined || isWebPublic !== undefined || isShared !== undefined;
  if (isTouched && !hasContentAccess(standing, seen)) {
    throw badRequest('Only those who can read a private channel can change who can.');
  }
  if (isPrivate !== undefined && !mayCreateChannels(standing, realm.settings, isPrivate)) {
    throw refusal('insufficientPermission');
  }
  if (isWebPublic) checkMakeWebPublic(standing, realm.settings, isWebPublicEnabled);
  checkDefault(standing, edit, channel);
  return proposed;
}

function checkDefault(who: Standing, edit: ChannelEdit, channel: Channel): void {
  const { is_default_stream: isDefault, is_archived: isArchived } = edit;
  if (isDefault === undefined) return;
  if (!isAdministrator(who)) {
    throw badRequest('Only organization administrators can choose the default channels.');
  }
  if (isDefault && channel.isArchived && isArchived !== false) {
    throw badRequest('An archived channel cannot be a default channel.');
  }
}

/** The retention. Only owners may set it, even to the organization's default (wire facts 4.4). */
function checkRetentionChange(
  who: Standing,
  { message_retention_days: days }: ChannelEdit,
  before: Channel,
): number | undefined {
  if (days === undefined) return before.messageRetentionDays;
  if (!isOwner(who)) throw refusal('notOwner');
  return checkRetention(days);
}

/** Whether the channel stays archived. `is_archived: true` is ignored here (specification 3, wire facts 4.4). */
function checkUnarchiving(
  { is_archived: isArchived }: ChannelEdit,
  before: Channel,
  { isPrivate }: Privacy,
  { count }: EditSnapshot,
): boolean {
  if (isArchived !== false) return before.isArchived;
  if (!before.isArchived) throw badRequest('The channel is not archived.');
  if (isPrivate && (count?.subscribers ?? 0) === 0) {
    throw badRequest('A private channel without subscribers cannot be taken out of the archive.');
  }
  return false;
}

/** The topics policy (specification 3). */
function checkTopicsPolicyChange(
  { standing, realm }: Caller,
  { topics_policy: word }: ChannelEdit,
  before: Channel,
  { count }: EditSnapshot,
): TopicsPolicy {
  if (word === undefined) return before.topicsPolicy;
  const policy = checkTopicsPolicyName(word);
  checkSetTopicsPolicy(standing, realm.settings);
  if (policy === 'empty_topic_only' && (count?.namedTopics ?? 0) > 0) {
    throw badRequest('A channel with messages in named topics cannot be restricted to the empty topic.');
  }
  return policy;
}

/**
 * The name. It must be free, regardless of case, among archived channels too. If a channel that the caller cannot see has
 * it, the refusal does not say so.
 */
function checkRenaming(
  who: Standing,
  { new_name: text }: ChannelEdit,
  before: Channel,
  holder: ChannelWithSubscription | undefined,
): string {
  if (text === undefined) return before.name;
  const name = checkChannelName(text);
  if (name === before.name) throw badRequest('The channel has that name already.');
  if (folded(name) === folded(before.name) || holder === undefined) return name;
  if (!hasMetadataAccess(who, holder)) throw refusal('insufficientPermission');
  throw badRequest(`There is already a channel named '${holder.channel.name}'.`);
}

/** The folder; null removes the channel from its folder (specification 4.2). */
function checkMoving(
  { folder_id: folderId }: ChannelEdit,
  before: Channel,
  { folder }: EditSnapshot,
): number | undefined {
  if (folderId === undefined || folderId === before.folderId) return before.folderId;
  return folderId === null ? undefined : accessFolderForChannel(folder).folderId;
}

/** The eleven group settings (wire facts 4.5). */
function checkGroups(
  who: Standing,
  edit: ChannelEdit,
  seen: ChannelWithSubscription,
  { named }: EditSnapshot,
): ChannelGroups {
  const unread = hasContentAccess(who, seen) ? [] : channelGroupNames;
  const refused = unread.find(
    (name) => edit[name] !== undefined && channelGroupRules[name].needsContentAccess,
  );
  if (refused !== undefined) throw badRequest(`Only those who can read the channel can change '${refused}'.`);
  return checkChangedSettings(channelGroupRules, seen.channel.groups, edit, named);
}

/** Checks archiving a channel (wire facts 4.1, 4.7). It keeps its name, its messages and its subscribers. */
export function checkArchiving({ standing }: Caller, { seen }: Pick<EditSnapshot, 'seen'>): DecidedEdit {
  const { channel } = accessForAdministration(standing, seen);
  if (channel.isArchived) throw badRequest('The channel is archived already.');
  return { before: channel, after: { ...channel, isArchived: true, isDefault: false } };
}
