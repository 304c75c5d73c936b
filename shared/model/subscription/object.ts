import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasContentAccess, hasMetadataAccess } from '../channel/access.ts';
import type {
  Channel,
  ChannelCount,
  FormerSubscription,
  Subscription,
  SubscriptionSettings,
} from '../channel/channel.ts';
import { channelObject } from '../channel/object.ts';
import { isGuest, type Standing } from '../permission/permission.ts';
import type { Caller } from '../user/caller.ts';
import type { UserSettings } from '../user/user.ts';

/** A channel with its counters, which are a separate item. */
export interface CountedChannel {
  readonly channel: Channel;
  readonly count: ChannelCount | undefined;
}

/** Someone's present and former subscriptions. */
export interface Subscriptions {
  readonly current: readonly Subscription[];
  readonly former: readonly FormerSubscription[];
}

/**
 * A subscription on the wire: the channel and the subscriber's settings for it (wire facts 4.6). Settings that follow the
 * user's are null. `now` is in milliseconds.
 */
export const subscriptionObject = (
  { channel, count }: CountedChannel,
  settings: SubscriptionSettings,
  now?: number,
) => ({
  ...channelObject(channel, count, now),
  color: settings.color,
  is_muted: settings.isMuted,
  in_home_view: !settings.isMuted,
  pin_to_top: settings.pinToTop,
  desktop_notifications: settings.desktopNotifications ?? null,
  audible_notifications: settings.audibleNotifications ?? null,
  push_notifications: settings.pushNotifications ?? null,
  email_notifications: settings.emailNotifications ?? null,
  wildcard_mentions_notify: settings.wildcardMentionsNotify ?? null,
});

/** The settings of a subscription that are null while they follow the user's. */
const inherited = {
  desktop_notifications: 'enable_stream_desktop_notifications',
  audible_notifications: 'enable_stream_audible_notifications',
  push_notifications: 'enable_stream_push_notifications',
  email_notifications: 'enable_stream_email_notifications',
  wildcard_mentions_notify: 'wildcard_mentions_notify',
} as const satisfies Partial<Record<keyof ReturnType<typeof subscriptionObject>, keyof UserSettings>>;

/** A subscription for clients that do not support null settings (wire facts 14.1). */
export const withoutNull = <S extends object>(subscription: S, settings: UserSettings | undefined): S =>
  settings === undefined
    ? subscription
    : {
        ...subscription,
        ...Object.fromEntries(
          Object.entries(inherited).map(([name, setting]) => [
            name,
            subscription[name as keyof S] ?? settings[setting],
          ]),
        ),
      };

/** Someone's subscriptions. One round trip. */
export const loadCurrent = (table: Table, realm: string, userId: number): Promise<Subscription[]> =>
  table.all('subscription', { realm, userId });

/** Someone's former subscriptions. One round trip. */
export const loadFormer = (table: Table, realm: string, userId: number): Promise<FormerSubscription[]> =>
  table.all('former', { realm, userId });

/**
 * All channels of the organization with their counters, regardless of access. One round trip, and another if a channel
 * was created between the two queries: every channel has counters. `loading` can replace the read of the channels, as
 * by `loadList`.
 */
export async function loadChannels(
  table: Table,
  realm: string,
  loading: Promise<readonly Channel[]> = table.all('channel', { realm }),
): Promise<CountedChannel[]> {
  const [channels, counts] = await Promise.all([loading, table.all('channelCount', { realm })]);
  const known = new Set(counts.map(({ channelId }) => channelId));
  const late = await table.getMany(
    channels
      .filter(({ channelId }) => !known.has(channelId))
      .map(({ channelId }) => key('channelCount', { realm, channelId })),
  );
  const byId = new Map([...counts, ...late].map((count) => [count.channelId, count]));
  return channels.map((channel) => ({ channel, count: byId.get(channel.channelId) }));
}

/** From so many channels on, reading each costs more than one query for all that an organization may have. */
const CHEAPER_TO_LIST = 200;

/** Those of some channels that exist, with their counters. One round trip. */
export async function loadSomeChannels(
  table: Table,
  realm: string,
  channelIds: readonly number[],
): Promise<CountedChannel[]> {
  if (channelIds.length >= CHEAPER_TO_LIST) {
    const wanted = new Set(channelIds);
    return (await loadChannels(table, realm)).filter(({ channel }) => wanted.has(channel.channelId));
  }
  const found = await Promise.all(
    channelIds.map(async (channelId) => {
      const [channel, count] = await Promise.all([
        table.get('channel', { realm, channelId }),
        table.get('channelCount', { realm, channelId }),
      ]);
      return channel === undefined ? [] : [{ channel, count }];
    }),
  );
  return found.flat();
}

