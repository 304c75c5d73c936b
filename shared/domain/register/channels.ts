import { hasMetadataAccess } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { defaultGroupObjects, loadDefaultGroups } from '../../model/channel/default-groups.ts';
import { folderObjects, loadFolders } from '../../model/channel/folder.ts';
import { channelObject } from '../../model/channel/object.ts';
import { isGuest } from '../../model/permission/permission.ts';
import {
  byName,
  type CountedChannel,
  loadFormer,
  splitChannels,
  subscriptionObject,
  withoutNull,
} from '../../model/subscription/object.ts';
import type { Reader } from '../reader/reader.ts';
import type { Sections, StateContext } from './section.ts';

/** Most lists of subscribers read at once, one query each: with more in the queue, the AWS client logs a warning. */
const MAX_AT_ONCE = 150;

/** The present, former and possible subscriptions of the caller. */
async function subscriptionSection(context: StateContext): Promise<object> {
  const { caller, outside, reader, firsts, includeSubscribers, capabilities } = context;
  if (includeSubscribers) void prefetchSubscribers(context);
  const [channels, current, former, settings] = await Promise.all([
    context.channels(),
    reader.subscriptions(),
    loadFormer(outside.table, caller.realmId, caller.user.userId),
    capabilities.includes('notification_settings_null') ? undefined : context.settings(),
  ]);
  const { subscribed, unsubscribed, neverSubscribed } = splitChannels(
    caller.standing,
    channels.filter(isSupported(context)),
    { current: [...current.values()], former },
  );
  const shown = [...subscribed, ...unsubscribed, ...neverSubscribed];
  const subscribers = includeSubscribers ? await loadSubscribers(context, shown) : undefined;
  const now = outside.now();
  const subscribersIn = ({ channel }: CountedChannel) => {
    const ids = subscribers?.get(channel.channelId);
    return ids && { subscribers: ids, ...countOf(ids) };
  };
  const asOwn = (each: (typeof subscribed | typeof unsubscribed)[number]) => ({
    ...withoutNull(subscriptionObject(each, each.subscription, now), settings),
    ...subscribersIn(each),
  });
  const asOther = (each: CountedChannel) => ({
    ...channelObject(each.channel, each.count, now),
    ...subscribersIn(each),
  });
  const [subscriptions, formerOnes, never] = await Promise.all([
    firsts.completeAll(subscribed.map(asOwn)),
    firsts.completeAll(unsubscribed.map(asOwn)),
    firsts.completeAll(neverSubscribed.map(asOther)),
  ]);
  return { subscriptions, unsubscribed: formerOnes, never_subscribed: never };
}

/**
 * The count of a list of subscribers that is sent too. The stored count is read separately, so it may include a
 * subscriber who is not in the list; clients change both together.
 */
const countOf = (subscribers: readonly number[] | undefined) =>
  subscribers && { subscriber_count: subscribers.length };

/** Archived channels are only for clients that support them. */
const isSupported =
  ({ capabilities }: StateContext) =>
  ({ channel }: CountedChannel): boolean =>
    !channel.isArchived || capabilities.includes('archived_channels');

/** Whether the caller may see a channel and its subscribers. */
async function loadIsVisible(
  { caller }: StateContext,
  reader: Reader,
): Promise<(channel: Channel) => boolean> {
  const own = await reader.subscriptions();
  return (channel) =>
    hasMetadataAccess(caller.standing, { channel, subscription: own.get(channel.channelId) });
}

/** Loads the subscribers of those of the channels whose subscribers the caller may see. */
async function loadSubscribers(
  context: StateContext,
  channels: readonly CountedChannel[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const isVisible = await loadIsVisible(context, context.reader);
  const ids = channels
    .filter(({ channel }) => isVisible(channel))
    .map(({ channel: { channelId } }) => channelId);
  const found = new Map<number, readonly number[]>();
  for (let start = 0; start < ids.length; start += MAX_AT_ONCE) {
    const some = ids.slice(start, start + MAX_AT_ONCE);
    const lists = await Promise.all(some.map((id) => context.subscribersOf(id)));
    some.forEach((id, i) => void found.set(id, lists[i] ?? []));
  }
  return found;
}

/** Starts to read the lists of subscribers that are probably needed. */
async function prefetchSubscribers(context: StateContext): Promise<void> {
  const { channels, reader } = context.hints;
  const isVisible = await loadIsVisible(context, reader);
  for (const { channelId } of channels.filter(isVisible).slice(0, MAX_AT_ONCE)) {
    void context.subscribersOf(channelId);
  }
}

/** The channels that the caller can see and the client supports. */
export async function loadVisibleChannels(context: StateContext): Promise<readonly CountedChannel[]> {
  const [channels, isVisible] = await Promise.all([
    context.channels(),
    loadIsVisible(context, context.reader),
  ]);
  return channels.filter(isSupported(context)).filter(({ channel }) => isVisible(channel));
}

async function streamSection(context: StateContext): Promise<object> {
  const { includeSubscribers, types, firsts, outside } = context;
  const channels = await loadVisibleChannels(context);
  const sendsSubscribers = includeSubscribers && (types === undefined || types.has('subscription'));
  const subscribers = sendsSubscribers ? await loadSubscribers(context, channels) : undefined;
  const now = outside.now();
  return {
    streams: await firsts.completeAll(
      byName(channels).map(({ channel, count }) => ({
        ...channelObject(channel, count, now),
        ...countOf(subscribers?.get(channel.channelId)),
      })),
    ),
  };
}

/** The folders of channels, including archived ones (wire facts 5). */
const folderSection = async ({ outside, caller }: StateContext): Promise<object> => ({
  channel_folders: folderObjects(await loadFolders(outside.table, caller.realmId), true),
});

export const channelSections: Sections = {
  subscription: subscriptionSection,
  stream: streamSection,
  /** The channels to which new members are subscribed. Guests do not see them. */
  default_streams: async ({ channels, caller }) => ({
    realm_default_streams: isGuest(caller.standing)
      ? []
      : (await channels())
          .filter(({ channel }) => channel.isDefault && !channel.isArchived)
          .map(({ channel }) => channel.channelId),
  }),
  /** Guests do not see these either. */
  default_stream_groups: async ({ channels, caller, outside }) => {
    if (isGuest(caller.standing)) return { realm_default_stream_groups: [] };
    const [stored, all] = await Promise.all([loadDefaultGroups(outside.table, caller.realmId), channels()]);
    return {
      realm_default_stream_groups: defaultGroupObjects(
        stored,
        all.map(({ channel }) => channel),
      ),
    };
  },
  // The events are called `channel_folder`; clients fetch the state under either name.
  channel_folder: folderSection,
  channel_folders: folderSection,
};
