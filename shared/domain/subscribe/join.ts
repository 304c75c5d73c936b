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
import { doReceive, doReceiveForBot } from '../../model/user/activation.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doCreateChannel } from '../channel-edit/create.ts';

/** Somebody who is to be subscribed to a channel. */
export interface Newcomer {
  readonly userId: number;
  /** What they choose now or chose before; the rest is as for everybody who subscribes. */
  readonly settings: Partial<SubscriptionSettings>;
  /** They could not know of the channel before, so their clients must first be told that it exists. */
  readonly isNewToThem: boolean;
  /** Whose bot they are. */
  readonly ownerId?: number;
  readonly isBot?: true;
  /** Their account is created by the same transaction. */
  readonly isNewAccount?: true;
}

/** A channel, which may still have to be created, with the people who are to be subscribed to it. */
export interface Joining {
  /** Where it has to be created, its id is not known yet. */
  readonly target: CountedChannel | { readonly create: Omit<Channel, 'channelId'> };
  readonly newcomers: readonly Newcomer[];
}

/** A joining whose channel has its id and its new count. */
interface Arriving extends CountedChannel {
  readonly isNew: boolean;
  readonly newcomers: readonly Newcomer[];
}

/** The bytes that the channels which have to be created take of their quota. */
export const bytesOfCreations = (joinings: readonly Joining[]): number =>
  joinings.reduce((sum, { target }) => sum + ('create' in target ? channelBytes(target.create) : 0), 0);

/** How many numbers of the log `doJoin` needs for these. */
export const entriesOfJoin = (joinings: readonly Joining[]): number =>
  doJoin('', joinings, (_) => 0).entries.length;

/**
 * Subscribes people to channels, creating those that do not exist: the writes, and what clients are told, in the
 * order in which they can understand it (wire facts 4.6, 14.6): that a channel exists, that they are subscribed,
 * that others are. `number(i)` is the number of entry i; the id of a new channel is that of the event that tells of it.
 *
 * The result are the channels, in the order of the joinings, with their new counts.
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
  const entries = [
    ...created.flatMap(({ entries }) => entries),
    ...arriving.filter(({ isNew }) => !isNew).flatMap(discovery),
    ...additions(arriving),
    ...arriving.flatMap(peers('peer_add')),
    ...(created.some(({ result }) => result.isDefault) ? [defaultChannelsEvent] : []),
  ];
  const since = number(entries.length - 1);
  return {
    writes: [
      ...created.flatMap(({ writes }) => writes),
      ...doUseGroupsInNew(
        realm,
        created.map(({ result }) => result),
      ),
      ...doFillFolders(
        realm,
        created.map(({ result }) => result),
      ),
      ...doUseQuota(realm, 'channels', bytesOfCreations(joinings)),
      ...accountWrites(realm, arriving),
      ...arriving.flatMap((each) => [
        ...(each.isNew ? [] : existing(realm, each)),
        ...arrivals(realm, each, since),
      ]),
    ],
    entries,
    result: arriving.map(({ channel, count }) => ({ channel, count })),
  };
}

/**
 * Holds the accounts to being active, and their deactivation to what comes to be theirs: nobody is to be counted who
 * is not there. A bot is deactivated with its owner, who is held for it too.
 */
const accountWrites = (realm: string, arriving: readonly Arriving[]): Write[] => {
  const people = arriving.flatMap(({ newcomers }) => newcomers.filter(({ isNewAccount }) => !isNewAccount));
  const ids = new Set(people.map(({ userId }) => userId));
  const owners = new Set(people.flatMap(({ ownerId }) => ownerId ?? []).filter((id) => !ids.has(id)));
  return [
    ...[...ids].map((userId) => doReceive(realm, userId)),
    ...[...owners].map((userId) => doReceiveForBot(realm, userId)),
  ];
};

/**
 * What changes of a channel that exists. That a private one may be joined was decided on its settings as read; a
 * public one must still be public.
 */
const existing = (realm: string, { channel, newcomers }: Arriving): Write[] => [
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

/** The subscriptions themselves. */
const arrivals = (realm: string, { channel, isNew, newcomers }: Arriving, since: number): Write[] =>
  newcomers.flatMap((newcomer) => {
    const { userId } = newcomer;
    const { channelId } = channel;
    const subscription: Subscription = {
      ...settingsIn(channel, newcomer),
      userId,
      channelId,
      since,
      readFloor: since,
    };
    const writes = subscriptionWrites(realm, subscription);
    if (isNew) return writes;
    // Were it ended by a later number of the log than ours, clients would be told in the wrong order.
    const former: Write = {
      delete: key('former', { realm, userId, channelId }),
      when: { below: { ended: since } },
    };
    return [...writes, former];
  });

/** Tells those to whom the channel is new that it exists. */
function discovery({ channel, count, newcomers }: Arriving): EventEntry[] {
  const users = newcomers.filter(({ isNewToThem }) => isNewToThem).map(({ userId }) => userId);
  return users.length === 0 ? [] : [creationEvent({ users }, channel, count)];
}

/** Tells people what they are subscribed to now. Those who are told the same are told by one event. */
function additions(arriving: readonly Arriving[]): EventEntry[] {
  const byUser = new Map<number, { place: number; settings: SubscriptionSettings }[]>();
  arriving.forEach(({ channel, newcomers }, place) => {
    for (const newcomer of newcomers) {
      const told = { place, settings: settingsIn(channel, newcomer) };
      const list = byUser.get(newcomer.userId);
      if (list) list.push(told);
      else byUser.set(newcomer.userId, [told]);
    }
  });
  const groups = new Map<string, { users: number[]; subscriptions: object[] }>();
  for (const [userId, list] of byUser) {
    const same = JSON.stringify(list);
    const group = groups.get(same);
    if (group) group.users.push(userId);
    else
      groups.set(same, {
        users: [userId],
        subscriptions: list.flatMap(({ place, settings }) => {
          const counted = arriving[place];
          return counted ? [subscriptionObject(counted, settings)] : [];
        }),
      });
  }
  return [...groups.values()].map(({ users, subscriptions }) => ({
    kind: 'event',
    hearers: { users },
    payload: { type: 'subscription', op: 'add', subscriptions },
    fill: 'company',
    access: true,
  }));
}

/** Tells everybody else who knows of a channel that these people came or went. */
export const peers =
  (op: 'peer_add' | 'peer_remove') =>
  ({
    channel,
    newcomers,
  }: {
    channel: Pick<Channel, 'channelId'>;
    newcomers: readonly { readonly userId: number }[];
  }): EventEntry[] => {
    if (newcomers.length === 0) return [];
    const users = newcomers.map(({ userId }) => userId).sort((a, b) => a - b);
    return [
      {
        kind: 'event',
        hearers: { channel: channel.channelId, except: users },
        payload: { type: 'subscription', op, stream_ids: [channel.channelId], user_ids: users },
        access: true,
      },
    ];
  };