/** Someone's subscriptions to some channels, by channel id. One round trip. */
export async function loadSomeSubscriptions(
  table: Table,
  realm: string,
  userId: number,
  channelIds: readonly number[],
): Promise<ReadonlyMap<number, Subscription>> {
  const keys = channelIds.map((channelId) => key('subscription', { realm, userId, channelId }));
  return byChannelId(await table.getMany(keys));
}

/** The ids of a channel's subscribers, ascending. One round trip; the cost is that of the reply. */
export async function loadSubscriberIds(table: Table, realm: string, channelId: number): Promise<number[]> {
  const subscribers = await table.all('subscriber', { realm, channelId });
  return subscribers.map(({ userId }) => userId);
}

/**
 * Splits channels into the three lists of the register reply: subscribed, formerly subscribed and still visible, and the
 * other visible ones. Each is ordered by name.
 */
export function splitChannels(
  who: Standing,
  channels: readonly CountedChannel[],
  { current, former }: Subscriptions,
): {
  readonly subscribed: readonly (CountedChannel & { readonly subscription: Subscription })[];
  readonly unsubscribed: readonly (CountedChannel & { readonly subscription: FormerSubscription })[];
  readonly neverSubscribed: readonly CountedChannel[];
} {
  const currentById = byChannelId(current);
  const formerById = byChannelId(former);
  const subscribed: (CountedChannel & { subscription: Subscription })[] = [];
  const unsubscribed: (CountedChannel & { subscription: FormerSubscription })[] = [];
  const neverSubscribed: CountedChannel[] = [];
  for (const counted of byName(channels)) {
    const { channelId } = counted.channel;
    const subscription = currentById.get(channelId);
    const before = formerById.get(channelId);
    if (subscription) subscribed.push({ ...counted, subscription });
    else if (!hasMetadataAccess(who, { channel: counted.channel, subscription: undefined })) continue;
    else if (before) unsubscribed.push({ ...counted, subscription: before });
    else neverSubscribed.push(counted);
  }
  return { subscribed, unsubscribed, neverSubscribed };
}

/** Channels ordered by name, as on the wire. */
export const byName = <C extends { readonly channel: Channel }>(channels: readonly C[]): C[] =>
  [...channels].sort((a, b) =>
    a.channel.name < b.channel.name ? -1 : a.channel.name > b.channel.name ? 1 : 0,
  );

/** The parameters of `GET /streams` that select channels. */
interface ChannelFilter {
  readonly include_public?: boolean;
  readonly include_web_public?: boolean;
  readonly include_subscribed?: boolean;
  readonly exclude_archived?: boolean;
  readonly include_all?: boolean;
  readonly include_owner_subscribed?: boolean;
  readonly include_can_access_content?: boolean;
}

/** Subscriptions by channel id. */
export const byChannelId = <S extends { readonly channelId: number }>(
  subscriptions: readonly S[],
): ReadonlyMap<number, S> => new Map(subscriptions.map((each) => [each.channelId, each]));

/**
 * The channels of `GET /streams`, ordered by name. Each filter adds channels. Only channels that the caller can see are
 * listed, and for a bot those of its owner.
 */
export function selectChannels(
  { standing }: Caller,
  filter: ChannelFilter,
  channels: readonly CountedChannel[],
  own: readonly Subscription[],
  owners: readonly Subscription[],
): CountedChannel[] {
  const ownById = byChannelId(own);
  const ownersById = byChannelId(owners);
  const isShown = (channel: Channel): boolean => {
    if (channel.isArchived && (filter.exclude_archived ?? true)) return false;
    const seen = { channel, subscription: ownById.get(channel.channelId) };
    if (filter.include_all) return hasMetadataAccess(standing, seen);
    return (
      (filter.include_can_access_content && hasContentAccess(standing, seen)) ||
      ((filter.include_subscribed ?? true) && seen.subscription !== undefined) ||
      ((filter.include_public ?? true) && !channel.isPrivate && !isGuest(standing)) ||
      (filter.include_web_public && channel.isWebPublic && !channel.isArchived) ||
      (filter.include_owner_subscribed && ownersById.has(channel.channelId)) ||
      false
    );
  };
  return byName(channels.filter(({ channel }) => isShown(channel)));
}
