import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import {
  type ChannelWithSubscription,
  hasContentAccess,
  hasMetadataAccess,
  mayAddSubscribers,
} from '../../model/channel/access.ts';
import { accessGroup, type Group, mayChangeGroup } from '../../model/group/group.ts';
import { loadGroups } from '../../model/group/member.ts';
import {
  holdsUnlessGuest,
  isAdministrator,
  isOwner,
  type Role,
  roles,
} from '../../model/permission/permission.ts';
import {
  type CountedChannel,
  loadSomeChannels,
  loadSomeSubscriptions,
} from '../../model/subscription/object.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Grant, Invitation } from '../../model/user/invitation.ts';

/** The channels and groups of an invitation that exist, and the inviter's subscriptions to the channels. */
export interface InviteSnapshot {
  readonly channels: ReadonlyMap<number, CountedChannel & ChannelWithSubscription>;
  readonly groups: ReadonlyMap<number, Group>;
}

/** Loads what decides whether somebody may give these channels and groups. One round trip. */
export async function loadInviteSnapshot(
  { table }: Pick<Outside, 'table'>,
  realm: string,
  inviterId: number,
  { channelIds, groupIds }: Pick<Grant, 'channelIds' | 'groupIds'>,
): Promise<InviteSnapshot> {
  const ids = channelIds.filter(isId);
  const [channels, subscriptions, groups] = await Promise.all([
    loadSomeChannels(table, realm, ids),
    loadSomeSubscriptions(table, realm, inviterId, ids),
    loadGroups(table, realm, groupIds),
  ]);
  return {
    channels: new Map(
      channels.map((counted) => {
        const { channelId } = counted.channel;
        return [channelId, { ...counted, subscription: subscriptions.get(channelId) }];
      }),
    ),
    groups,
  };
}

/** Whether somebody may invite people by mail, or make links for many. */
export const mayInvite = (
  { standing, realm: { settings } }: Pick<Caller, 'standing' | 'realm'>,
  how: 'mail' | 'link' = 'mail',
): boolean =>
  holdsUnlessGuest(
    standing,
    how === 'mail' ? settings.can_invite_users_group : settings.create_multiuse_invite_group,
  );

/** Whether somebody may invite people to this role. */
export const mayInviteTo = ({ standing }: Pick<Caller, 'standing'>, role: Role): boolean =>
  role === roles.owner ? isOwner(standing) : role > roles.moderator || isAdministrator(standing);

/** Whether somebody may subscribe new people to a channel: it is a default channel, or they may add subscribers. */
const mayGiveChannel = (caller: Caller, seen: ChannelWithSubscription | undefined): boolean =>
  seen !== undefined &&
  !seen.channel.isArchived &&
  (seen.channel.isDefault ||
    (hasContentAccess(caller.standing, seen) && mayAddSubscribers(caller, seen.channel)));

/**
 * Checks an invitation that somebody wants to make (companion facts 3.8).
 *
 * @throws Refusal `UNAUTHORIZED_PRINCIPAL` for a new owner, `BAD_REQUEST` for anything else that the caller may not give
 */
export function checkInvite(
  caller: Caller,
  how: 'mail' | 'link',
  grant: Grant,
  { channels, groups }: InviteSnapshot,
): Grant {
  if (!mayInvite(caller, how)) throw refusal('insufficientPermission');
  if (!mayInviteTo(caller, grant.role)) {
    throw refusal(grant.role === roles.owner ? 'notOwner' : 'insufficientPermission');
  }
  const isVisible = (seen: ChannelWithSubscription | undefined) =>
    seen !== undefined && hasMetadataAccess(caller.standing, seen);
  const invalid = grant.channelIds.find((id) => !isVisible(channels.get(id)));
  if (invalid !== undefined) throw badRequest(`Invalid channel ID: ${invalid}. No invitation was sent.`);
  if (!grant.channelIds.every((id) => mayGiveChannel(caller, channels.get(id)))) {
    throw badRequest('You may not subscribe other people to one of these channels.');
  }
  for (const groupId of grant.groupIds) {
    const group = accessGroup(caller, groupId, groups.get(groupId), 'can_add_members_group');
    if (group.deactivated) throw badRequest(`The user group ${groupId} is deactivated.`);
  }
  const { welcome, ...others } = grant;
  // The text of others is ignored, and an empty one is none.
  return welcome && isAdministrator(caller.standing) ? { ...others, welcome } : others;
}

/** The channels and groups that a new person gets. */
export interface Given {
  readonly channels: readonly CountedChannel[];
  readonly groups: readonly Group[];
}

/**
 * Checks an invitation that somebody is about to use. It gives what its inviter could give now: if they have lost the
 * right to invite, or to invite to this role, it gives nothing. Channels and groups that they may not give any more are
 * left out.
 *
 * @param inviter undefined if the inviter, or the organization, is deactivated
 * @throws Refusal `BAD_REQUEST`
 */
export function checkInviter(
  inviter: Caller | undefined,
  invitation: Invitation,
  { channels, groups }: InviteSnapshot,
): Given {
  const how = 'token' in invitation ? 'link' : 'mail';
  if (inviter === undefined || !mayInvite(inviter, how) || !mayInviteTo(inviter, invitation.role)) {
    throw badRequest('This invitation does not work any more. Ask for a new one.');
  }
  return {
    channels: [...channels.values()].filter((seen) => mayGiveChannel(inviter, seen)),
    groups: [...groups.values()].filter((group) => mayAddTo(inviter, group)),
  };
}

const mayAddTo = (inviter: Caller, group: Group): boolean =>
  !group.deactivated && mayChangeGroup(inviter, group, 'can_add_members_group');
