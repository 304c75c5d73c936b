import type { Channel } from '../../shared/model/channel/channel.ts';
import { type GroupSetting, roles, systemGroups } from '../../shared/model/permission/permission.ts';
import type { Known } from './known.ts';

/*
 * Who may see what, said once more and in another way than by the code under test: from what is stored, person by
 * person (specification 4.2, wire facts 4.1).
 */

/** The lowest role that is in the group of a role. The organizations of these tests have no waiting period. */
const lowest: Readonly<Record<number, number>> = {
  [systemGroups.owners.id]: roles.owner,
  [systemGroups.administrators.id]: roles.administrator,
  [systemGroups.moderators.id]: roles.moderator,
  [systemGroups.fullMembers.id]: roles.member,
  [systemGroups.members.id]: roles.member,
  [systemGroups.everyone.id]: roles.guest,
  [systemGroups.internet.id]: roles.guest,
};

const roleOf = ({ users }: Known, userId: number): number => users.get(userId)?.role ?? roles.guest;

function isIn(known: Known, userId: number, groupId: number): boolean {
  const low = lowest[groupId];
  if (low !== undefined) return roleOf(known, userId) <= low;
  return (
    known.belongings.get(userId)?.groupIds.includes(groupId) === true ||
    (known.edges[String(groupId)] ?? []).some((child) => isIn(known, userId, child))
  );
}

const holds = (known: Known, userId: number, setting: GroupSetting): boolean =>
  typeof setting === 'number'
    ? isIn(known, userId, setting)
    : setting.direct_members.includes(userId) ||
      setting.direct_subgroups.some((groupId) => isIn(known, userId, groupId));

export const isSubscribed = ({ belongings }: Known, userId: number, channelId: number): boolean =>
  belongings.get(userId)?.subscriptions.some((one) => one.channelId === channelId) === true;

const channelIn = ({ channels }: Known, channelId: number): Channel | undefined =>
  channels.find((channel) => channel.channelId === channelId);

/** Whether a user may read the channel. */
export function mayRead(known: Known, userId: number, channelId: number): boolean {
  const channel = channelIn(known, channelId);
  if (channel === undefined) return false;
  if (channel.isWebPublic || isSubscribed(known, userId, channelId)) return true;
  if (roleOf(known, userId) === roles.guest) return false;
  const { can_subscribe_group, can_add_subscribers_group } = channel.groups;
  return (
    !channel.isPrivate ||
    holds(known, userId, can_subscribe_group) ||
    holds(known, userId, can_add_subscribers_group)
  );
}

/** Whether a user may see that the channel exists. */
export function mayKnow(known: Known, userId: number, channelId: number): boolean {
  const channel = channelIn(known, channelId);
  if (channel === undefined) return false;
  const role = roleOf(known, userId);
  return (
    mayRead(known, userId, channelId) ||
    role <= roles.administrator ||
    (role !== roles.guest && holds(known, userId, channel.groups.can_administer_channel_group))
  );
}
