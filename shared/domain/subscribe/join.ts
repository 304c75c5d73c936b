import { doUseQuota } from '../../kernel/quota.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor, type Payload } from '../../log/slot.ts';
import {
  type Channel,
  channelBytes,
  type Subscription,
  type SubscriptionSettings,
} from '../../model/channel/channel.ts';
import { doFillFolders } from '../../model/channel/folder.ts';
import { creationEvent, defaultChannelsEvent } from '../../model/channel/object.ts';
import { doUseGroupsInNew } from '../../model/group/setting.ts';
import { type CountedChannel, subscriptionObject } from '../../model/subscription/object.ts';
import {
  countSubscribers,
  newSubscriptionSettings,
  subscriptionWrites,
} from '../../model/subscription/settings.ts';
import { doCountBotMembership, doCountMembership } from '../../model/user/activation.ts';
import { key } from '../../table/keys.ts';
import { hasVersion, type Write } from '../../table/write.ts';
import { doCreateChannel } from '../channel-edit/create.ts';

/** A user to be subscribed to a channel. */
export interface Newcomer {
  readonly userId: number;
  /** Settings from the request or a former subscription; the defaults apply to the rest. */
  readonly settings: Partial<SubscriptionSettings>;
  /** They could not see the channel before, so their clients first need its creation event. */
  readonly isNewToThem: boolean;
  /** The owner of a bot. */
  readonly ownerId?: number;
  readonly isBot?: true;
  /** The same transaction creates their account. */
  readonly isNewAccount?: true;
}

/** A channel, which may not exist yet, and the users to be subscribed to it. */
export interface Joining {
  /** A channel to be created has no id yet. */
  readonly target: CountedChannel | { readonly create: Omit<Channel, 'channelId'> };
  readonly people: readonly Newcomer[];
}

/** A joining whose channel has its id and its new count. */
export interface Joined extends CountedChannel {
  /** The same transaction creates the channel. */
  readonly isNew: boolean;
  readonly people: readonly Newcomer[];
}

/** How many bytes of the quota the new channels use. */
export const bytesOfCreations = (joinings: readonly Joining[]): number =>
  joinings.reduce((sum, { target }) => sum + ('create' in target ? channelBytes(target.create) : 0), 0);

/**
 * Subscribes people to channels and creates those that do not exist. Events come in the order that clients need
 * (wire facts 4.6, 14.6): the channel, then the own subscription, then those of others. `number(i)` is the log number
 * of entry i; a new channel takes the number of its creation event as its id.
 */
export function doJoin(
  realm: string,
  joinings: readonly Joining[],
  number: (index: number) => number,
): Change<Joined[]> {
  let creations = 0;
  const joined = joinings.map(({ target, people }): Joined => {
    const isNew = 'create' in target;
    const channel = isNew ? { ...target.create, channelId: number(creations++) } : target.channel;
    const before = isNew ? undefined : target.count;
    const subscribers = (before?.subscribers ?? 0) + people.length;
    return { channel, count: { ...before, channelId: channel.channelId, subscribers }, isNew, people };
  });
  const created = joined
    .filter(({ isNew }) => isNew)
    .map(({ channel, people }) => doCreateChannel(realm, channel, people.length));
  const newChannels = created.map(({ result }) => result);
  const entries = [
    ...created.flatMap(({ entries }) => entries),
    ...joined.filter(({ isNew }) => !isNew).flatMap(creationForNewcomers),
    ...additions(joined),
    ...joined.flatMap(({ channel, people }) => peerEvents('peer_add', channel.channelId, people)),
    ...(newChannels.some(({ isDefault }) => isDefault) ? [defaultChannelsEvent] : []),
  ];
  const since = number(entries.length - 1);
  return {
    writes: [
      ...created.flatMap(({ writes }) => writes),
      ...doUseGroupsInNew(realm, newChannels),
      ...doFillFolders(realm, newChannels),
      ...doUseQuota(realm, 'channels', bytesOfCreations(joinings)),
      ...accountWrites(realm, joined),
      ...joined.flatMap((each) => [
        ...(each.isNew ? [] : existingChannelWrites(realm, each)),
        ...newSubscriptions(realm, each, since),
      ]),
    ],
    entries,
    result: joined,
  };
}

