import { refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import { lookUpIn } from '../../kernel/lookup.ts';
import type { Objects, Outside } from '../../kernel/outside.ts';
import { MOMENT, type Payload, type ReadEntry, type ReadEvent, type ReadMessage } from '../../log/slot.ts';
import {
  type ChannelWithSubscription,
  hasMetadataAccess,
  isInVisibilityAudience,
} from '../../model/channel/access.ts';
import {
  audienceChannels,
  isFromHiddenChannel,
  isSubscribedBefore,
  messageFlags,
  receivesMessageEvent,
} from '../../model/message/message.ts';
import { withoutFormerLocation } from '../../model/message/revision.ts';
import { isAdministrator, isGuest } from '../../model/permission/permission.ts';
import { anonymizedUser, hiddenUsers } from '../../model/subscription/user-access.ts';
import { type ApiKey, CREDENTIALS_CHANGED, keyWith } from '../../model/user/api-key.ts';
import { accessCaller, type Caller, unreadGroups } from '../../model/user/caller.ts';
import { userObject } from '../../model/user/object.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { expandedPayload, type FlagSnapshot, flagsIn, loadFlagSnapshot } from './expansion.ts';
import { matchesNarrow } from './narrow.ts';
import {
  deletionOfBoth,
  eventOf,
  isTyping,
  messagePayload,
  recipientIdsIn,
  typistIn,
  type WireEvent,
  withoutHiddenRecipients,
} from './object.ts';
import { accessQueue, type EventQueue, loadQueue } from './queue.ts';

/** An event queue and its owner, whose permissions are read again whenever there may be an event to return. */
export interface Listener {
  readonly outside: Outside;
  readonly realm: string;
  readonly userId: number;
  readonly ownerId?: number;
  /** The account, with the key that the poll came with. */
  readonly account: { readonly email: string; readonly apiKey: ApiKey };
  readonly queue: EventQueue;
  /** Whether they were a guest when the poll began. */
  readonly isGuest: boolean;
  /**
   * Channels whose new messages are not for this listener, at the point up to which the log was read. Kept from one
   * reading to the next, so that such messages cost nothing. Absent as long as there are none.
   */
  unheard?: Set<number> | undefined;
  /** Creates the download links in events about exports. */
  readonly objects: Pick<Objects, 'link'>;
}

/** What decides whether the listener may see the entries, read after them. */
interface Snapshot {
  readonly caller: Caller;
  readonly queue: EventQueue;
  /** Channels with the listener's subscriptions. */
  readonly channels: ReadonlyMap<number, ChannelWithSubscription>;
  /** Users in the entries. Hidden ones are anonymized. */
  readonly users: ReadonlyMap<number, User>;
  /** Messages with a topic wildcard mention in whose topic the listener takes part. */
  readonly takesPart: ReadonlySet<number>;
  /** What decides the flags of messages in events, by the number of the event. */
  readonly flags: ReadonlyMap<number, FlagSnapshot>;
  /** The listener wants to know who is typing. Only read if somebody is. */
  readonly wantsTyping: boolean;
  /** Users that the listener may not see. */
  readonly hidden: ReadonlySet<number>;
}

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
  const snapshot = await accessSnapshot(listener, relevant);
  if (!mayChange) noteUnheard(listener, snapshot, relevant);
  const events: WireEvent[] = [];
  let size = 0;
  for (const entry of relevant) {
    const event =
      entry.kind === 'message' ? messageEvent(snapshot, entry) : await otherEvent(listener, snapshot, entry);
    if (event === undefined) continue;
    const both = deletionOfBoth(events.at(-1), event);
    if (both) events.pop();
    events.push(both ?? event);
    size += JSON.stringify(event).length;
    if (size > MAX_BYTES) break;
  }
  return events;
}

/** Whether an entry can be for this listener, decided without reading anything. */
function mayConcern({ outside, queue, userId, unheard }: Listener, entry: ReadEntry): boolean {
  const type = entry.kind === 'message' ? 'message' : entry.payload.type;
  // Whatever the client wants to hear, its key is checked again.
  const isKeyChange = type === CREDENTIALS_CHANGED;
  if (!isKeyChange && queue.eventTypes?.includes(type) === false) return false;
  if (entry.kind === 'message') {
    if (entry.channelId !== undefined && unheard?.has(entry.channelId)) return entry.senderId === userId;
    return entry.people === undefined || entry.people.includes(userId);
  }
  const { hearers, unless, given, momentary, at } = entry;
  if (unless !== undefined && queue.capabilities.includes(unless)) return false;
  if (given !== undefined && !queue.capabilities.includes(given)) return false;
  if (momentary && outside.now() - at > MOMENT) return false;
  if ('users' in hearers) return hearers.users.includes(userId);
  if ('subscribers' in hearers) return hearers.subscribers.includes(userId);
  return !('except' in hearers) || hearers.except?.includes(userId) !== true;
}

