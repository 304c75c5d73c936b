import { refusal } from '../../kernel/errors.ts';
import { folded } from '../../kernel/folding.ts';
import { lookUpIn } from '../../kernel/lookup.ts';
import type { Objects, Outside } from '../../kernel/outside.ts';
import type { Payload, ReadEntry, ReadEvent, ReadMessage } from '../../log/slot.ts';
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
import { accessCaller, type Caller } from '../../model/user/caller.ts';
import { userObject } from '../../model/user/object.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { filledPayload } from './event-fill.ts';
import { type FlagSnapshot, flagsIn, loadFlagSnapshot } from './event-flags.ts';
import { matchesNarrow } from './event-narrow.ts';
import { deletionOfBoth, eventOf, messagePayload, type WireEvent } from './event-object.ts';
import { accessQueue, type EventQueue, isWhileRegistering, loadQueue } from './event-queue.ts';

/** Who listens: the queue and its owner, whose rights are read anew each time there is something to tell. */
export interface Listener {
  readonly outside: Outside;
  readonly realm: string;
  readonly userId: number;
  readonly ownerId?: number;
  /** The account as it was when the poll began. */
  readonly account: { readonly email: string; readonly keyDigest: string };
  readonly queue: EventQueue;
  /** Makes the links that some events tell. */
  readonly objects: Pick<Objects, 'link'>;
}

/** Everything that decides who may hear the entries at hand, read after them. */
interface Snapshot {
  readonly caller: Caller;
  readonly queue: EventQueue;
  /** Channels with the listener's subscriptions. */
  readonly channels: ReadonlyMap<number, ChannelWithSubscription>;
  /** People whom the entries name; those who are hidden from the listener without their names. */
  readonly users: ReadonlyMap<number, User>;
  /** Messages with a topic wildcard in whose topic the listener takes part. */
  readonly takesPart: ReadonlySet<number>;
  /** What the listener has to do with the messages that events tell of, by the number of the event. */
  readonly flags: ReadonlyMap<number, FlagSnapshot>;
  /** People of whom the listener may not know. */
  readonly hidden: ReadonlySet<number>;
}

/** Bytes of events after which a reply is full: a function's reply has a limit of 6 MB. */
const FULL = 1_000_000;

/**
 * The events that the listener hears of these entries, as their client gets them. One round trip, or none if
 * nothing in them can be for them; another one for guests who do not see everyone, and one for each event that is
 * filled when it is told.
 *
 * What they may hear is judged by the state as it is now (DESIGN 5), which is read after the entries were: so
 * nobody hears more after losing access, and nobody misses what came after they were let in. Refuses a listener
 * whose account was deactivated, whose key was replaced, or whose queue was deleted, since the poll began.
 */
export async function hear(listener: Listener, entries: readonly ReadEntry[]): Promise<WireEvent[]> {
  const relevant = entries.filter((entry) => mayConcern(listener, entry));
  if (relevant.length === 0) return [];
  const snapshot = await accessSnapshot(listener, relevant);
  const events: WireEvent[] = [];
  let size = 0;
  for (const entry of relevant) {
    const event =
      entry.kind === 'message' ? tellMessage(snapshot, entry) : await tell(listener, snapshot, entry);
    if (event === undefined) continue;
    const both = deletionOfBoth(events.at(-1), event);
    if (both) events.pop();
    events.push(both ?? event);
    size += JSON.stringify(event).length;
    if (size > FULL) break;
  }
  return events;
}

/** Whether an entry can be for this listener at all, as far as that shows without reading anything. */
function mayConcern({ queue, userId }: Listener, entry: ReadEntry): boolean {
  const type = entry.kind === 'message' ? 'message' : entry.payload.type;
  if (queue.eventTypes !== undefined && !queue.eventTypes.includes(type)) return false;
  if (entry.kind === 'message') return entry.people === undefined || entry.people.includes(userId);
  const { hearers } = entry;
  if ('users' in hearers) return hearers.users.includes(userId);
  return !('except' in hearers) || hearers.except?.includes(userId) !== true;
}

