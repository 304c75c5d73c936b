import { refusal } from '../../kernel/errors.ts';
import { lookUpIn } from '../../kernel/lookup.ts';
import type { Objects, Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { MOMENT, type Payload, type ReadEntry, type ReadMessage } from '../../log/slot.ts';
import type { Linkifiers } from '../../markdown/linkifier-engine.ts';
import type { ChannelWithSubscription } from '../../model/channel/access.ts';
import { audienceChannels } from '../../model/message/message.ts';
import { isGuest } from '../../model/permission/permission.ts';
import { loadCompiledLinkifiers } from '../../model/realm/linkifiers.ts';
import { anonymizedUser, hiddenUsers } from '../../model/subscription/user-access.ts';
import {
  type Account,
  type ApiKey,
  accessCaller,
  type Caller,
  CREDENTIALS_CHANGED,
  keyWith,
  unreadGroups,
} from '../../model/user/caller.ts';
import { settingsOf, type User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import { type FlagSnapshot, loadFlagSnapshot } from './expansion.ts';
import { isTyping, recipientIdsIn, typistIn } from './object.ts';
import { accessQueue, type EventQueue, loadQueue, wantsMutedTopics } from './queue.ts';

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

/** Whether an entry can be for this listener, decided without reading anything. */
export function mayConcern({ outside, queue, userId, unheard }: Listener, entry: ReadEntry): boolean {
  const type = entry.kind === 'message' ? 'message' : entry.payload.type;
  // Whatever the client wants to hear, its key is checked again.
  const isKeyChange = type === CREDENTIALS_CHANGED;
  const isWanted =
    queue.eventTypes?.includes(type) !== false || (type === 'user_topic' && wantsMutedTopics(queue));
  if (!isKeyChange && !isWanted) return false;
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
const HARMLESS = new Set([
  'message',
  'reaction',
  'submessage',
  'update_message_flags',
  'presence',
  'typing',
  'typing_edit_message',
]);

/** Whether an entry leaves it as it is which channels a listener hears of. */
export const isHarmless = (entry: ReadEntry): boolean =>
  entry.kind === 'message' || HARMLESS.has(entry.payload.type);

/**
 * Notes the channels that the listener does not follow. Who follows one later hears only of messages after that
 * (`isSubscribedBefore`), and the log tells it before them.
 */
export function noteUnheard(
  listener: Listener,
  channels: ReadonlyMap<number, ChannelWithSubscription>,
  entries: readonly ReadEntry[],
): void {
  if (listener.queue.allPublicChannels) return;
  for (const entry of entries) {
    const channelId = entry.kind === 'message' ? entry.channelId : undefined;
    if (channelId === undefined || channels.get(channelId)?.subscription !== undefined) continue;
    listener.unheard ??= new Set();
    listener.unheard.add(channelId);
  }
}

const made = new WeakMap<readonly ReadEntry[], Map<string, unknown>>();

/**
 * Reads or makes something once for all listeners whom the same entries woke. Those of one room get the very same list
 * (`Follower`), and go on in the same moment. So what one of them reads is as new as what each would read by itself.
 *
 * @param entries the list as the log handed it out
 * @param what names it, with all that it depends on besides these entries
 */
export function onceFor<T>(entries: readonly ReadEntry[], what: string, make: () => T): T {
  const things = made.get(entries) ?? new Map<string, unknown>();
  made.set(entries, things);
  if (!things.has(what)) things.set(what, make());
  return things.get(what) as T;
}

/** What decides whether one person may see the entries. All their queues share it. */
interface PersonalSight {
  readonly caller: Caller;
  /** The account; undefined if there is none any more. */
  readonly account: Account | undefined;
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
  /** The organization's linkifiers, for topics. */
  readonly linkifiers: Linkifiers | undefined;
}

/** What decides whether a listener may see the entries, read after them. */
export interface Sight extends PersonalSight {
  readonly queue: EventQueue;
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

/**
 * Reads what decides whether a listener may see these entries. One round trip, which listeners who woke together share
 * but for their queues. One more for guests with restricted visibility.
 *
 * Throws if the account was deactivated, its key replaced or the queue deleted since the poll began.
 *
 * @param entries those that may be for the listener
 * @param woken all that the log handed out
 */
export async function accessSight(
  listener: Listener,
  entries: readonly ReadEntry[],
  woken: readonly ReadEntry[],
): Promise<Sight> {
  const { outside, realm, userId, ownerId, account, isGuest, queue } = listener;
  const whose = JSON.stringify([userId, ownerId, account.email, isGuest, entries.map(({ seq }) => seq)]);
  const [sight, stored] = await Promise.all([
    onceFor(woken, `sight of ${whose}`, () => accessPersonalSight(listener, entries)),
    loadQueue(outside.table, realm, userId, queue.queueId),
  ]);
  if (!keyWith(sight.account, account.apiKey.digest)) throw refusal('unauthorized');
  // A queue does not expire while its poll waits.
  return { ...sight, queue: accessQueue(stored, queue.queueId, userId, stored?.polledAt ?? 0) };
}

async function accessPersonalSight(
  listener: Listener,
  entries: readonly ReadEntry[],
): Promise<PersonalSight> {
  const { outside, realm, userId, account } = listener;
  const { table } = outside;
  const messages = entries.filter((entry) => entry.kind === 'message');
  const ids = userIdsIn(entries);
  const accountKey = { kind: 'account', email: account.email } as const;
  const [caller, accounts, channels, users, takesPart, flags, settings] = await Promise.all([
    accessListener(listener, entries),
    lookUpIn(table, realm, [accountKey]),
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
    entries.some((entry) => entry.kind === 'event' && isTyping(entry.payload.type))
      ? table.get('settings', { realm, userId })
      : undefined,
  ]);
  const [hidden, linkifiers] = await Promise.all([
    hiddenUsers(outside, caller, users),
    loadCompiledLinkifiers(outside, realm, caller.realm),
  ]);
  return {
    caller,
    account: accounts.follow(accountKey),
    channels: new Map(channels.flat()),
    users: new Map(users.map((user) => [user.userId, hidden.has(user.userId) ? anonymizedUser(user) : user])),
    takesPart: new Set(takesPart.flat()),
    flags: new Map(flags.flat()),
    wantsTyping: settingsOf(settings).receives_typing_notifications === true,
    hidden,
    linkifiers,
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

/** Types of events whose `user_id` is the user that they are about. */
const aboutUsers = new Set(['reaction', 'user_status', 'presence']);

/** The user that an event of these types, of `realm_user` or of typing is about. */
export function userIdIn(payload: Payload): number | undefined {
  if (aboutUsers.has(payload.type)) return payload.user_id as number;
  if (isTyping(payload.type)) return typistIn(payload);
  if (payload.type !== 'realm_user') return undefined;
  return (payload.person as { user_id?: number } | undefined)?.user_id;
}