/** Types of events that change neither who follows a channel nor who may see what. */
const HARMLESS = new Set(['message', 'reaction', 'update_message_flags', 'presence', 'typing']);

/** Whether an entry leaves it as it is which channels a listener hears of. */
export const isHarmless = (entry: ReadEntry): boolean =>
  entry.kind === 'message' || HARMLESS.has(entry.payload.type);

/**
 * Notes the channels that the listener does not follow. Who follows one later hears only of messages after that
 * (`isSubscribedBefore`), and the log tells it before them.
 */
function noteUnheard(listener: Listener, { channels }: Snapshot, entries: readonly ReadEntry[]): void {
  if (listener.queue.allPublicChannels) return;
  for (const entry of entries) {
    const channelId = entry.kind === 'message' ? entry.channelId : undefined;
    if (channelId === undefined || channels.get(channelId)?.subscription !== undefined) continue;
    listener.unheard ??= new Set();
    listener.unheard.add(channelId);
  }
}

/** Whether the events for these entries depend on the groups of the listener. */
const dependsOnGroups = ({ isGuest }: Listener, entries: readonly ReadEntry[]): boolean =>
  isGuest || entries.some((entry) => entry.kind === 'event' || entry.mentions?.groups !== undefined);

async function accessListener(listener: Listener, entries: readonly ReadEntry[]): Promise<Caller> {
  const { outside, realm, userId, ownerId } = listener;
  if (dependsOnGroups(listener, entries)) return accessCaller(outside, realm, userId, ownerId);
  const caller = await accessCaller(outside, realm, userId, ownerId, unreadGroups);
  // They became a guest since the poll began: what a guest may see depends on groups.
  return isGuest(caller.standing) ? accessCaller(outside, realm, userId, ownerId) : caller;
}

async function accessSnapshot(listener: Listener, entries: readonly ReadEntry[]): Promise<Snapshot> {
  const { outside, realm, userId, account, queue } = listener;
  const { table } = outside;
  const messages = entries.filter((entry) => entry.kind === 'message');
  const ids = userIdsIn(entries);
  const accountKey = { kind: 'account', email: account.email } as const;
  const [caller, accounts, stored, channels, users, takesPart, flags, settings] = await Promise.all([
    accessListener(listener, entries),
    lookUpIn(table, realm, [accountKey]),
    loadQueue(table, realm, userId, queue.queueId),
    Promise.all(
      channelsIn(entries).map(async (channelId): Promise<[number, ChannelWithSubscription][]> => {
        const [channel, subscription] = await Promise.all([
          table.get('channel', { realm, channelId }),
          table.get('subscription', { realm, userId, channelId }),
        ]);
        return channel === undefined ? [] : [[channelId, { channel, subscription }]];
      }),
    ),
    table.getMany(ids.map((id) => key('user', { realm, userId: id }))),
    Promise.all(messages.map(async (message) => ((await joined(message)) ? [message.id] : []))),
    Promise.all(
      entries.map(async (entry): Promise<[number, FlagSnapshot][]> => {
        const about = entry.kind === 'event' ? entry.about : undefined;
        return about ? [[entry.seq, await loadFlagSnapshot(table, realm, userId, about)]] : [];
      }),
    ),
    entries.some(isTyping) ? table.get('settings', { realm, userId }) : undefined,
  ]);
  if (!keyWith(accounts.follow(accountKey), account.apiKey.digest)) throw refusal('unauthorized');
  const hidden = await hiddenUsers(outside, caller, users);
  return {
    caller,
    // A queue does not expire while its poll waits.
    queue: accessQueue(stored, queue.queueId, userId, stored?.polledAt ?? 0),
    channels: new Map(channels.flat()),
    users: new Map(users.map((user) => [user.userId, hidden.has(user.userId) ? anonymizedUser(user) : user])),
    takesPart: new Set(takesPart.flat()),
    flags: new Map(flags.flat()),
    wantsTyping: settingsOf(settings).receives_typing_notifications === true,
    hidden,
  };

  async function joined({ mentions, channelId, topic }: ReadMessage): Promise<boolean> {
    if (mentions?.topic !== true || channelId === undefined) return false;
    const place = { realm, channelId, topic: folded(topic ?? ''), userId };
    return (await table.get('participant', place)) !== undefined;
  }
}

const channelsIn = (entries: readonly ReadEntry[]): number[] => [
  ...new Set(
    entries.flatMap((entry) => {
      if (entry.kind === 'message') return entry.channelId ?? [];
      return audienceChannels(entry.hearers);
    }),
  ),
];

/** Ids of the users in the entries, some of whom the listener may not see. */
const userIdsIn = (entries: readonly ReadEntry[]): number[] => [
  ...new Set(
    entries.flatMap((entry) => {
      if (entry.kind === 'message') return [entry.senderId, ...(entry.people ?? [])];
      return [userIdIn(entry.payload) ?? [], recipientIdsIn(entry.payload)].flat();
    }),
  ),
];

