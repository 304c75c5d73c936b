import type { Outside } from '../../kernel/outside.ts';
import type { MembershipChange, Payload } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasMetadataAccess } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import { channelObject } from '../channel/object.ts';
import { allSupergroupsOf } from '../group/graph.ts';
import { isGuest, isSystemGroup, roles, type Standing, standingOf } from '../permission/permission.ts';
import { type Caller, directGroups } from '../user/caller.ts';
import { settingsOf } from '../user/user.ts';
import {
  type CountedChannel,
  loadChannels,
  loadCurrent,
  loadSomeChannels,
  loadSubscriberIds,
  subscriptionObject,
  withoutNull,
} from './object.ts';

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
export async function loadVisibleChannels(
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

/*
 * Who comes to know of private channels, or forgets them, since they came into a group or left it that settings of
 * channels name. As with changes of a channel (`channel-sight.ts`), nobody counts these people and channels when it
 * happens: the log keeps what was changed, and each of them finds out for themselves, from the groups and settings as
 * they are when they listen. Whoever it cannot be about reads nothing.
 */

/** The event for one listener; undefined where nothing changed for them. Two round trips for those who changed, and one for subscribers. */
export async function expandMembershipChange(
  outside: Outside,
  caller: Caller & Onlooker,
  payload: Payload,
  through: MembershipChange,
): Promise<Payload | undefined> {
  if (!isAbout(through, caller)) return undefined;
  const groups = [through.group, ...allSupergroupsOf(caller.graph, through.group)];
  const gains = payload.op === 'create';
  const [channels, other] = await Promise.all([
    loadNaming(outside, caller, groups),
    gains ? standingWithout(outside, caller, through) : standingWith(caller, groups),
  ]);
  const { standing } = caller;
  const [before, after] = gains ? [other, standing] : [standing, other];
  const changed = channels
    .filter((seen) => !hasMetadataAccess(before, seen) && hasMetadataAccess(after, seen))
    .filter(({ channel }) => caller.archived || !channel.isArchived);
  if (changed.length === 0) return undefined;
  if (gains) {
    const streams = changed.map(({ channel, count }) => channelObject(channel, count));
    return { ...payload, streams: await withSubscribers(outside.table, caller.realmId, caller, streams) };
  }
  const ids = changed.map(({ channel }) => channel.channelId);
  return { ...payload, stream_ids: ids, streams: ids.map((stream_id) => ({ stream_id })) };
}

/** Whether the listener is one of those who came or left. Guests know of no channel through a group. */
function isAbout({ members, subgroups, joined }: MembershipChange, { user, standing }: Caller): boolean {
  if (isGuest(standing)) return false;
  if (joined !== undefined) {
    const at = Date.parse(user.dateJoined);
    return user.role === roles.member && at > joined[0] && at <= joined[1];
  }
  return members?.includes(user.userId) === true || subgroups?.some((id) => standing.groups.has(id)) === true;
}

/** A channel with what the listener has to do with it. */
interface Looked extends CountedChannel {
  readonly subscription: Subscription | undefined;
}

/** The channels whose settings name one of the groups; which ones name a group of a role is not kept. */
async function loadNaming(
  { table }: Outside,
  { realmId: realm, user: { userId } }: Caller,
  groups: readonly number[],
): Promise<readonly Looked[]> {
  const [changed] = groups;
  if (changed !== undefined && isSystemGroup(changed)) {
    const [channels, own] = await Promise.all([
      loadChannels(table, realm),
      loadCurrent(table, realm, userId),
    ]);
    return withSubscriptions(channels, own);
  }
  const uses = await table.getMany(groups.map((groupId) => key('groupUse', { realm, groupId })));
  const ids = [...new Set(uses.flatMap(({ channels }) => [...(channels ?? [])]))];
  const [channels, own] = await Promise.all([
    loadSomeChannels(table, realm, ids),
    table.getMany(ids.map((channelId) => key('subscription', { realm, userId, channelId }))),
  ]);
  return withSubscriptions(channels, own);
}

function withSubscriptions(
  channels: readonly CountedChannel[],
  own: readonly Subscription[],
): readonly Looked[] {
  const byChannel = new Map(own.map((subscription) => [subscription.channelId, subscription]));
  return channels.map((counted) => ({ ...counted, subscription: byChannel.get(counted.channel.channelId) }));
}

/** The listener as they would be without having come into the group. */
async function standingWithout(
  outside: Outside,
  { realmId, user, graph, realm: { settings } }: Caller,
  { group, members, subgroups = [], joined }: MembershipChange,
): Promise<Standing> {
  const direct = await directGroups(outside, realmId, user.userId);
  const kept = members?.includes(user.userId) ? direct.filter((id) => id !== group) : direct;
  const children = graph.edges[String(group)]?.filter((id) => !subgroups.includes(id)) ?? [];
  const edges = { ...graph.edges, [String(group)]: children };
  const waitingDays = joined === undefined ? settings.waiting_period_threshold : Number.POSITIVE_INFINITY;
  return standingOf(user, kept, { ...graph, edges }, waitingDays, outside.now());
}

/** The listener as they would be in these groups still. */
const standingWith = ({ standing }: Caller, groups: readonly number[]): Standing => ({
  ...standing,
  groups: new Set([...standing.groups, ...groups]),
});
