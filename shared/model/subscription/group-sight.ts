import type { Outside } from '../../kernel/outside.ts';
import type { MembershipChange, Payload } from '../../log/slot.ts';
import { key } from '../../table/keys.ts';
import { hasMetadataAccess } from '../channel/access.ts';
import type { Subscription } from '../channel/channel.ts';
import { channelObject } from '../channel/object.ts';
import { allSupergroupsOf } from '../group/graph.ts';
import { isGuest, type Standing, standingOf } from '../permission/permission.ts';
import { isSystemGroup, roles } from '../permission/system-group.ts';
import { type Caller, directGroups } from '../user/caller.ts';
import { type Onlooker, withSubscribers } from './channels-shown.ts';
import { type CountedChannel, loadChannels, loadCurrent, loadSomeChannels } from './object.ts';

/*
 * Who comes to know of private channels, or forgets them, since they came into a group or left it that settings of
 * channels name. As with changes of a channel (`channel-sight.ts`), nobody counts these people and channels when it
 * happens: the log keeps what was changed, and each of them finds out for themselves, from the groups and settings as
 * they are when they listen. Whoever it cannot be about reads nothing.
 */

/** The event for one listener; undefined where nothing changed for them. Two round trips for those who changed, and one for subscribers. */
export async function filledWithSight(
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
