import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { type Commit, commitPlan } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { isAdministrator, isOwner, roles } from '../../model/permission/permission.ts';
import type { Caller } from '../../model/user/caller.ts';
import {
  doEndInvitation,
  type Invitation,
  invitationKey,
  isMultiuse,
  type MailInvitation,
} from '../../model/user/invitation.ts';
import { isOver, joinAddress } from '../../model/user/link.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveMail } from '../mail-out/letter.ts';
import { type Delivery, doLinkInvitation, invitesChanged } from './create.ts';

/** Loads an invitation that has not expired. One round trip. */
export async function loadInvitation(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  inviteId: number,
): Promise<Invitation | undefined> {
  const invitation = isId(inviteId) ? await table.get(invitationKey(realm, inviteId)) : undefined;
  return invitation === undefined || isOver(invitation, now()) ? undefined : invitation;
}

/**
 * Loads the open invitations of an organization, without those of people who have joined another way. Two round trips.
 */
export async function loadOpenInvitations(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
): Promise<Invitation[]> {
  const stored = await table.all('invitation', { realm });
  const open = stored.filter((invitation) => !isOver(invitation, now()));
  const accounts = await Promise.all(
    open.map((invitation) =>
      isMultiuse(invitation) ? undefined : table.get('account', { realm, email: folded(invitation.email) }),
    ),
  );
  return open.filter((_, i) => accounts[i] === undefined);
}

/** The invitations that the caller may see: administrators all, others their own. */
export const visibleInvitations = (
  { user, standing }: Pick<Caller, 'user' | 'standing'>,
  invitations: readonly Invitation[],
): Invitation[] =>
  invitations.filter(({ invitedBy }) => invitedBy === user.userId || isAdministrator(standing));

/** An invitation as clients see it (companion facts 3.8). */
export const invitationObject = (invitation: Invitation, baseUrl: string) => ({
  id: invitation.inviteId,
  invited_by_user_id: invitation.invitedBy,
  invited: invitation.invited,
  expiry_date: invitation.expires ?? null,
  invited_as: invitation.role,
  ...(isMultiuse(invitation)
    ? { is_multiuse: true, link_url: joinAddress(baseUrl, invitation.token) }
    : {
        is_multiuse: false,
        email: invitation.email,
        notify_referrer_on_join: invitation.notifiesInviter,
      }),
});

/**
 * Returns an invitation that the caller may revoke or send again: their own, or any for administrators. The invitation of
 * an owner is for owners only.
 *
 * @throws Refusal `BAD_REQUEST`, or `UNAUTHORIZED_PRINCIPAL` for the invitation of an owner
 */
export function accessInvitation<M extends boolean>(
  { user, standing }: Pick<Caller, 'user' | 'standing'>,
  invitation: Invitation | undefined,
  multiuse: M,
): Extract<Invitation, M extends true ? { token: string } : { email: string }> {
  if (invitation === undefined || isMultiuse(invitation) !== multiuse) {
    throw badRequest('There is no such invitation.');
  }
  if (invitation.invitedBy !== user.userId) {
    if (!isAdministrator(standing)) throw badRequest('There is no such invitation.');
    if (invitation.role === roles.owner && !isOwner(standing)) throw refusal('notOwner');
  }
  return invitation as never;
}

/**
 * Revokes an invitation that the caller may revoke: all its links end.
 *
 * @throws Refusal as `accessInvitation`
 */
export const revokeInvitation = (
  caller: Caller,
  commit: Commit,
  found: Invitation | undefined,
  multiuse: boolean,
): Promise<Record<string, never>> => {
  const invitation = accessInvitation(caller, found, multiuse);
  return commitPlan(commit, () => doRevoke(caller, invitation));
};

const doRevoke = (
  { realmId: realm, user, standing }: Caller,
  { inviteId, invitedBy }: Invitation,
): Change<Record<string, never>> => ({
  writes: [doEndInvitation(realm, inviteId)],
  entries: invitesChanged(invitedBy, invitedBy === user.userId && isAdministrator(standing)),
  result: {},
});

/**
 * Sends the invitation of one person again, with another link. The earlier links go on working. Fails if it was used or
 * revoked meanwhile. `now` is in milliseconds.
 */
export const doResend = (
  realm: string,
  invitation: MailInvitation,
  delivery: Delivery,
  now: number,
): Write[] => [
  { check: invitationKey(realm, invitation.inviteId), when: { absent: false } },
  ...('job' in delivery
    ? doLeaveMail(realm, delivery.job, [{ what: 'invitation', inviteId: invitation.inviteId }], now)
    : [doLinkInvitation(realm, invitation, delivery.tokens[0] ?? '')]),
];
