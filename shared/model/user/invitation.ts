import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Role } from '../permission/permission.ts';

declare module '../../table/keys.ts' {
  interface ItemTypes {
    invitation: Invitation;
  }
}

/** What new people get by an invitation. */
export interface Grant {
  readonly role: Role;
  readonly channelIds: readonly number[];
  /** They are subscribed to the default channels too. */
  readonly withDefaults: boolean;
  readonly groupIds: readonly number[];
  /** A message that each of them gets, in Markdown. */
  readonly welcome?: string;
}

interface Base extends Grant {
  /** It follows from a log number. */
  readonly inviteId: number;
  readonly invitedBy: number;
  /** Seconds since 1970. */
  readonly invited: number;
  /** Seconds since 1970; absent if it does not expire. */
  readonly expires?: number;
}

/** For the owner of one address. Deleted when they join. */
export interface MailInvitation extends Base {
  readonly email: string;
  /** Whether the inviter gets a message when they join. */
  readonly notifiesInviter: boolean;
}

/**
 * For anybody who has the link. The token is stored, unlike those of other links: administrators get the link again with
 * each list (companion facts 3.8), and it is made to be passed on.
 */
export interface MultiuseInvitation extends Base {
  readonly token: string;
}

export type Invitation = MailInvitation | MultiuseInvitation;

export const isMultiuse = (invitation: Invitation): invitation is MultiuseInvitation => 'token' in invitation;

/** The ids of the invitations of one request: each follows from the log number of its event. */
export const inviteIdAt = (number: number, index: number): number => 100 * number + index;

export const invitationKey = (realm: string, inviteId: number): Key<'invitation'> =>
  key('invitation', { realm, inviteId });

/** Deletes an invitation, if it is still there. */
export const doForgetInvitation = (realm: string, inviteId: number): Write => ({
  delete: invitationKey(realm, inviteId),
});

/** Deletes an invitation: it was used or revoked. Fails if it is gone. */
export const doEndInvitation = (realm: string, inviteId: number): Write => ({
  delete: invitationKey(realm, inviteId),
  when: { absent: false },
});
