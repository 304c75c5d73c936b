import type { Payload, ReadEntry, ReadEvent, ReadMessage } from '../../log/slot.ts';
import {
  type ChannelWithSubscription,
  hasMetadataAccess,
  isInVisibilityAudience,
} from '../../model/channel/access.ts';
import { hasAlertWord } from '../../model/message/alert-word.ts';
import {
  audienceChannels,
  isFromHiddenChannel,
  isSubscribedBefore,
  messageFlags,
  receivesMessageEvent,
} from '../../model/message/message.ts';
import { topicLinks } from '../../model/message/object.ts';
import { withoutFormerLocation } from '../../model/message/revision.ts';
import { isAdministrator, isGuest } from '../../model/permission/permission.ts';
import { anonymizedUser } from '../../model/subscription/user-access.ts';
import { CREDENTIALS_CHANGED } from '../../model/user/caller.ts';
import { userObject } from '../../model/user/object.ts';
import { isReadByMute } from '../../model/user/user.ts';
import { expandedPayload, flagsIn } from './expansion.ts';
import {
  accessSight,
  isHarmless,
  type Listener,
  mayConcern,
  noteUnheard,
  onceFor,
  type Sight,
  userIdIn,
} from './listener.ts';
import { mutedTopicsPayload } from './muted-topics.ts';
import { matchesNarrow } from './narrow.ts';
import {
  deletionOfBoth,
  eventOf,
  isTyping,
  messagePayload,
  type WireEvent,
  withoutHiddenRecipients,
} from './object.ts';
import { type EventQueue, wantsMutedTopics } from './queue.ts';

/** Size (bytes) at which a reply is full: a function's reply is limited to 6 MB. */
const MAX_BYTES = 1_000_000;

/**
 * The events among these log entries that the listener may see, as their client gets them. One round trip, or none if
 * none of the entries can be for them. One more for guests with restricted visibility, and one for each event that is
 * completed when it is read.
 *
 * Permissions are those of now (DESIGN 5), read after the entries: nobody sees an event after losing access, and nobody
 * misses one after gaining it. Throws if the account was deactivated, its key replaced or the queue deleted since the
 * poll began.
 */
export async function visibleEvents(listener: Listener, entries: readonly ReadEntry[]): Promise<WireEvent[]> {
  const mayChange = !entries.every(isHarmless);
  if (mayChange) listener.unheard = undefined;
  const relevant = entries.filter((entry) => mayConcern(listener, entry));
  if (relevant.length === 0) return [];
  const sight = await accessSight(listener, relevant, entries);
  if (!mayChange) noteUnheard(listener, sight.channels, relevant);
  const events: WireEvent[] = [];
  let size = 0;
  for (const entry of relevant) {
    const event =
      entry.kind === 'message'
        ? messageEvent(sight, entry, entries)
        : await otherEvent(listener, sight, entry);
    if (event === undefined) continue;
    const both = deletionOfBoth(events.at(-1), event);
    if (both) events.pop();
    events.push(both ?? event);
    size += sizeOf(event);
    if (size > MAX_BYTES) break;
  }
  return events;
}

const sizes = new WeakMap<WireEvent, number>();

/** How many characters an event has as JSON. One that several listeners get is measured once. */
function sizeOf(event: WireEvent): number {
  const size = sizes.get(event) ?? JSON.stringify(event).length;
  sizes.set(event, size);
  return size;
}

/**
 * The event for a listener who may not see the user in it: a reaction without its author. Clients that need a complete
 * list of users get a new one anonymized (wire facts 14.1: `user_list_incomplete`).
 */
function withoutUser(
  payload: Payload,
  userId: number,
  { clientGravatar, capabilities }: EventQueue,
): Payload | undefined {
  if (payload.type === 'reaction') {
    // Events of earlier releases also contain the user as an object.
    const { user: _, ...nameless } = payload;
    return nameless;
  }
  const isNew = payload.type === 'realm_user' && payload.op === 'add';
  if (!isNew || capabilities.includes('user_list_incomplete')) return undefined;
  const person = anonymizedUser({ userId, isBot: false });
  return { ...payload, person: userObject(person, { clientGravatar, profile: () => ({}) }) };
}

/** The event as the listener's client gets it. Undefined if it is not for them. */
async function otherEvent(
  { outside, objects }: Listener,
  sight: Sight,
  entry: ReadEvent,
): Promise<WireEvent | undefined> {
  const { queue, hidden } = sight;
  if (entry.payload.type === CREDENTIALS_CHANGED) return undefined;
  if (!isVisible(sight, entry)) return undefined;
  if (entry.payload.type === 'user_topic' && wantsMutedTopics(queue))
    return eventOf(await mutedTopicsPayload(outside.table, sight.caller, queue), entry.seq, queue);
  const about = userIdIn(entry.payload);
  const isHidden = about !== undefined && hidden.has(about);
  const payload = isHidden
    ? withoutUser(entry.payload, about, queue)
    : await expandedPayload(outside, entry, {
        ...sight.caller,
        archived: queue.capabilities.includes('archived_channels'),
        deactivatedGroups: queue.capabilities.includes('include_deactivated_groups'),
        subscribers: queue.includeSubscribers,
        unset: queue.capabilities.includes('notification_settings_null'),
        objects,
      });
  if (payload === undefined) return undefined;
  const isFromHidden = isFromHiddenChannel(sight.caller.standing, entry.hearers, sight.channels);
  const shown = withoutHiddenRecipients(isFromHidden ? withoutFormerLocation(payload) : payload, hidden);
  const flags = await ownFlags(outside, sight, entry);
  return eventOf({ ...shown, ...linksOf(shown, sight), ...flags }, entry.seq, queue);
}

