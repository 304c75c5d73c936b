import type { Audience, EventEntry } from '../../log/slot.ts';
import { isForEveryone, systemGroups } from '../permission/permission.ts';
import type { Channel, ChannelCount } from './channel.ts';
import { rememberedFirst } from './first-message.ts';

/** Days without a message after which a channel is no longer called recently active. */
const RECENT = 180;

/**
 * A channel as clients see one (wire facts 4.6), but for its oldest message where that is forgotten: that is looked for
 * (`first-messages.ts`). `now` is in milliseconds.
 */
export const channelObject = (channel: Channel, count: ChannelCount | undefined, now?: number) => ({
  stream_id: channel.channelId,
  name: channel.name,
  description: channel.description,
  rendered_description: channel.renderedDescription,
  date_created: channel.dateCreated,
  creator_id: channel.creatorId ?? null,
  first_message_id: rememberedFirst(count),
  folder_id: channel.folderId ?? null,
  history_public_to_subscribers: channel.historyPublicToSubscribers,
  invite_only: channel.isPrivate,
  is_web_public: channel.isWebPublic,
  is_archived: channel.isArchived,
  is_announcement_only: legacyPostPolicy(channel) === 2,
  is_recently_active: isRecentlyActive(channel, count, now),
  message_retention_days: channel.messageRetentionDays ?? null,
  stream_post_policy: legacyPostPolicy(channel),
  stream_weekly_traffic: null,
  subscriber_count: count?.subscribers ?? 0,
  topics_policy: channel.topicsPolicy,
  ...channel.groups,
});

/** The posting permission in the words of clients from before it was a group (1 everyone ... 4 moderators). */
export function legacyPostPolicy(channel: Channel): 1 | 2 | 3 | 4 {
  const setting = channel.groups.can_send_message_group;
  if (isForEveryone(setting)) return 1;
  if (setting === systemGroups.administrators.id) return 2;
  if (setting === systemGroups.fullMembers.id) return 3;
  if (setting === systemGroups.moderators.id) return 4;
  return 1;
}

function isRecentlyActive(
  channel: Channel,
  count: ChannelCount | undefined,
  now: number | undefined,
): boolean {
  if (now === undefined) return true;
  const day = Math.max(count?.lastActiveDay ?? 0, Math.floor(channel.dateCreated / 86_400));
  return now / 86_400_000 - day <= RECENT;
}

/**
 * The `stream/create` event: a channel exists for these people from now on (wire facts 4.6). Clients that keep lists of
 * subscribers get the list and its length as they are when the event is told, so the `peer_add` events after it count
 * nobody twice, and nobody is missing whom a registration read before this event.
 *
 * @param count what clients without such lists are told. Nobody whom a later `peer_add` adds may be in it.
 */
export const creationEvent = (
  hearers: Audience,
  channel: Channel,
  count: ChannelCount | undefined,
): EventEntry => ({
  kind: 'event',
  hearers,
  payload: { type: 'stream', op: 'create', streams: [channelObject(channel, count)] },
  fill: 'company',
  access: true,
});

/** Tells the channels to which newcomers are subscribed, as they are when it is told. Guests are not told. */
export const defaultChannelsEvent: EventEntry = {
  kind: 'event',
  hearers: { everyone: 'members' },
  payload: { type: 'default_streams' },
  fill: 'defaultChannels',
};
