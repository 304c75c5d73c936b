import { folded } from '../../kernel/folding.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Channel, FormerSubscription, Subscription } from '../../model/channel/channel.ts';
import {
  type CountedChannel,
  loadSomeChannels,
  loadSomeSubscriptions,
} from '../../model/subscription/object.ts';
import { type Principals, principalIds } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** A channel in a request, with the caller's own subscription to it. */
export interface NamedChannel extends CountedChannel {
  readonly subscription: Subscription | undefined;
}

/** A user and a channel. */
export interface Pair {
  readonly userId: number;
  readonly channel: Channel;
}

/** What subscribing or unsubscribing people is decided on. */
export interface Snapshot {
  /** By folded name; channels that do not exist are absent. */
  readonly channels: ReadonlyMap<string, NamedChannel>;
  readonly users: ReadonlyMap<number, User>;
  /** By `pairOf` user and channel. */
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  readonly formers: ReadonlyMap<string, FormerSubscription>;
}

/** Folded channel name -> id. */
type ChannelIds = ReadonlyMap<string, number>;

/** A user and a channel, as a key of the snapshot's maps. */
export const pairOf = (userId: number, channelId: number): string => `${userId} ${channelId}`;

/** The ids of channels, from the names that were looked up with the credentials. */
export const resolvedChannelIds = (names: readonly string[], resolved: Resolved): ChannelIds =>
  new Map(
    names.flatMap((name) => {
      const found = resolved.follow({ kind: 'channelName', name });
      return found ? [[folded(name), found.channelId] as const] : [];
    }),
  );

/** The same, read again after a conflict: a channel may have been created or renamed. One round trip. */
export async function loadChannelIds(
  table: Table,
  realm: string,
  names: readonly string[],
): Promise<ChannelIds> {
  const ids = await Promise.all(
    names.map(async (each) => {
      const name = folded(each);
      const found = await table.get('channelName', { realm, name });
      return found ? [[name, found.channelId] as const] : [];
    }),
  );
  return new Map(ids.flat());
}

/** Reads the snapshot in one round trip. The cost grows with people times channels, as the reply does. */
export async function loadSnapshot(
  table: Table,
  resolved: Resolved,
  callerId: number,
  ids: ChannelIds,
  principals: Principals | undefined,
): Promise<Snapshot> {
  const { realm } = resolved;
  const people = principalIds(principals, resolved, callerId);
  const channelIds = [...new Set(ids.values())];
  const pairs = people.flatMap((userId) => channelIds.map((channelId) => ({ realm, userId, channelId })));
  const [channels, own, users, subscriptions, formers] = await Promise.all([
    loadSomeChannels(table, realm, channelIds),
    loadSomeSubscriptions(table, realm, callerId, channelIds),
    table.getMany(people.map((userId) => key('user', { realm, userId }))),
    table.getMany(pairs.map((pair) => key('subscription', pair))),
    table.getMany(pairs.map((pair) => key('former', pair))),
  ]);
  const byId = new Map(channels.map((counted) => [counted.channel.channelId, counted]));
  return {
    channels: new Map(
      [...ids].flatMap(([name, channelId]) => {
        const counted = byId.get(channelId);
        return counted ? [[name, { ...counted, subscription: own.get(channelId) }] as const] : [];
      }),
    ),
    users: new Map(users.map((user) => [user.userId, user])),
    subscriptions: new Map(subscriptions.map((each) => [pairOf(each.userId, each.channelId), each])),
    formers: new Map(formers.map((each) => [pairOf(each.userId, each.channelId), each])),
  };
}
