import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { folded } from '../../kernel/text.ts';
import type { Channel, FormerSubscription, Subscription } from '../../model/channel/channel.ts';
import {
  type CountedChannel,
  loadSomeChannels,
  loadSomeSubscriptions,
} from '../../model/subscription/object.ts';
import { type Principals, principalIds, principalLookupKeys } from '../../model/user/principals.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** The channels and people of a parsed request to subscribe or unsubscribe people. */
export interface Named {
  /** The names of the channels, each once. */
  readonly names: readonly string[];
  readonly principals: Principals | undefined;
  /** The pairs that are done, by `pairOf`. A try that meets a conflict may have done a part of the request. */
  readonly done: Map<string, Pair>;
}

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
  readonly resolved: Resolved;
  /** By folded name; channels that do not exist are absent. */
  readonly channels: ReadonlyMap<string, NamedChannel>;
  readonly users: ReadonlyMap<number, User>;
  /** By `pairOf` user and channel. */
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  readonly formers: ReadonlyMap<string, FormerSubscription>;
}

/** A user and a channel, as a key of maps. */
export const pairOf = (userId: number, channelId: number): string => `${userId} ${channelId}`;

/** The channels and the people. */
export const pairLookupKeys = ({ names, principals }: Named): LookupKey[] => [
  ...names.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
  ...principalLookupKeys(principals),
];

/** Reads the snapshot in one round trip. The cost grows with people times channels, as the reply does. */
export async function loadSnapshot(
  table: Table,
  resolved: Resolved,
  callerId: number,
  { names, principals }: Named,
): Promise<Snapshot> {
  const { realm } = resolved;
  const people = principalIds(principals, resolved, callerId);
  const channelIds = names.flatMap((name) => resolved.follow({ kind: 'channelName', name })?.channelId ?? []);
  const pairs = people.flatMap((userId) => channelIds.map((channelId) => ({ realm, userId, channelId })));
  const [channels, own, users, subscriptions, formers] = await Promise.all([
    loadSomeChannels(table, realm, channelIds),
    loadSomeSubscriptions(table, realm, callerId, channelIds),
    table.getMany(people.map((userId) => key('user', { realm, userId }))),
    table.getMany(pairs.map((pair) => key('subscription', pair))),
    table.getMany(pairs.map((pair) => key('former', pair))),
  ]);
  return {
    resolved,
    channels: new Map(
      channels.map(({ channel, count }) => [
        folded(channel.name),
        { channel, count, subscription: own.get(channel.channelId) },
      ]),
    ),
    users: new Map(users.map((user) => [user.userId, user])),
    subscriptions: new Map(subscriptions.map((each) => [pairOf(each.userId, each.channelId), each])),
    formers: new Map(formers.map((each) => [pairOf(each.userId, each.channelId), each])),
  };
}
