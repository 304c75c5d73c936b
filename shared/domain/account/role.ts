import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { hasMetadataAccess } from '../../model/channel/access.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { channelsGone } from '../../model/channel/object.ts';
import { roleGroupEvents } from '../../model/group/role-groups.ts';
import {
  isAdministrator,
  isFullMember,
  isOwner,
  type Role,
  roles,
  type Standing,
  standingOf,
} from '../../model/permission/permission.ts';
import { loadCurrent } from '../../model/subscription/object.ts';
import {
  countOwner,
  isHumanOwner,
  type OwnerCount,
  personEvent,
  uncountOwner,
} from '../../model/user/activation.ts';
import { type Caller, directGroups } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { beyondRights, doEndInvitations, loadInvitationsOf } from '../invite/end.ts';

/** Checks a role. Only owners may make owners. */
export function checkNewRole({ standing }: Pick<Caller, 'standing'>, given: number): Role {
  const role = Object.values(roles).find((known) => known === given);
  if (role === undefined) throw badRequest(`'role' must be one of ${Object.values(roles).join(', ')}.`);
  if (role === roles.owner && !isOwner(standing)) throw refusal('notOwner');
  return role;
}

/**
 * Loads the snapshot for changing the role of a user: all channels, and the user's subscriptions, direct groups and
 * invitations. One round trip.
 */
export async function loadRoleSnapshot(outside: Outside, realm: string, userId: number) {
  const { table } = outside;
  const [owners, channels, subscriptions, groups, invitations] = await Promise.all([
    table.get('owners', { realm }),
    table.all('channel', { realm }),
    loadCurrent(table, realm, userId),
    directGroups(outside, realm, userId),
    loadInvitationsOf(outside, realm, userId),
  ]);
  return { owners, channels, subscriptions, groups, invitations };
}

export type RoleSnapshot = Awaited<ReturnType<typeof loadRoleSnapshot>>;

/**
 * Checks a role for a user: only owners make owners, and the last one stays. `checkManages` has checked that the
 * caller may manage the account.
 */
export function checkRoleChange(
  caller: Pick<Caller, 'standing'>,
  target: User,
  given: number,
  owners: OwnerCount | undefined,
): Role {
  const role = checkNewRole(caller, given);
  const losesOwner = isHumanOwner(target) && target.isActive && role !== target.role;
  if (losesOwner && (owners?.count ?? 0) <= 1) {
    throw badRequest('The only owner of an organization must stay one.');
  }
  return role;
}

/**
 * Changes a role, with its events. The caller adds `set` to the write of the account, on condition that the role and
 * `isActive` are unchanged, and then carries out `after`, which ends the invitations that the new role does not allow. `now` is in milliseconds.
 */
export function doChangeRole(
  { realmId, realm, graph }: Pick<Caller, 'realmId' | 'realm' | 'graph'>,
  target: User,
  role: Role,
  { channels, subscriptions, groups, invitations }: RoleSnapshot,
  now: number,
) {
  const { userId, isActive, isBot } = target;
  const counts = isActive && !isBot;
  const waitingDays = realm.settings.waiting_period_threshold;
  const isFull = isFullMember(target, waitingDays, now);
  const standingAs = (each: Role): Standing =>
    standingOf({ ...target, role: each }, groups, graph, waitingDays, now);
  const [before, after] = [standingAs(target.role), standingAs(role)];
  const own = new Map(subscriptions.map((subscription) => [subscription.channelId, subscription]));
  const sees = (who: Standing, channel: Channel): boolean =>
    hasMetadataAccess(who, { channel, subscription: own.get(channel.channelId) });
  const idsOf = (list: readonly Channel[]): number[] => list.map(({ channelId }) => channelId);
  return {
    set: { role },
    writes: [
      ...(counts && role === roles.owner ? [countOwner(realmId, userId)] : []),
      ...(counts && target.role === roles.owner ? [uncountOwner(realmId, userId)] : []),
    ],
    entries: [
      personEvent(userId, { role }),
      // Deactivated users are not in system groups.
      ...(isActive ? roleGroupEvents(userId, role, isFull, target.role) : []),
      ...channelVisibilityEvents(
        userId,
        idsOf(channels.filter((channel) => !sees(before, channel) && sees(after, channel))),
        idsOf(channels.filter((channel) => sees(before, channel) && !sees(after, channel))),
      ),
      ...defaultChannelEvents(userId, target.role, role),
    ],
    after: doEndInvitations(
      realmId,
      userId,
      isAdministrator(after),
      beyondRights({ standing: after, realm }, invitations),
    ),
  };
}

/** The events that tell a user which channels became visible or hidden to them. */
function channelVisibilityEvents(userId: number, gained: number[], lost: number[]): EventEntry[] {
  const hearers = { users: [userId] };
  return [
    ...(gained.length > 0
      ? [eventFor(hearers, { type: 'stream', op: 'create', stream_ids: gained }, { fill: 'channels' })]
      : []),
    ...(lost.length > 0 ? [eventFor(hearers, channelsGone(lost))] : []),
  ];
}

/** Guests see neither the default channels nor their groups. */
function defaultChannelEvents(userId: number, before: Role, after: Role): EventEntry[] {
  const isGuest = after === roles.guest;
  if (isGuest === (before === roles.guest)) return [];
  const hearers = { users: [userId] };
  return isGuest
    ? [
        eventFor(hearers, { type: 'default_streams', default_streams: [] }),
        eventFor(hearers, { type: 'default_stream_groups', default_stream_groups: [] }),
      ]
    : [
        eventFor(hearers, { type: 'default_streams' }, { fill: 'defaultChannels' }),
        eventFor(hearers, { type: 'default_stream_groups' }, { fill: 'defaultGroups' }),
      ];
}
