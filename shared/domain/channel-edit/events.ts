import type { Audience, EventEntry, Payload } from '../../log/slot.ts';
import type { Channel, ChannelCount } from '../../model/channel/channel.ts';
import { creationEvent } from '../../model/channel/creation-event.ts';
import { defaultChannelsEvent } from '../../model/channel/default-channels.ts';
import { channelGroupNames } from '../../model/channel/groups.ts';
import { legacyPostPolicy } from '../../model/channel/object.ts';
import { changeOfSight, sightOf } from '../../model/channel/sight.ts';
import { sameSetting } from '../../model/permission/group-setting.ts';
import type { DecidedEdit } from './edit.ts';

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
  const hearers = hearersOf(edit);
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
function hearersOf({ before: old, after: now }: DecidedEdit): Audience {
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