async function accessSnapshot(
  { outside, realm, userId, ownerId, account, queue }: Listener,
  entries: readonly ReadEntry[],
): Promise<Snapshot> {
  const { table } = outside;
  const messages = entries.filter((entry) => entry.kind === 'message');
  const people = peopleIn(entries);
  const pointer = { kind: 'account', email: account.email } as const;
  const [caller, accounts, stored, channels, users, takesPart, flags] = await Promise.all([
    accessCaller(outside, realm, userId, ownerId),
    lookUpIn(table, realm, [pointer]),
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
    table.getMany(people.map((id) => key('user', { realm, userId: id }))),
    Promise.all(messages.map(async (message) => ((await joined(message)) ? [message.id] : []))),
    Promise.all(
      entries.map(async (entry): Promise<[number, FlagSnapshot][]> => {
        const about = entry.kind === 'event' ? entry.about : undefined;
        return about ? [[entry.seq, await loadFlagSnapshot(table, realm, userId, about)]] : [];
      }),
    ),
  ]);
  if (accounts.follow(pointer)?.keyDigest !== account.keyDigest) throw refusal('unauthorized');
  const hidden = await hiddenUsers(outside, caller, users);
  return {
    caller,
    queue: accessQueue(stored, queue.queueId, userId, outside.now()),
    channels: new Map(channels.flat()),
    users: new Map(users.map((user) => [user.userId, hidden.has(user.userId) ? anonymizedUser(user) : user])),
    takesPart: new Set(takesPart.flat()),
    flags: new Map(flags.flat()),
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

/** The people whom the entries name, and of whom a listener may perhaps not know. */
const peopleIn = (entries: readonly ReadEntry[]): number[] => [
  ...new Set(
    entries.flatMap((entry) => {
      if (entry.kind === 'message') return [entry.senderId, ...(entry.people ?? [])];
      return personIn(entry.payload) ?? [];
    }),
  ),
];

/** The person whom a `realm_user` event is about, who made a reaction, or who says something of themselves. */
function personIn(payload: Payload): number | undefined {
  if (payload.type === 'reaction' || payload.type === 'user_status') return payload.user_id as number;
  if (payload.type !== 'realm_user') return undefined;
  return (payload.person as { user_id?: number } | undefined)?.user_id;
}

/**
 * The event for somebody who may not know of the person in it: a reaction stays, but not who made it. Clients that
 * must have everybody in their list hear that there is somebody new (wire facts 14.1: `user_list_incomplete`).
 */
function withoutPerson(
  payload: Payload,
  userId: number,
  { clientGravatar, capabilities }: EventQueue,
): Payload | undefined {
  if (payload.type === 'reaction') {
    // Events of earlier versions also said who that is.
    const { user: _, ...nameless } = payload;
    return nameless;
  }
  const isNew = payload.type === 'realm_user' && payload.op === 'add';
  if (!isNew || capabilities.includes('user_list_incomplete')) return undefined;
  const person = anonymizedUser({ userId, isBot: false });
  return { ...payload, person: userObject(person, { clientGravatar, profile: () => ({}) }) };
}

/** The event as the listener's client gets it, or undefined where they may not hear it or do not want to. */
async function tell(
  { outside, objects }: Listener,
  snapshot: Snapshot,
  entry: ReadEvent,
): Promise<WireEvent | undefined> {
  const { queue, hidden } = snapshot;
  if (entry.unless !== undefined && queue.capabilities.includes(entry.unless)) return undefined;
  if (entry.given !== undefined && !queue.capabilities.includes(entry.given)) return undefined;
  const person = personIn(entry.payload);
  if (!hears(snapshot, entry)) return undefined;
  const isHidden = person !== undefined && hidden.has(person);
  const payload = isHidden
    ? withoutPerson(entry.payload, person, queue)
    : await filledPayload(outside, entry, {
        ...snapshot.caller,
        archived: queue.capabilities.includes('archived_channels'),
        deactivatedGroups: queue.capabilities.includes('include_deactivated_groups'),
        subscribers: queue.includeSubscribers,
        unset: queue.capabilities.includes('notification_settings_null'),
        isRegistering: isWhileRegistering(queue, entry.at),
        objects,
      });
  if (payload === undefined) return undefined;
  const isFromHidden = isFromHiddenChannel(snapshot.caller.standing, entry.hearers, snapshot.channels);
  const told = isFromHidden ? withoutFormerLocation(payload) : payload;
  return eventOf({ ...told, ...ownFlags(snapshot, entry) }, entry.seq, queue);
}

/** The flags of the message that an event tells of, for its listener. */
function ownFlags({ caller, channels, flags }: Snapshot, { about, seq }: ReadEvent): { flags?: string[] } {
  const snapshot = flags.get(seq);
  if (about === undefined || snapshot === undefined) return {};
  const seen = about.channelId === undefined ? undefined : channels.get(about.channelId);
  return { flags: flagsIn(about, caller.standing, seen?.subscription, snapshot) };
}

function hears(snapshot: Snapshot, { hearers, seq, unless }: ReadEvent): boolean {
  const { caller, channels } = snapshot;
  const { standing } = caller;
  if ('users' in hearers) return true;
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

/** To clients that cannot handle archived channels, these do not exist. */
const isForClient = ({ queue }: Snapshot, seen: ChannelWithSubscription | undefined): boolean =>
  seen?.channel.isArchived !== true || queue.capabilities.includes('archived_channels');

function tellMessage(snapshot: Snapshot, message: ReadMessage): WireEvent | undefined {
  const { caller, queue, channels, users, takesPart } = snapshot;
  const { userId } = caller.user;
  const seen = message.channelId === undefined ? undefined : channels.get(message.channelId);
  const isEcho = message.senderId === userId && message.echo?.queueId === queue.queueId;
  const isReceived = message.people !== undefined || isSubscribedBefore(seen, message.id);
  if (!isEcho && !isReceived && !overhears(snapshot, seen)) return undefined;
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

/** Whether the queue hears this channel without a subscription: it asked for all that is public. */
const overhears = ({ queue, caller }: Snapshot, seen: ChannelWithSubscription | undefined): boolean =>
  queue.allPublicChannels && seen !== undefined && !seen.channel.isPrivate && !isGuest(caller.standing);
