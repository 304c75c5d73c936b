import { hasContentAccess } from '../channel/channel-access.ts';
import { channelObject } from '../channel/channel-object.ts';
import { folderObjects, loadFolders } from '../channel/folder.ts';
import { isGuest } from '../permission.ts';
import { limits } from '../realm/realm.ts';
import {
  byName,
  type CountedChannel,
  loadSubscriberIds,
  splitChannels,
  subscriptionObject,
} from '../subscription/subscription-object.ts';
import type { Asking, Section } from './initial-section.ts';

/** Lists of subscribers that are read side by side: one query each, and there can be many channels. */
const TOGETHER = 50;

/** What the caller is, was and could be subscribed to. */
const subscription: Section = async (asking) => {
  const { caller, outside } = asking;
  const [channels, subscriptions] = await Promise.all([asking.channels(), asking.subscriptions()]);
  const split = splitChannels(caller.standing, channels.filter(isFor(asking)), subscriptions);
  const { subscribed, unsubscribed, neverSubscribed } = split;
  const shown = [...subscribed, ...unsubscribed, ...neverSubscribed];
  const subscribers = asking.includeSubscribers ? await loadSubscribers(asking, shown) : undefined;
  const now = outside.now();
  const listed = ({ channel }: CountedChannel) => {
    const ids = subscribers?.get(channel.channelId);
    return ids === undefined ? {} : { subscribers: ids };
  };
  return {
    subscriptions: subscribed.map((each) => ({
      ...subscriptionObject(each, each.subscription, now),
      ...listed(each),
    })),
    unsubscribed: unsubscribed.map((each) => ({
      ...subscriptionObject(each, each.subscription, now),
      ...listed(each),
    })),
    never_subscribed: neverSubscribed.map((each) => ({
      ...channelObject(each.channel, each.count, now),
      ...listed(each),
    })),
  };
};

/** Channels that the client can handle: archived ones only where it says so. */
const isFor =
  ({ capabilities }: Asking) =>
  ({ channel }: CountedChannel): boolean =>
    !channel.isArchived || capabilities.includes('archived_channels');

/** Who is subscribed to these channels, as far as the caller may read them. */
async function loadSubscribers(
  { outside, caller, subscriptions }: Asking,
  channels: readonly CountedChannel[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const own = new Map((await subscriptions()).current.map((each) => [each.channelId, each]));
  const readable = channels.filter(({ channel }) =>
    hasContentAccess(caller.standing, { channel, subscription: own.get(channel.channelId) }),
  );
  const found = new Map<number, readonly number[]>();
  for (let start = 0; start < readable.length; start += TOGETHER) {
    await Promise.all(
      readable.slice(start, start + TOGETHER).map(async ({ channel: { channelId } }) => {
        found.set(channelId, await loadSubscriberIds(outside.table, caller.realmId, channelId));
      }),
    );
  }
  return found;
}

/** The channels that the caller may read without more ado: public ones, and their own. */
const stream: Section = async (asking) => {
  const { caller, outside } = asking;
  const [channels, { current }] = await Promise.all([asking.channels(), asking.subscriptions()]);
  const own = new Map(current.map((each) => [each.channelId, each]));
  const shown = channels
    .filter(isFor(asking))
    .filter(({ channel }) =>
      hasContentAccess(caller.standing, { channel, subscription: own.get(channel.channelId) }),
    );
  const now = outside.now();
  return {
    streams: byName(shown).map(({ channel, count }) => channelObject(channel, count, now)),
    stream_name_max_length: limits.channelName,
    stream_description_max_length: limits.channelDescription,
  };
};

/** The channels to which new members are subscribed; guests are not told. */
const defaults: Section = async ({ channels, caller }) => ({
  realm_default_streams: isGuest(caller.standing)
    ? []
    : (await channels())
        .filter(({ channel }) => channel.isDefault && !channel.isArchived)
        .map(({ channel }) => channel.channelId),
});

/** The folders of channels, archived ones too (wire facts 5). */
const folders: Section = async ({ outside, caller }) => ({
  channel_folders: folderObjects(await loadFolders(outside.table, caller.realmId), true),
});

export const channelSections = {
  subscription,
  stream,
  default_streams: defaults,
  // The events are called `channel_folder`; clients fetch the state under either name.
  channel_folder: folders,
  channel_folders: folders,
} satisfies Record<string, Section>;
