import type { Audience, EventEntry, Payload } from '../../log/slot.ts';
import { compareVisibility, visibilityOf } from '../../model/channel/access.ts';
import type { Channel, ChannelCount } from '../../model/channel/channel.ts';
import { channelGroupNames } from '../../model/channel/channel.ts';
import {
  channelsGone,
  creationEvent,
  defaultChannelsEvent,
  legacyPostPolicy,
} from '../../model/channel/object.ts';
import { type GroupSetting, sameSetting, systemGroups } from '../../model/permission/permission.ts';
import type { TopicsPolicy } from '../../model/realm/realm.ts';
import type { User } from '../../model/user/user.ts';
import { inlineCode, silentMention } from '../send/notice.ts';

/** The channel before and after a checked edit. */
export interface DecidedEdit {
  readonly before: Channel;
  readonly after: Channel;
}

/** Whether an edit changes who can see the channel or its history. */
export const changesPrivacy = ({ before, after }: DecidedEdit): boolean =>
  after.isPrivate !== before.isPrivate ||
  after.isWebPublic !== before.isWebPublic ||
  after.historyPublicToSubscribers !== before.historyPublicToSubscribers;

/**
 * The events of an edit, in the order of wire facts 4.2: first for people who gain or lose access to the channel, then
 * one for each change for those who can see it before and after (wire facts 4.6). None if nothing changes.
 */
export function eventsOfChannelEdit(edit: DecidedEdit, count: ChannelCount | undefined): EventEntry[] {
  const { before, after } = edit;
  const hearers = audienceOf(edit);
  return [
    ...accessEvents(edit, count),
    ...updates(edit).map((payload): EventEntry => ({ kind: 'event', hearers, payload, access: true })),
    ...(!before.isArchived && after.isArchived ? [deletionForOldClients(after)] : []),
    ...(before.isArchived && !after.isArchived ? unarchived(after, count) : []),
    ...(after.isDefault === before.isDefault ? [] : [defaultChannelsEvent]),
  ];
}

/** The audience of the updates. Changes of a private channel are not for people who gain access later. */
function audienceOf({ before: old, after: now }: DecidedEdit): Audience {
  const { channelId: channel } = now;
  const [before, after] = [visibilityOf(old), visibilityOf(now)];
  const { shows, hides } = compareVisibility(before, after);
  return shows || hides || before.isPrivate ? { channel, sight: 'kept', before, after } : { channel };
}

/** The channel is gone for this audience. */
const deletion = (hearers: Audience, { channelId }: Channel): EventEntry => ({
  kind: 'event',
  hearers,
  payload: channelsGone([channelId]),
  access: true,
});

/** For clients that do not support archived channels, an archived channel is gone. */
const deletionForOldClients = (channel: Channel): EventEntry => ({
  ...deletion({ channel: channel.channelId }, channel),
  unless: 'archived_channels',
});

/** Unarchiving creates the channel anew for those clients, with their own subscription to it. */
function unarchived(channel: Channel, count: ChannelCount | undefined): EventEntry[] {
  const hearers = { channel: channel.channelId };
  const payload = { type: 'subscription', op: 'add', stream_ids: [channel.channelId] };
  return [
    creationEvent(hearers, channel, count),
    { kind: 'event', hearers, payload, access: true, fill: 'own', unless: 'archived_channels' },
  ];
}

/** The events for people who gain or lose access to the channel. */
function accessEvents(
  { before: old, after: now }: DecidedEdit,
  count: ChannelCount | undefined,
): EventEntry[] {
  const [before, after] = [visibilityOf(old), visibilityOf(now)];
  const { shows, hides } = compareVisibility(before, after);
  const { channelId: channel } = now;
  const gained: Audience = { channel, sight: 'gained', before, after };
  const lost: Audience = { channel, sight: 'lost', before, after };
  const subscribers: EventEntry = {
    kind: 'event',
    hearers: gained,
    payload: { type: 'subscription', op: 'peer_add', stream_ids: [channel] },
    access: true,
    fill: 'subscribers',
  };
  return [
    ...(hides ? [deletion(lost, now)] : []),
    // Clients add the subscribers of the second event to the count.
    ...(shows ? [creationEvent(gained, now, count && { ...count, subscribers: 0 }), subscribers] : []),
  ];
}

