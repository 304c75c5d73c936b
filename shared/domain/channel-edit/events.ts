import { type Audience, type EventEntry, eventFor, type Payload } from '../../log/slot.ts';
import { compareVisibility, visibilityOf } from '../../model/channel/access.ts';
import {
  type Channel,
  type ChannelCount,
  type ChannelGroupName,
  channelGroupNames,
  legacyPostPolicy,
} from '../../model/channel/channel.ts';
import { defaultGroupsEvent, mayBeInDefaultGroup } from '../../model/channel/default-groups.ts';
import { channelsGone, creationEvent, defaultChannelsEvent } from '../../model/channel/object.ts';
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
  const { channelId: channel } = after;
  const visibility = { before: visibilityOf(before), after: visibilityOf(after) };
  const { shows, hides } = compareVisibility(visibility.before, visibility.after);
  const audience = (sight: 'gained' | 'lost' | 'kept'): Audience => ({ channel, sight, ...visibility });
  // Changes of a private channel are not for people who gain access later.
  const hearers = shows || hides || before.isPrivate ? audience('kept') : { channel };
  return [
    ...(hides ? [eventFor(audience('lost'), channelsGone([channel]), { access: true })] : []),
    ...(shows
      ? [
          // Clients add the subscribers of the second event to the count.
          creationEvent(audience('gained'), after, count && { ...count, subscribers: 0 }),
          eventFor(
            audience('gained'),
            { type: 'subscription', op: 'peer_add', stream_ids: [channel] },
            { access: true, fill: 'subscribers' },
          ),
        ]
      : []),
    ...updates(edit).map((payload) => eventFor(hearers, payload, { access: true })),
    ...archiveEvents(edit, count),
    ...(after.isDefault === before.isDefault ? [] : [defaultChannelsEvent]),
    ...(mayBeInDefaultGroup(after) === mayBeInDefaultGroup(before) ? [] : [defaultGroupsEvent]),
  ];
}

/**
 * For clients that do not support archived channels, an archived channel is gone. Unarchiving creates it again for them,
 * with their own subscription to it.
 */
function archiveEvents({ before, after }: DecidedEdit, count: ChannelCount | undefined): EventEntry[] {
  if (after.isArchived === before.isArchived) return [];
  const stream_ids = [after.channelId];
  const hearers = { channel: after.channelId };
  const options = { access: true, unless: 'archived_channels' } as const;
  if (after.isArchived) return [eventFor(hearers, channelsGone(stream_ids), options)];
  return [
    creationEvent(hearers, after, count),
    eventFor(hearers, { type: 'subscription', op: 'add', stream_ids }, { ...options, fill: 'own' }),
  ];
}

/** The payloads of the `stream/update` events, each with the name that clients know at that point. */
function updates(edit: DecidedEdit): Payload[] {
  const { before, after } = edit;
  const update = (isChanged: boolean, property: string, value: unknown, more: object = {}): Payload[] =>
    isChanged
      ? [
          {
            type: 'stream',
            op: 'update',
            stream_id: after.channelId,
            name: before.name,
            property,
            value,
            ...more,
          },
        ]
      : [];
  const differs = (name: keyof Channel): boolean => after[name] !== before[name];
  const renamed = { name: after.name };
  const policy = legacyPostPolicy(after);
  const isOtherPolicy = policy !== legacyPostPolicy(before);
  return [
    ...update(changesPrivacy(edit), 'invite_only', after.isPrivate, {
      history_public_to_subscribers: after.historyPublicToSubscribers,
      is_web_public: after.isWebPublic,
    }),
    ...update(differs('messageRetentionDays'), 'message_retention_days', after.messageRetentionDays ?? null),
    ...update(differs('isArchived'), 'is_archived', after.isArchived),
    ...update(differs('topicsPolicy'), 'topics_policy', after.topicsPolicy),
    ...update(differs('description'), 'description', after.description, {
      rendered_description: after.renderedDescription,
    }),
    ...update(differs('name'), 'name', after.name),
    ...update(differs('folderId'), 'folder_id', after.folderId ?? null, renamed),
    ...channelGroupNames.flatMap((setting) => [
      ...update(changesGroup(edit, setting), setting, after.groups[setting], renamed),
      ...(setting === 'can_send_message_group'
        ? [
            ...update(isOtherPolicy, 'stream_post_policy', policy, renamed),
            ...update(isOtherPolicy, 'is_announcement_only', policy === 2, renamed),
          ]
        : []),
    ]),
  ];
}

const changesGroup = ({ before, after }: DecidedEdit, setting: ChannelGroupName): boolean =>
  !sameSetting(after.groups[setting], before.groups[setting]);

/**
 * The notices that an edit posts in the channel, as Markdown, one for each change (wire facts 4.7). None for folders,
 * default channels, and settings other than who may post.
 */
export function noticesOfChannelEdit(edit: DecidedEdit, actor: Pick<User, 'userId' | 'fullName'>): string[] {
  const { before, after } = edit;
  const who = silentMention(actor);
  const differs = (name: keyof Channel): boolean => after[name] !== before[name];
  const changed = (what: string, words: (channel: Channel) => string): string =>
    `${who} ${what} **${words(after)}**. It was **${words(before)}**.`;
  const archived = after.isArchived ? 'archived this channel' : 'took this channel out of the archive';
  const [posted, posts] = [before, after].map(({ groups }) => settingWords(groups.can_send_message_group));
  return [
    changesPrivacy(edit) && changed('made this channel', privacyWords),
    differs('messageRetentionDays') && changed('changed how long messages are kept here:', retentionWords),
    differs('isArchived') && `${who} ${archived}.`,
    differs('topicsPolicy') &&
      changed('changed the topics of this channel:', ({ topicsPolicy }) => topicWords[topicsPolicy]),
    differs('description') &&
      `${who} changed the description of this channel.\n\nOld:\n\n${quoted(before)}\n\nNew:\n\n${quoted(after)}`,
    differs('name') &&
      `${who} renamed this channel from ${inlineCode(before.name)} to ${inlineCode(after.name)}.`,
    changesGroup(edit, 'can_send_message_group') &&
      `${who} changed who may post here: ${posts}. It was ${posted}.`,
  ].filter((text) => text !== false);
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
