import type { Outside } from '../../kernel/outside.ts';
import type { MembershipChange, Payload } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasMetadataAccess } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import { channelObject } from '../channel/object.ts';
import {
  isGuest,
  isSystemGroup,
  roles,
  type Standing,
  standingOf,
  withSupergroups,
} from '../permission/permission.ts';
import { type Caller, directGroups } from '../user/caller.ts';
import { settingsOf } from '../user/user.ts';
import {
  byChannelId,
  type CountedChannel,
  loadChannels,
  loadCurrent,
  loadSomeChannels,
  loadSomeSubscriptions,
  loadSubscriberIds,
  subscriptionObject,
  withoutNull,
} from './object.ts';

/** A user who gets channels, and what their client supports. */
export interface Viewer {
  readonly standing: Standing;
  /** Supports archived channels. */
  readonly archived: boolean;
  /** Wants lists of subscribers. */
  readonly subscribers: boolean;
  /** Supports null for settings that follow the user's. */
  readonly unset: boolean;
}

/** The fields of a channel or subscription on the wire that depend on its subscribers. */
export interface SubscriberFields {
  readonly stream_id: number;
  readonly subscriber_count: number;
}

/**
 * Adds the lists of subscribers for clients that want them. Clients ignore later events about people who are in the list
 * already. One round trip; the cost is that of the reply.
 */
export const withSubscribers = async <C extends SubscriberFields>(
  table: Table,
  realm: string,
  { subscribers }: Viewer,
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

/** Subscriptions in the form that the subscriber's client supports. One or two round trips. */
export async function withSettings<S extends SubscriberFields>(
  table: Table,
  realm: string,
  viewer: Viewer,
  subscriptions: readonly S[],
): Promise<readonly S[]> {
  const { userId } = viewer.standing;
  const [complete, stored] = await Promise.all([
    withSubscribers(table, realm, viewer, subscriptions),
    viewer.unset ? undefined : table.get('settings', { realm, userId }),
  ]);
  const settings = viewer.unset ? undefined : settingsOf(stored);
  return complete.map((each) => withoutNull(each, settings));
}

/** The viewer's subscriptions to these channels. Two round trips. */
export async function loadOwnSubscriptions(
  table: Table,
  realm: string,
  viewer: Viewer,
  channelIds: readonly number[],
) {
  const channels = await loadViewed(table, realm, viewer.standing.userId, channelIds);
  const subscribed = channels.flatMap(({ channel, count, subscription }) =>
    subscription === undefined ? [] : [subscriptionObject({ channel, count }, subscription)],
  );
  return withSettings(table, realm, viewer, subscribed);
}

/** Those of these channels that the viewer can see. One or two round trips. */
export async function loadVisibleChannels(
  table: Table,
  realm: string,
  viewer: Viewer,
  channelIds: readonly number[],
) {
  const { standing, archived } = viewer;
  const shown = (await loadViewed(table, realm, standing.userId, channelIds))
    .filter((seen) => (archived || !seen.channel.isArchived) && hasMetadataAccess(standing, seen))
    .map(({ channel, count }) => channelObject(channel, count));
  return withSubscribers(table, realm, viewer, shown);
}

/*
 * Who gains or loses sight of private channels because they joined or left a group in the settings of channels. As with
 * changes of a channel (`model/channel/access.ts`), the writer does not list these people and channels. The log stores the
 * membership change, and each reader decides for itself, from present groups and settings. Others read nothing.
 */

/** The event for one viewer; undefined if nothing changed for them. Two round trips for those concerned, and one for subscribers. */
export async function expandMembershipChange(
  outside: Outside,
  caller: Caller & Viewer,
  payload: Payload,
  through: MembershipChange,
): Promise<Payload | undefined> {
  if (!isAbout(through, caller)) return undefined;
  const groups = [...withSupergroups(caller.graph, [through.group])];
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

/** Whether the viewer joined or left. A guest sees no channel through a group. */
function isAbout({ members, subgroups, joined }: MembershipChange, { user, standing }: Caller): boolean {
  if (isGuest(standing)) return false;
  if (joined !== undefined) {
    const at = Date.parse(user.dateJoined);
    return user.role === roles.member && at > joined[0] && at <= joined[1];
  }
  return members?.includes(user.userId) === true || subgroups?.some((id) => standing.groups.has(id)) === true;
}

/** A channel with the viewer's subscription. */
interface ViewedChannel extends CountedChannel {
  readonly subscription: Subscription | undefined;
}

/** Those of some channels that exist; without ids, all channels. One round trip, seldom two. */
async function loadViewed(
  table: Table,
  realm: string,
  userId: number,
  channelIds?: readonly number[],
): Promise<readonly ViewedChannel[]> {
  const [channels, own] = await Promise.all([
    channelIds === undefined ? loadChannels(table, realm) : loadSomeChannels(table, realm, channelIds),
    channelIds === undefined
      ? loadCurrent(table, realm, userId).then(byChannelId)
      : loadSomeSubscriptions(table, realm, userId, channelIds),
  ]);
  return channels.map((counted) => ({ ...counted, subscription: own.get(counted.channel.channelId) }));
}

/** The channels with one of the groups in their settings. For system groups there is no index, so all channels. */
async function loadNaming(
  { table }: Outside,
  { realmId: realm, user: { userId } }: Caller,
  groups: readonly number[],
): Promise<readonly ViewedChannel[]> {
  const [changed] = groups;
  if (changed !== undefined && isSystemGroup(changed)) return loadViewed(table, realm, userId);
  const uses = await table.getMany(groups.map((groupId) => key('groupUse', { realm, groupId })));
  const ids = [...new Set(uses.flatMap(({ channels }) => [...(channels ?? [])]))];
  return loadViewed(table, realm, userId, ids);
}

/** The viewer's standing if they had not joined the group. */
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

/** The viewer's standing if they were still in these groups. */
const standingWith = ({ standing }: Caller, groups: readonly number[]): Standing => ({
  ...standing,
  groups: new Set([...standing.groups, ...groups]),
});