/** The user that a `realm_user`, `user_status`, `reaction` or `typing` event is about. */
function userIdIn(payload: Payload): number | undefined {
  if (payload.type === 'reaction' || payload.type === 'user_status') return payload.user_id as number;
  if (payload.type === 'typing') return typistIn(payload);
  if (payload.type !== 'realm_user') return undefined;
  return (payload.person as { user_id?: number } | undefined)?.user_id;
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
  snapshot: Snapshot,
  entry: ReadEvent,
): Promise<WireEvent | undefined> {
  const { queue, hidden } = snapshot;
  if (entry.payload.type === CREDENTIALS_CHANGED) return undefined;
  if (!isVisible(snapshot, entry)) return undefined;
  const about = userIdIn(entry.payload);
  const isHidden = about !== undefined && hidden.has(about);
  const payload = isHidden
    ? withoutUser(entry.payload, about, queue)
    : await expandedPayload(outside, entry, {
        ...snapshot.caller,
        archived: queue.capabilities.includes('archived_channels'),
        deactivatedGroups: queue.capabilities.includes('include_deactivated_groups'),
        subscribers: queue.includeSubscribers,
        unset: queue.capabilities.includes('notification_settings_null'),
        objects,
      });
  if (payload === undefined) return undefined;
  const isFromHidden = isFromHiddenChannel(snapshot.caller.standing, entry.hearers, snapshot.channels);
  const shown = withoutHiddenRecipients(isFromHidden ? withoutFormerLocation(payload) : payload, hidden);
  return eventOf({ ...shown, ...ownFlags(snapshot, entry) }, entry.seq, queue);
}

/** The listener's flags of the message that an event is about. */
function ownFlags({ caller, channels, flags }: Snapshot, { about, seq }: ReadEvent): { flags?: string[] } {
  const snapshot = flags.get(seq);
  if (about === undefined || snapshot === undefined) return {};
  const seen = about.channelId === undefined ? undefined : channels.get(about.channelId);
  return { flags: flagsIn(about, caller.standing, seen?.subscription, snapshot) };
}

function isVisible(snapshot: Snapshot, { hearers, seq, unless, payload: { type } }: ReadEvent): boolean {
  const { caller, channels } = snapshot;
  const { standing } = caller;
  if (type === 'typing' && !snapshot.wantsTyping) return false;
  if ('users' in hearers) return true;
  if ('subscribers' in hearers) return channels.get(hearers.channel)?.subscription !== undefined;
  if ('message' in hearers) {
    const areForClient = audienceChannels(hearers).every((id) => isForClient(snapshot, channels.get(id)));
    return areForClient && receivesMessageEvent(standing, hearers, channels, seq);
  }
  if ('channel' in hearers) {
    const seen = channels.get(hearers.channel);
    if (seen === undefined || (unless === undefined && !isForClient(snapshot, seen))) return false;
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
const isForClient = ({ queue }: Snapshot, seen: ChannelWithSubscription | undefined): boolean =>
  seen?.channel.isArchived !== true || queue.capabilities.includes('archived_channels');

function messageEvent(snapshot: Snapshot, message: ReadMessage): WireEvent | undefined {
  const { caller, queue, channels, users, takesPart } = snapshot;
  const { userId } = caller.user;
  const seen = message.channelId === undefined ? undefined : channels.get(message.channelId);
  const isEcho = message.senderId === userId && message.echo?.queueId === queue.queueId;
  const isReceived = message.people !== undefined || isSubscribedBefore(seen, message.id);
  if (!isEcho && !isReceived && !isInAllPublic(snapshot, seen)) return undefined;
  if (!isForClient(snapshot, seen)) return undefined;
  const flags =
    isReceived || isEcho
      ? messageFlags(message, {
          userId,
          groups: caller.standing.groups,
          received: true,
          takesPart: takesPart.has(message.id),
          read: message.senderId === userId && message.readBySender,
          starred: false,
        })
      : [];
  const channelName = seen?.channel.name;
  if (!isEcho && !matchesNarrow(queue.narrow, message, { userId, users, channelName, flags }))
    return undefined;
  const names = {
    ...(channelName !== undefined && { channelName }),
    users,
    realmStringId: caller.realm.stringId,
    historyVisibility: caller.realm.settings.message_edit_history_visibility_policy,
    isGuest: isGuest(caller.standing),
  };
  const payload = messagePayload(message, names, flags, queue);
  return eventOf(
    isEcho ? { ...payload, local_message_id: message.echo?.localId } : payload,
    message.id,
    queue,
  );
}

/** Whether the queue gets messages of this channel without a subscription (`all_public_streams`). */
const isInAllPublic = ({ queue, caller }: Snapshot, seen: ChannelWithSubscription | undefined): boolean =>
  queue.allPublicChannels && seen !== undefined && !seen.channel.isPrivate && !isGuest(caller.standing);
