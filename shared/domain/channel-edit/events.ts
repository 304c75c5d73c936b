import type { Audience, EventEntry, Payload } from '../../log/slot.ts';
import { changeOfSight, sightOf } from '../../model/channel/access.ts';
import type { Channel, ChannelCount } from '../../model/channel/channel.ts';
import { creationEvent, defaultChannelsEvent, legacyPostPolicy } from '../../model/channel/object.ts';
import { channelGroupNames } from '../../model/channel/settings.ts';
import { type GroupSetting, sameSetting, systemGroups } from '../../model/permission/permission.ts';
import type { TopicsPolicy } from '../../model/realm/realm.ts';
import type { User } from '../../model/user/user.ts';
import { inlineCode, silentMention } from '../send/notice.ts';

/** The channel before and after an edit that was decided on. */
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
 * What clients hear of an edit, in the order of wire facts 4.2: first those to whom it shows the channel or from
 * whom it hides it, then for each thing that became different those who know of the channel before and after
 * (wire facts 4.6). An edit that changes nothing tells nothing.
 */
export function eventsOfChannelEdit(edit: DecidedEdit, count: ChannelCount | undefined): EventEntry[] {
  const { before, after } = edit;
  const hearers = audienceOf(edit);
  return [
    ...discovery(edit, count),
    ...updates(edit).map((payload): EventEntry => ({ kind: 'event', hearers, payload, access: true })),
    ...(!before.isArchived && after.isArchived ? [deletionForOld(after)] : []),
    ...(before.isArchived && !after.isArchived ? returning(after, count) : []),
    ...(after.isDefault === before.isDefault ? [] : [defaultChannelsEvent]),
  ];
}

/**
 * Who hears the updates. What becomes of a channel while it is private is for those who might know of it then, not
 * for those who come to know of it before they have read so far.
 */
function audienceOf({ before: old, after: now }: DecidedEdit): Audience {
  const { channelId: channel } = now;
  const [before, after] = [sightOf(old), sightOf(now)];
  const { shows, hides } = changeOfSight(before, after);
  return shows || hides || before.isPrivate ? { channel, sight: 'kept', before, after } : { channel };
}

/** Tells that the channel is not there any more. */
const deletion = (hearers: Audience, { channelId }: Channel): EventEntry => ({
  kind: 'event',
  hearers,
  payload: { type: 'stream', op: 'delete', stream_ids: [channelId], streams: [{ stream_id: channelId }] },
  access: true,
});

/** To clients that cannot handle archived channels, one that is archived is gone. */
const deletionForOld = (channel: Channel): EventEntry => ({
  ...deletion({ channel: channel.channelId }, channel),
  unless: 'archived_channels',
});

/** When it comes back it is new to them, and their own subscriptions with it. */
function returning(channel: Channel, count: ChannelCount | undefined): EventEntry[] {
  const hearers = { channel: channel.channelId };
  const payload = { type: 'subscription', op: 'add', stream_ids: [channel.channelId] };
  return [
    creationEvent(hearers, channel, count),
    { kind: 'event', hearers, payload, access: true, fill: 'own', unless: 'archived_channels' },
  ];
}

/** What those hear who come to know of the channel, or do not know of it any more. */
function discovery({ before: old, after: now }: DecidedEdit, count: ChannelCount | undefined): EventEntry[] {
  const [before, after] = [sightOf(old), sightOf(now)];
  const { shows, hides } = changeOfSight(before, after);
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
    // Clients count those whom the second one tells.
    ...(shows ? [creationEvent(gained, now, count && { ...count, subscribers: 0 }), subscribers] : []),
  ];
}

/** The `stream/update` events, each with the name that clients know when they get it. */
function updates({ before, after }: DecidedEdit): Payload[] {
  const told: Payload[] = [];
  let name = before.name;
  const tell = (property: string, value: unknown, more: object = {}): void =>
    void told.push({
      type: 'stream',
      op: 'update',
      stream_id: after.channelId,
      name,
      property,
      value,
      ...more,
    });
  if (changesPrivacy({ before, after })) {
    tell('invite_only', after.isPrivate, {
      history_public_to_subscribers: after.historyPublicToSubscribers,
      is_web_public: after.isWebPublic,
    });
  }
  if (after.messageRetentionDays !== before.messageRetentionDays) {
    tell('message_retention_days', after.messageRetentionDays ?? null);
  }
  if (after.isArchived !== before.isArchived) tell('is_archived', after.isArchived);
  if (after.topicsPolicy !== before.topicsPolicy) tell('topics_policy', after.topicsPolicy);
  if (after.description !== before.description) {
    tell('description', after.description, { rendered_description: after.renderedDescription });
  }
  if (after.name !== before.name) {
    tell('name', after.name);
    name = after.name;
  }
  if (after.folderId !== before.folderId) tell('folder_id', after.folderId ?? null);
  for (const setting of channelGroupNames) {
    if (sameSetting(after.groups[setting], before.groups[setting])) continue;
    tell(setting, after.groups[setting]);
    const policy = legacyPostPolicy(after);
    if (setting !== 'can_send_message_group' || policy === legacyPostPolicy(before)) continue;
    tell('stream_post_policy', policy);
    tell('is_announcement_only', policy === 2);
  }
  return told;
}

/**
 * What a channel is told of an edit, as Markdown, one text for each thing (wire facts 4.7). Folders, default
 * channels and settings other than who may post are not told of.
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

/** A description as a quote, which nobody is notified by. It is one line. */
const quoted = ({ description }: Channel): string => (description === '' ? '*none*' : `> ${description}`);

function settingWords(setting: GroupSetting): string {
  const system = Object.values(systemGroups).find(({ id }) => id === setting);
  return system ? inlineCode(system.name) : 'people and groups chosen for this channel';
}