/** The links in the new topic of an `update_message` event. */
const linksOf = ({ type, subject }: Payload, { linkifiers }: Sight): object =>
  type === 'update_message' && subject !== undefined
    ? { topic_links: topicLinks(`${subject}`, linkifiers) }
    : {};

/** The listener's flags of the message that an event is about. Only for alert words the message is read. */
async function ownFlags(
  { table }: Listener['outside'],
  { caller, channels, flags }: Sight,
  { about, seq }: ReadEvent,
): Promise<{ flags?: string[] }> {
  const state = flags.get(seq);
  if (about === undefined || state === undefined) return {};
  const seen = about.channelId === undefined ? undefined : channels.get(about.channelId);
  const { user, realmId: realm } = caller;
  const message = user.alertWords?.length ? await table.get('slot', { realm, seq: about.id }) : undefined;
  const alerted = message?.kind === 'message' && hasAlertWord(user, message);
  return { flags: flagsIn(about, caller, seen?.subscription, state, alerted) };
}

function isVisible(sight: Sight, { hearers, seq, unless, payload: { type } }: ReadEvent): boolean {
  const { caller, channels } = sight;
  const { standing } = caller;
  if (isTyping(type) && !sight.wantsTyping) return false;
  if (type === 'presence' && caller.realm.settings.presence_disabled) return false;
  if ('users' in hearers) return true;
  if ('message' in hearers) {
    const areForClient = audienceChannels(hearers).every((id) => isForClient(sight, channels.get(id)));
    return areForClient && receivesMessageEvent(standing, hearers, channels, seq);
  }
  if ('subscribers' in hearers) return channels.get(hearers.channel)?.subscription !== undefined;
  if ('channel' in hearers) {
    const seen = channels.get(hearers.channel);
    if (seen === undefined || (unless === undefined && !isForClient(sight, seen))) return false;
    return 'sight' in hearers
      ? isInVisibilityAudience(standing, hearers, seen, seq)
      : hasMetadataAccess(standing, seen);
  }
  return (
    hearers.everyone === 'all' ||
    (hearers.everyone === 'members' ? !isGuest(standing) : isAdministrator(standing))
  );
}

/** Archived channels do not exist for clients that cannot handle them. */
const isForClient = ({ queue }: Sight, seen: ChannelWithSubscription | undefined): boolean =>
  seen?.channel.isArchived !== true || queue.capabilities.includes('archived_channels');

function messageEvent(
  sight: Sight,
  message: ReadMessage,
  woken: readonly ReadEntry[],
): WireEvent | undefined {
  const { caller, queue, channels, users, takesPart, hidden } = sight;
  const { userId } = caller.user;
  const seen = message.channelId === undefined ? undefined : channels.get(message.channelId);
  const isEcho = message.senderId === userId && message.echo?.queueId === queue.queueId;
  const isReceived = message.people !== undefined || isSubscribedBefore(seen, message.id);
  if (!isEcho && !isReceived && !isInAllPublic(sight, seen)) return undefined;
  if (!isForClient(sight, seen)) return undefined;
  const flags =
    isReceived || isEcho
      ? messageFlags(message, {
          userId,
          groups: caller.standing.groups,
          received: true,
          takesPart: takesPart.has(message.id),
          read: (message.senderId === userId && message.readBySender) || isReadByMute(caller.user, message),
          starred: false,
          alerted: hasAlertWord(caller.user, message),
        })
      : [];
  const channelName = seen?.channel.name;
  const isNarrowed = !isEcho && queue.narrow.length > 0;
  if (isNarrowed && !matchesNarrow(queue.narrow, message, { userId, users, channelName, flags }))
    return undefined;
  const names = {
    ...(channelName !== undefined && { channelName }),
    users,
    realmStringId: caller.realm.stringId,
    historyVisibility: caller.realm.settings.message_edit_history_visibility_policy,
    linkifiers: sight.linkifiers,
    isGuest: isGuest(caller.standing),
  };
  const { applyMarkdown, clientGravatar } = queue;
  const knowsEmpty = queue.capabilities.includes('empty_topic_name');
  const form = [applyMarkdown, clientGravatar, knowsEmpty, names.isGuest, channelName === undefined];
  // Which users are hidden differs from guest to guest.
  const whose = hidden.size === 0 ? '' : userId;
  const what = `message ${message.id} as ${[...form, ...flags].join()} for ${whose}`;
  const event = onceFor(woken, what, () =>
    eventOf(messagePayload(message, names, flags, queue), message.id, queue),
  );
  return isEcho ? { ...event, local_message_id: message.echo?.localId } : event;
}

/** Whether the queue gets messages of this channel without a subscription (`all_public_streams`). */
const isInAllPublic = ({ queue, caller }: Sight, seen: ChannelWithSubscription | undefined): boolean =>
  queue.allPublicChannels && seen !== undefined && !seen.channel.isPrivate && !isGuest(caller.standing);
