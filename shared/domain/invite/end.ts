import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import { MAX_IN_STEP, type Step } from '../../log/bulk.ts';
import type { Caller } from '../../model/user/caller.ts';
import { doForgetInvitation, type Invitation, isMultiuse } from '../../model/user/invitation.ts';
import { isOver } from '../../model/user/link.ts';
import { mayInvite, mayInviteTo } from './check.ts';
import { invitesChanged } from './create.ts';

/** Loads the open invitations that somebody made. One round trip, which reads those of the whole organization. */
export async function loadInvitationsOf(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  userId: number,
): Promise<Invitation[]> {
  const stored = await table.all('invitation', { realm });
  return stored.filter((invitation) => invitation.invitedBy === userId && !isOver(invitation, now()));
}

/** The invitations that somebody with these rights could not make. */
export const beyondRights = (
  inviter: Pick<Caller, 'standing' | 'realm'>,
  invitations: readonly Invitation[],
): Invitation[] =>
  invitations.filter(
    (invitation) =>
      !mayInvite(inviter, isMultiuse(invitation) ? 'link' : 'mail') || !mayInviteTo(inviter, invitation.role),
  );

/**
 * Ends invitations of somebody who lost the right to them: all their links end. Those that are used or revoked meanwhile
 * are skipped. Administrators, and the inviter, hear of it.
 */
export const doEndInvitations = (
  realm: string,
  inviterId: number,
  isAdministrator: boolean,
  invitations: readonly Invitation[],
): Step[] =>
  chunksOf(invitations, MAX_IN_STEP).map((some) => ({
    writes: some.map(({ inviteId }) => doForgetInvitation(realm, inviteId)),
    entries: invitesChanged(inviterId, isAdministrator),
  }));
