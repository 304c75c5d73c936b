import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasMetadataAccess } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import { channelObject } from '../channel/object.ts';
import type { Standing } from '../permission/permission.ts';
import { settingsOf } from '../user/settings.ts';
import { loadSomeChannels, loadSubscriberIds, subscriptionObject, withoutNull } from './object.ts';

/** Who is shown channels, and how their client wants them. */
export interface Onlooker {
  readonly standing: Standing;
  /** It can handle archived ones. */
  readonly archived: boolean;
  /** It wants to know who is subscribed to them. */
  readonly subscribers: boolean;
  /** It can handle null for what follows personal settings. */
  readonly unset: boolean;
}

/** A channel, or a subscription, as far as it matters who is subscribed too. */
export interface Told {
  readonly stream_id: number;
  readonly subscriber_count: number;
}

/**
 * The channels or subscriptions with who is subscribed to them, for clients that want to know: what they hear later of
 * people who came before that they know already. One round trip for those; it costs what the reply does.
 */
export const withSubscribers = async <C extends Told>(
  table: Table,
  realm: string,
  { subscribers }: Onlooker,
  channels: readonly C[],
): Promise<readonly C[]> =>
  subscribers
    ? Promise.all(
        channels.map(async (channel) => {
          const ids = await loadSubscriberIds(table, realm, channel.stream_id);
          return { ...channel, subscriber_count: ids.length, subscribers: ids };
        }),
      )
    : channels;

/** Subscriptions as the client of whom they are can handle them. One round trip, and one for who else is there. */
export async function withSettings<S extends Told>(
  table: Table,
  realm: string,
  onlooker: Onlooker,
  subscriptions: readonly S[],
): Promise<readonly S[]> {
  const { userId } = onlooker.standing;
  const [told, stored] = await Promise.all([
    withSubscribers(table, realm, onlooker, subscriptions),
    onlooker.unset ? undefined : table.get('settings', { realm, userId }),
  ]);
  const settings = onlooker.unset ? undefined : settingsOf(stored);
  return told.map((each) => withoutNull(each, settings));
}

/** What somebody is subscribed to of these channels, as their client sees it. Two round trips. */
export async function loadOwnSubscriptions(
  table: Table,
  realm: string,
  onlooker: Onlooker,
  channelIds: readonly number[],
) {
  const [counted, own] = await Promise.all([
    loadSomeChannels(table, realm, channelIds),
    loadSubscriptions(table, realm, onlooker.standing.userId, channelIds),
  ]);
  const subscribed = counted.flatMap((each) => {
    const subscription = own.get(each.channel.channelId);
    return subscription === undefined ? [] : [subscriptionObject(each, subscription)];
  });
  return withSettings(table, realm, onlooker, subscribed);
}

async function loadSubscriptions(
  table: Table,
  realm: string,
  userId: number,
  channelIds: readonly number[],
): Promise<ReadonlyMap<number, Subscription>> {
  const found = await table.getMany(
    channelIds.map((channelId) => key('subscription', { realm, userId, channelId })),
  );
  return new Map(found.map((subscription) => [subscription.channelId, subscription]));
}

/** Those of some channels of which somebody may know, as their client sees them. One or two round trips. */
export async function loadShownChannels(
  table: Table,
  realm: string,
  onlooker: Onlooker,
  channelIds: readonly number[],
) {
  const { standing, archived } = onlooker;
  const [counted, own] = await Promise.all([
    loadSomeChannels(table, realm, channelIds),
    loadSubscriptions(table, realm, standing.userId, channelIds),
  ]);
  const shown = counted
    .filter(({ channel }) => archived || !channel.isArchived)
    .filter(({ channel }) =>
      hasMetadataAccess(standing, { channel, subscription: own.get(channel.channelId) }),
    )
    .map(({ channel, count }) => channelObject(channel, count));
  return withSubscribers(table, realm, onlooker, shown);
}
