import { folded } from '../../kernel/folding.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import { loadQuotaUse } from '../../kernel/quota.ts';
import type { Channel, FormerSubscription, Subscription } from '../../model/channel/channel.ts';
import { type Folder, loadFolder } from '../../model/channel/folder.ts';
import { type ChannelGroupInput, groupSettingsOf } from '../../model/channel/settings.ts';
import { loadNamedInSettings, type NamedInSettings } from '../../model/group/setting.ts';
import { type CountedChannel, loadSomeChannels } from '../../model/subscription/object.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';

/** A channel that a request names, with the caller's own subscription to it. */
export interface NamedChannel extends CountedChannel {
  readonly subscription: Subscription | undefined;
}

/** One person and one channel. */
export interface Pair {
  readonly userId: number;
  readonly channel: Channel;
}

/** What a request that subscribes or unsubscribes people decides on. */
export interface Snapshot {
  /** Folded name -> channel; names that lead nowhere are not in it. */
  readonly channels: ReadonlyMap<string, NamedChannel>;
  readonly users: ReadonlyMap<number, User>;
  /** By `pairOf` person and channel. */
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  readonly formers: ReadonlyMap<string, FormerSubscription>;
}

/** Folded channel name -> id. */
export type ChannelIds = ReadonlyMap<string, number>;

/** A person and a channel, as a key of the snapshot's maps. */
export const pairOf = (userId: number, channelId: number): string => `${userId} ${channelId}`;

/** The ids of the named channels, from the look-up that every request begins with. */
export const knownChannelIds = (names: readonly string[], resolved: Resolved): ChannelIds =>
  new Map(
    names.flatMap((name) => {
      const found = resolved.follow({ kind: 'channelName', name });
      return found ? [[folded(name), found.channelId] as const] : [];
    }),
  );

/** The same, read anew: somebody else created or renamed a channel meanwhile. One round trip. */
export async function loadChannelIds(
  table: Table,
  realm: string,
  names: readonly string[],
): Promise<ChannelIds> {
  const keys = names.map((name) => ({
    folded: folded(name),
    key: key('channelName', { realm, name: folded(name) }),
  }));
  const found = await Promise.all(keys.map((each) => table.get(each.key)));
  return new Map(
    keys.flatMap(({ folded }, i) => {
      const channelId = found[i]?.channelId;
      return channelId === undefined ? [] : [[folded, channelId] as const];
    }),
  );
}

/** Reads the snapshot in one round trip. The cost grows with people times channels, as the reply does. */
export async function loadSnapshot(
  table: Table,
  realm: string,
  callerId: number,
  ids: ChannelIds,
  people: readonly number[],
): Promise<Snapshot> {
  const channelIds = [...new Set(ids.values())];
  const pairs = people.flatMap((userId) => channelIds.map((channelId) => ({ realm, userId, channelId })));
  const [channels, own, users, subscriptions, formers] = await Promise.all([
    loadSomeChannels(table, realm, channelIds),
    table.getMany(channelIds.map((channelId) => key('subscription', { realm, userId: callerId, channelId }))),
    table.getMany(people.map((userId) => key('user', { realm, userId }))),
    table.getMany(pairs.map((pair) => key('subscription', pair))),
    table.getMany(pairs.map((pair) => key('former', pair))),
  ]);
  const byId = new Map(channels.map((counted) => [counted.channel.channelId, counted]));
  const ownById = new Map(own.map((subscription) => [subscription.channelId, subscription]));
  return {
    channels: new Map(
      [...ids].flatMap(([name, channelId]) => {
        const counted = byId.get(channelId);
        return counted ? [[name, { ...counted, subscription: ownById.get(channelId) }] as const] : [];
      }),
    ),
    users: new Map(users.map((user) => [user.userId, user])),
    subscriptions: new Map(subscriptions.map((each) => [pairOf(each.userId, each.channelId), each])),
    formers: new Map(formers.map((each) => [pairOf(each.userId, each.channelId), each])),
  };
}

/** The same for a request that may have to create channels. */
export interface SubscribeSnapshot extends Snapshot {
  /** The groups and people that the settings of new channels name. */
  readonly namedInSettings: NamedInSettings;
  /** The folder that is given for new channels, if there is one. */
  readonly folder: Folder | undefined;
  /** How many bytes the organization's channels take. */
  readonly channelBytes: number;
}

/** Reads the snapshot of a request to subscribe people, in one round trip. */
export async function loadSubscribeSnapshot(
  table: Table,
  realm: string,
  callerId: number,
  ids: ChannelIds,
  people: readonly number[],
  settings: ChannelGroupInput & { readonly folder_id?: number | null | undefined },
): Promise<SubscribeSnapshot> {
  const [snapshot, namedInSettings, folder, channelBytes] = await Promise.all([
    loadSnapshot(table, realm, callerId, ids, people),
    loadNamedInSettings(table, realm, groupSettingsOf(settings)),
    loadFolder(table, realm, settings.folder_id),
    loadQuotaUse(table, realm, 'channels'),
  ]);
  return { ...snapshot, namedInSettings, folder, channelBytes };
}
