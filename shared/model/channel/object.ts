import { type Audience, type EventEntry, eventFor, type Payload } from '../../log/slot.ts';
import { type Channel, type ChannelCount, legacyPostPolicy } from './channel.ts';
import { rememberedFirst } from './first-message.ts';

/** Days without a message after which a channel is no longer recently active. */
const RECENT_DAYS = 180;

/**
 * A channel on the wire (wire facts 4.6). `first_message_id` is undefined if it has to be searched for
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

function isRecentlyActive(
  channel: Channel,
  count: ChannelCount | undefined,
  now: number | undefined,
): boolean {
  if (now === undefined) return true;
  const day = Math.max(count?.lastActiveDay ?? 0, Math.floor(channel.dateCreated / 86_400));
  return now / 86_400_000 - day <= RECENT_DAYS;
}

/**
 * The `stream/create` event: a channel now exists for these people (wire facts 4.6). For clients that keep subscriber
 * lists, list and count are read when the event is delivered: so later `peer_add` events count nobody twice, and nobody
 * is missing whom a registration read before this event.
 *
 * @param count for clients without subscriber lists. It must not include people in later `peer_add` events.
 */
export const creationEvent = (
  hearers: Audience,
  channel: Channel,
  count: ChannelCount | undefined,
): EventEntry =>
  eventFor(
    hearers,
    { type: 'stream', op: 'create', streams: [channelObject(channel, count)] },
    { fill: 'company', access: true },
  );

/** The payload of a `stream/delete` event: these channels are gone for its audience. */
export const channelsGone = (ids: readonly number[]): Payload => ({
  type: 'stream',
  op: 'delete',
  stream_ids: ids,
  streams: ids.map((id) => ({ stream_id: id })),
});

/** The list of default channels, read when the event is delivered. Not for guests. */
export const defaultChannelsEvent: EventEntry = {
  kind: 'event',
  hearers: { everyone: 'members' },
  payload: { type: 'default_streams' },
  fill: 'defaultChannels',
};
