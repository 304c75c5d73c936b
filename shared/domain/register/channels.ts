import { hasMetadataAccess } from '../../model/channel/access.ts';
import type { Channel, Subscription } from '../../model/channel/channel.ts';
import { folderObjects, loadFolders } from '../../model/channel/folder.ts';
import { channelObject } from '../../model/channel/object.ts';
import { isGuest } from '../../model/permission/permission.ts';
import {
  byName,
  type CountedChannel,
  splitChannels,
  subscriptionObject,
  withoutNull,
} from '../../model/subscription/object.ts';
import type { Asking, Section } from './section.ts';

/** Lists of subscribers that are asked for at once, one query each: when more wait for a connection, the client warns. */
const TOGETHER = 150;

/** What the caller is, was and could be subscribed to. */
const subscription: Section = async (asking) => {
  const { caller, outside } = asking;
  if (asking.includeSubscribers) void expectSubscribers(asking);
  const [channels, subscriptions, settings] = await Promise.all([
    asking.channels(),
    asking.subscriptions(),
    asking.capabilities.includes('notification_settings_null') ? undefined : asking.settings(),
  ]);
  const split = splitChannels(caller.standing, channels.filter(isFor(asking)), subscriptions);
  const { subscribed, unsubscribed, neverSubscribed } = split;
  const shown = [...subscribed, ...unsubscribed, ...neverSubscribed];
  const subscribers = asking.includeSubscribers ? await loadSubscribers(asking, shown) : undefined;
  const now = outside.now();
  const listed = ({ channel }: CountedChannel) => {
    const ids = subscribers?.get(channel.channelId);
    return ids === undefined ? {} : { subscribers: ids, ...countOf(ids) };
  };
  const asOwn = (each: (typeof subscribed | typeof unsubscribed)[number]) => ({
    ...withoutNull(subscriptionObject(each, each.subscription, now), settings),
    ...listed(each),
  });
  const [current, former, others] = await Promise.all([
    asking.firsts.tellIn(subscribed.map(asOwn)),
    asking.firsts.tellIn(unsubscribed.map(asOwn)),
    asking.firsts.tellIn(
      neverSubscribed.map((each) => ({ ...channelObject(each.channel, each.count, now), ...listed(each) })),
    ),
  ]);
  return { subscriptions: current, unsubscribed: former, never_subscribed: others };
};

/**
 * Where the subscribers are told, they are what is counted: the stored count is another read, between which and the list
 * somebody may have come, and clients change the count as they change the list.
 */
const countOf = (subscribers: readonly number[] | undefined) =>
  subscribers === undefined ? {} : { subscriber_count: subscribers.length };

/** Channels that the client can handle: archived ones only where it says so. */
const isFor =
  ({ capabilities }: Asking) =>
  ({ channel }: CountedChannel): boolean =>
    !channel.isArchived || capabilities.includes('archived_channels');

/** Who is subscribed to these channels, as far as the caller may know of them. */
async function loadSubscribers(
  asking: Asking,
  channels: readonly CountedChannel[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const ids = known(
    asking,
    channels.map(({ channel }) => channel),
    await asking.reader.subscriptions(),
  );
  const found = new Map<number, readonly number[]>();
  for (let start = 0; start < ids.length; start += TOGETHER) {
    const lists = ids
      .slice(start, start + TOGETHER)
      .map(async (id) => [id, await asking.subscribersOf(id)] as const);
    for (const [id, list] of await Promise.all(lists)) found.set(id, list);
  }
  return found;
}

/** Begins to read the lists of subscribers that are probably told. */
async function expectSubscribers(asking: Asking): Promise<void> {
  const { channels, reader } = asking.hints;
  for (const channelId of known(asking, channels, await reader.subscriptions()).slice(0, TOGETHER)) {
    void asking.subscribersOf(channelId);
  }
}

/** The ids of those of the channels whose subscribers the caller may know. */
const known = (
  { caller }: Asking,
  channels: readonly Channel[],
  own: ReadonlyMap<number, Subscription>,
): number[] =>
  channels
    .filter((channel) =>
      hasMetadataAccess(caller.standing, { channel, subscription: own.get(channel.channelId) }),
    )
    .map(({ channelId }) => channelId);

/** The channels that the caller may know of, and their client can handle. */
export async function shownChannels(asking: Asking): Promise<readonly CountedChannel[]> {
  const [channels, own] = await Promise.all([asking.channels(), asking.reader.subscriptions()]);
  return channels
    .filter(isFor(asking))
    .filter(({ channel }) =>
      hasMetadataAccess(asking.caller.standing, { channel, subscription: own.get(channel.channelId) }),
    );
}

const stream: Section = async (asking) => {
  const shown = await shownChannels(asking);
  const tellsSubscribers =
    asking.includeSubscribers && (asking.types === undefined || asking.types.has('subscription'));
  const subscribers = tellsSubscribers ? await loadSubscribers(asking, shown) : undefined;
  const now = asking.outside.now();
  return {
    streams: await asking.firsts.tellIn(
      byName(shown).map(({ channel, count }) => ({
        ...channelObject(channel, count, now),
        ...countOf(subscribers?.get(channel.channelId)),
      })),
    ),
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