/** The payloads of the `stream/update` events, each with the name that clients know at that point. */
function updates({ before, after }: DecidedEdit): Payload[] {
  const payloads: Payload[] = [];
  const add = (property: string, value: unknown, more: object = {}, name = before.name): void =>
    void payloads.push({
      type: 'stream',
      op: 'update',
      stream_id: after.channelId,
      name,
      property,
      value,
      ...more,
    });
  if (changesPrivacy({ before, after })) {
    add('invite_only', after.isPrivate, {
      history_public_to_subscribers: after.historyPublicToSubscribers,
      is_web_public: after.isWebPublic,
    });
  }
  if (after.messageRetentionDays !== before.messageRetentionDays) {
    add('message_retention_days', after.messageRetentionDays ?? null);
  }
  if (after.isArchived !== before.isArchived) add('is_archived', after.isArchived);
  if (after.topicsPolicy !== before.topicsPolicy) add('topics_policy', after.topicsPolicy);
  if (after.description !== before.description) {
    add('description', after.description, { rendered_description: after.renderedDescription });
  }
  if (after.name !== before.name) add('name', after.name);
  const addRenamed = (property: string, value: unknown): void => add(property, value, {}, after.name);
  if (after.folderId !== before.folderId) addRenamed('folder_id', after.folderId ?? null);
  for (const setting of channelGroupNames) {
    if (sameSetting(after.groups[setting], before.groups[setting])) continue;
    addRenamed(setting, after.groups[setting]);
    const policy = legacyPostPolicy(after);
    if (setting !== 'can_send_message_group' || policy === legacyPostPolicy(before)) continue;
    addRenamed('stream_post_policy', policy);
    addRenamed('is_announcement_only', policy === 2);
  }
  return payloads;
}

/**
 * The notices that an edit posts in the channel, as Markdown, one for each change (wire facts 4.7). None for folders,
 * default channels, and settings other than who may post.
 */
export function noticesOfChannelEdit(edit: DecidedEdit, actor: Pick<User, 'userId' | 'fullName'>): string[] {
  const { before, after } = edit;
  const who = silentMention(actor);
  const texts: string[] = [];
  if (changesPrivacy(edit)) {
    texts.push(`${who} made this channel **${privacyWords(after)}**. It was **${privacyWords(before)}**.`);
  }
  if (after.messageRetentionDays !== before.messageRetentionDays) {
    texts.push(
      `${who} changed how long messages are kept here: **${retentionWords(after)}**. It was **${retentionWords(before)}**.`,
    );
  }
  if (before.isArchived && !after.isArchived) texts.push(`${who} took this channel out of the archive.`);
  if (!before.isArchived && after.isArchived) texts.push(`${who} archived this channel.`);
  if (after.topicsPolicy !== before.topicsPolicy) {
    texts.push(
      `${who} changed the topics of this channel: **${topicWords[after.topicsPolicy]}**. It was **${topicWords[before.topicsPolicy]}**.`,
    );
  }
  if (after.description !== before.description) {
    texts.push(
      [`${who} changed the description of this channel.`, 'Old:', quoted(before), 'New:', quoted(after)].join(
        '\n\n',
      ),
    );
  }
  if (after.name !== before.name) {
    texts.push(`${who} renamed this channel from ${inlineCode(before.name)} to ${inlineCode(after.name)}.`);
  }
  const [posted, posts] = [before.groups.can_send_message_group, after.groups.can_send_message_group];
  if (!sameSetting(posted, posts)) {
    texts.push(`${who} changed who may post here: ${settingWords(posts)}. It was ${settingWords(posted)}.`);
  }
  return texts;
}

function privacyWords({ isPrivate, isWebPublic, historyPublicToSubscribers }: Channel): string {
  if (isWebPublic) return 'web-public';
  if (!isPrivate) return 'public';
  return historyPublicToSubscribers ? 'private, with shared history' : 'private, with protected history';
}

function retentionWords({ messageRetentionDays: days }: Channel): string {
  if (days === undefined) return 'as long as the organization says';
  return days < 0 ? 'for ever' : `${days} ${days === 1 ? 'day' : 'days'}`;
}

const topicWords: Readonly<Record<TopicsPolicy, string>> = {
  inherit: 'as the organization says',
  allow_empty_topic: 'with or without a name',
  disable_empty_topic: 'only with a name',
  empty_topic_only: 'none with a name',
};

/** A description as a quote, so that it notifies nobody. It has one line. */
const quoted = ({ description }: Channel): string => (description === '' ? '*none*' : `> ${description}`);

function settingWords(setting: GroupSetting): string {
  const system = Object.values(systemGroups).find(({ id }) => id === setting);
  return system ? inlineCode(system.name) : 'people and groups chosen for this channel';
}