/**
 * Counts the new subscriptions on the accounts. Fails if an account is inactive, and makes a concurrent deactivation
 * fail. A bot is deactivated with its owner, so the owner's account is written too.
 */
const accountWrites = (realm: string, joined: readonly Joined[]): Write[] => {
  const newcomers = joined.flatMap((each) => each.people.filter(({ isNewAccount }) => !isNewAccount));
  const ids = new Set(newcomers.map(({ userId }) => userId));
  const owners = new Set(newcomers.flatMap(({ ownerId }) => ownerId ?? []).filter((id) => !ids.has(id)));
  return [
    ...[...ids].map((userId) => doCountMembership(realm, userId)),
    ...[...owners].map((userId) => doCountBotMembership(realm, userId)),
  ];
};

/** Counts the subscribers. A private channel must not have changed since the check; a public one must still be public. */
const existingChannelWrites = (realm: string, { channel, people }: Joined): Write[] => [
  countSubscribers(realm, channel.channelId, people.length),
  {
    check: key('channel', { realm, channelId: channel.channelId }),
    when: channel.isPrivate ? hasVersion(channel.version) : { equals: { isPrivate: false } },
  },
];

const settingsIn = (channel: Channel, { settings }: Newcomer): SubscriptionSettings => ({
  ...newSubscriptionSettings(channel.channelId),
  ...settings,
});

const newSubscriptions = (realm: string, { channel, isNew, people }: Joined, since: number): Write[] =>
  people.flatMap((newcomer) => {
    const { userId } = newcomer;
    const { channelId } = channel;
    const settings = settingsIn(channel, newcomer);
    const subscription: Subscription = { ...settings, userId, channelId, since, readFloor: since };
    const writes = subscriptionWrites(realm, subscription);
    if (isNew) return writes;
    // If it ended at a later log number than ours, clients would get the events in the wrong order.
    const when = { below: { ended: since } };
    return [...writes, { delete: key('former', { realm, userId, channelId }), when }];
  });

/** The creation event for the newcomers who could not see the channel before. */
function creationForNewcomers({ channel, count, people }: Joined): EventEntry[] {
  const users = people.filter(({ isNewToThem }) => isNewToThem).map(({ userId }) => userId);
  return users.length === 0 ? [] : [creationEvent({ users }, channel, count)];
}

/** The `subscription/add` events. */
function additions(joined: readonly Joined[]): EventEntry[] {
  const added = joined.flatMap((counted) =>
    counted.people.map((newcomer) => ({
      userId: newcomer.userId,
      counted,
      settings: settingsIn(counted.channel, newcomer),
    })),
  );
  return eventsOfLists(
    added,
    ({ counted, settings }) => [counted.channel.name, settings],
    (list) => ({
      type: 'subscription',
      op: 'add',
      subscriptions: list.map(({ counted, settings }) => subscriptionObject(counted, settings)),
    }),
  ).map((event) => ({ ...event, fill: 'company' }));
}

/** Events for users about the items that have their id: one for all users whose lists have equal contents. */
export function eventsOfLists<T extends { readonly userId: number }>(
  items: readonly T[],
  contentOf: (item: T) => unknown,
  payloadOf: (list: readonly T[]) => Payload,
): EventEntry[] {
  const byUser = Map.groupBy(items, ({ userId }) => userId);
  const equal = Map.groupBy(byUser, ([, list]) => JSON.stringify(list.map(contentOf)));
  return [...equal.values()].map((group) =>
    eventFor({ users: group.map(([userId]) => userId) }, payloadOf(group[0]?.[1] ?? []), { access: true }),
  );
}

/** The event that these people joined or left, for everyone else who can see the channel. */
export function peerEvents(
  op: 'peer_add' | 'peer_remove',
  channelId: number,
  people: readonly { readonly userId: number }[],
): EventEntry[] {
  if (people.length === 0) return [];
  const users = people.map(({ userId }) => userId).sort((a, b) => a - b);
  const payload = { type: 'subscription', op, stream_ids: [channelId], user_ids: users };
  return [eventFor({ channel: channelId, except: users }, payload, { access: true })];
}
