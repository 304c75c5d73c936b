import { doUseQuota } from '../../kernel/quota.ts';
import type { Change } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
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
import type { Write } from '../../table/write.ts';
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
  readonly newcomers: readonly Newcomer[];
}

/** A joining whose channel has its id and its new count. */
interface Arriving extends CountedChannel {
  readonly isNew: boolean;
  readonly newcomers: readonly Newcomer[];
}

/** How many bytes of the quota the new channels use. */
export const bytesOfCreations = (joinings: readonly Joining[]): number =>
  joinings.reduce((sum, { target }) => sum + ('create' in target ? channelBytes(target.create) : 0), 0);

/** How many log numbers `doJoin` needs for these. */
export const entriesOfJoin = (joinings: readonly Joining[]): number =>
  doJoin('', joinings, () => 0).entries.length;

/**
 * Subscribes people to channels and creates those that do not exist. Events come in the order that clients need
 * (wire facts 4.6, 14.6): the channel, then the own subscription, then those of others. `number(i)` is the log number
 * of entry i; a new channel takes the number of its creation event as its id.
 *
 * The result is the channels, in the order of the joinings, with their new counts.
 */
export function doJoin(
  realm: string,
  joinings: readonly Joining[],
  number: (index: number) => number,
): Change<CountedChannel[]> {
  let creations = 0;
  const arriving = joinings.map(({ target, newcomers }): Arriving => {
    const isNew = 'create' in target;
    const channel = isNew ? { ...target.create, channelId: number(creations++) } : target.channel;
    const before = isNew ? undefined : target.count;
    const subscribers = (before?.subscribers ?? 0) + newcomers.length;
    return { channel, count: { ...before, channelId: channel.channelId, subscribers }, isNew, newcomers };
  });
  const created = arriving
    .filter(({ isNew }) => isNew)
    .map(({ channel, newcomers }) => doCreateChannel(realm, channel, newcomers.length));
  const newChannels = created.map(({ result }) => result);
  const entries = [
    ...created.flatMap(({ entries }) => entries),
    ...arriving.filter(({ isNew }) => !isNew).flatMap(creationForNewcomers),
    ...additions(arriving),
    ...arriving.flatMap(({ channel, newcomers }) => peerEvents('peer_add', channel.channelId, newcomers)),
    ...(newChannels.some(({ isDefault }) => isDefault) ? [defaultChannelsEvent] : []),
  ];
  const since = number(entries.length - 1);
  return {
    writes: [
      ...created.flatMap(({ writes }) => writes),
      ...doUseGroupsInNew(realm, newChannels),
      ...doFillFolders(realm, newChannels),
      ...doUseQuota(realm, 'channels', bytesOfCreations(joinings)),
      ...accountWrites(realm, arriving),
      ...arriving.flatMap((each) => [
        ...(each.isNew ? [] : existingChannelWrites(realm, each)),
        ...newSubscriptions(realm, each, since),
      ]),
    ],
    entries,
    result: arriving.map(({ channel, count }) => ({ channel, count })),
  };
}

/**
 * Counts the new subscriptions on the accounts. Fails if an account is inactive, and makes a concurrent deactivation
 * fail. A bot is deactivated with its owner, so the owner's account is written too.
 */
const accountWrites = (realm: string, arriving: readonly Arriving[]): Write[] => {
  const people = arriving.flatMap(({ newcomers }) => newcomers.filter(({ isNewAccount }) => !isNewAccount));
  const ids = new Set(people.map(({ userId }) => userId));
  const owners = new Set(people.flatMap(({ ownerId }) => ownerId ?? []).filter((id) => !ids.has(id)));
  return [
    ...[...ids].map((userId) => doCountMembership(realm, userId)),
    ...[...owners].map((userId) => doCountBotMembership(realm, userId)),
  ];
};

/** Counts the subscribers. A private channel must not have changed since the check; a public one must still be public. */
const existingChannelWrites = (realm: string, { channel, newcomers }: Arriving): Write[] => [
  countSubscribers(realm, channel.channelId, newcomers.length),
  {
    check: key('channel', { realm, channelId: channel.channelId }),
    when: { equals: channel.isPrivate ? { version: channel.version } : { isPrivate: false } },
  },
];

const settingsIn = (channel: Channel, { settings }: Newcomer): SubscriptionSettings => ({
  ...newSubscriptionSettings(channel.channelId),
  ...settings,
});

const newSubscriptions = (realm: string, { channel, isNew, newcomers }: Arriving, since: number): Write[] =>
  newcomers.flatMap((newcomer) => {
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
function creationForNewcomers({ channel, count, newcomers }: Arriving): EventEntry[] {
  const users = newcomers.filter(({ isNewToThem }) => isNewToThem).map(({ userId }) => userId);
  return users.length === 0 ? [] : [creationEvent({ users }, channel, count)];
}

/** The `subscription/add` events: one for all newcomers with equal subscriptions. */
function additions(arriving: readonly Arriving[]): EventEntry[] {
  const added = arriving.flatMap((counted, index) =>
    counted.newcomers.map((newcomer) => ({
      userId: newcomer.userId,
      settings: settingsIn(counted.channel, newcomer),
      counted,
      index,
    })),
  );
  return groupUsers(added, ({ index, settings }) => [index, settings]).map(({ users, list }) => ({
    kind: 'event',
    hearers: { users },
    payload: {
      type: 'subscription',
      op: 'add',
      subscriptions: list.map(({ counted, settings }) => subscriptionObject(counted, settings)),
    },
    fill: 'company',
    access: true,
  }));
}

/** Groups the users whose lists are equal, so that one event serves all of them. */
export function groupUsers<T extends { readonly userId: number }>(
  items: readonly T[],
  contentOf: (item: T) => unknown,
): { readonly users: number[]; readonly list: readonly T[] }[] {
  const byUser = Map.groupBy(items, ({ userId }) => userId);
  const equal = Map.groupBy(byUser, ([, list]) => JSON.stringify(list.map(contentOf)));
  return [...equal.values()].map((group) => ({
    users: group.map(([userId]) => userId),
    list: group[0]?.[1] ?? [],
  }));
}

/** The event that these people joined or left, for everyone else who can see the channel. */
export function peerEvents(
  op: 'peer_add' | 'peer_remove',
  channelId: number,
  people: readonly { readonly userId: number }[],
): EventEntry[] {
  if (people.length === 0) return [];
  const users = people.map(({ userId }) => userId).sort((a, b) => a - b);
  return [
    {
      kind: 'event',
      hearers: { channel: channelId, except: users },
      payload: { type: 'subscription', op, stream_ids: [channelId], user_ids: users },
      access: true,
    },
  ];
}
