import { badRequest, inField, type Refusal, refusal } from '../../kernel/errors.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { commitTo } from '../../log/checkpoint.ts';
import { retryOnConflict } from '../../log/commit.ts';
import { isAdministrator } from '../../model/permission/permission.ts';
import { accessHost } from '../../model/realm/hosts.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { loadCaller } from '../../model/user/caller.ts';
import { doEndInvitation, type Invitation, invitationKey, isMultiuse } from '../../model/user/invitation.ts';
import { doUseLink, loadLink } from '../../model/user/link.ts';
import { checkEmail, checkFullName } from '../../model/user/name.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { checkInviter, loadInviteSnapshot } from '../invite/check.ts';
import { invitesChanged } from '../invite/create.ts';
import { loadInvitation } from '../invite/open.ts';
import { doLeaveJob, type Job, wakeOutbox } from '../outbox/outbox.ts';
import {
  addPerson,
  defaultChannels,
  type Invited,
  loadNewcomerSnapshot,
  type NewCredential,
} from './create.ts';
import { newPassword } from './password.ts';

/** An invitation with its organization, for somebody who has the link. */
export interface LinkedInvitation {
  readonly realm: string;
  readonly organization: Realm;
  readonly invitation: Invitation;
}

/** The refusal of a link that does not work, whatever the reason. */
export const deadInvitation = (): Refusal =>
  badRequest(
    'This link does not work any more: it was used or revoked, or it has expired. Ask for a new invitation.',
  );

/**
 * Loads the invitation that a link leads to. Three round trips.
 *
 * @param host the host of the request, which names the organization
 * @throws Refusal `BAD_REQUEST` for an unknown, used, revoked or expired link; `NONEXISTENT_SUBDOMAIN`,
 *   `REALM_DEACTIVATED`
 */
export async function accessLinkedInvitation(
  outside: Outside,
  host: string,
  token: string,
): Promise<LinkedInvitation> {
  const { realm } = await accessHost(outside, host);
  const [organization, link] = await Promise.all([
    outside.table.get('realm', { realm }),
    loadLink(outside, realm, token),
  ]);
  if (organization === undefined || organization.deactivated) throw refusal('organizationDeactivated');
  const invitation =
    link?.kind === 'invitation' ? await loadInvitation(outside, realm, link.inviteId) : undefined;
  if (invitation === undefined) throw deadInvitation();
  return { realm, organization, invitation };
}

/** Somebody who joins by a link. */
export interface Joiner {
  /** Needed by a link for many. The invitation of one person has their address, and any other is refused. */
  readonly email?: string | undefined;
  readonly fullName: string;
  readonly password: string;
}

/** An account that was made by an invitation. */
interface Joined {
  readonly realm: string;
  readonly userId: number;
  readonly email: string;
}

/**
 * Creates the account of somebody who joins by a link with a password. The address of a link for many is not verified:
 * its owner joined by knowing the link.
 *
 * @throws Refusal as `joinInvited`, and `BAD_REQUEST` if the name, the address or the password is not valid; it names
 *   the field
 */
export async function joinByInvitation(
  outside: Outside,
  queues: Queues,
  host: string,
  token: string,
  { fullName, email, password }: Joiner,
): Promise<Joined> {
  const { invitation } = await accessLinkedInvitation(outside, host, token);
  const person = {
    fullName: await inField('full_name', () => checkFullName(fullName)),
    email: await inField('email', () => checkJoinerAddress(invitation, email)),
  };
  const about = [person.email, person.fullName];
  const hashed = await inField('password', () => newPassword(outside, password, about));
  return joinInvited(outside, queues, host, token, person, { password: hashed });
}

/**
 * Creates the account of somebody who joins by a link, with all that the invitation gives: role, channels
 * and groups that the inviter could still give (`checkInviter`). The transaction uses up the invitation of one person.
 *
 * Of two people with the same link of one invitation, the first joins. The other gets the same refusal as for a link that
 * was revoked.
 *
 * @throws Refusal `BAD_REQUEST` if the link does not work, is for another address, or its inviter has lost the right to
 *   invite, if the name is not valid, or if the address is taken or not allowed
 */
export async function joinInvited(
  outside: Outside,
  queues: Queues,
  host: string,
  token: string,
  { email, fullName }: { readonly email: string; readonly fullName: string },
  credential: NewCredential,
): Promise<Joined> {
  const job = outside.uuid();
  const { invitation, ...joined } = await retryOnConflict(outside, async () => {
    const { realm, organization, invitation } = await accessLinkedInvitation(outside, host, token);
    const address = checkJoinerAddress(invitation, email);
    const [inviter, seen, snapshot, account] = await Promise.all([
      loadCaller(outside, realm, invitation.invitedBy, undefined),
      loadInviteSnapshot(outside, realm, invitation.invitedBy, invitation),
      loadNewcomerSnapshot(outside.table, realm),
      outside.table.get('account', { realm, email: folded(address) }),
    ]);
    const given = checkInviter(inviter, invitation, seen);
    const channels = [
      ...new Map(
        [...(invitation.withDefaults ? defaultChannels(snapshot.channels) : []), ...given.channels].map(
          (counted) => [counted.channel.channelId, counted],
        ),
      ).values(),
    ];
    const use: Invited['use'] = (newId) => ({
      writes: [
        ...doUse(realm, invitation, token),
        requireInviter(realm, inviter?.user),
        ...doLeaveNotices(joinedJob(realm, job), invitation, newId, outside.now()),
      ],
      entries: isMultiuse(invitation)
        ? []
        : invitesChanged(invitation.invitedBy, inviter !== undefined && isAdministrator(inviter.standing)),
    });
    const userId = await addPerson(
      outside,
      { realmId: realm, realm: organization },
      commitTo(outside, realm),
      { email: address, fullName: checkFullName(fullName), role: invitation.role },
      credential,
      { ...snapshot, isTaken: account !== undefined },
      { channels, groups: given.groups, use },
    );
    return { realm, userId, email: address, invitation };
  });
  if (hasNotices(invitation)) await wakeOutbox(outside, queues, joinedJob(joined.realm, job));
  return joined;
}

/** The address of somebody who joins. */
function checkJoinerAddress(invitation: Invitation, given: string | undefined): string {
  if (isMultiuse(invitation)) return checkEmail(given ?? '');
  if (given !== undefined && folded(given.trim()) !== folded(invitation.email)) {
    throw badRequest('This invitation is for another address.');
  }
  return invitation.email;
}

/** Uses an invitation: that of one person ends with its link, the other must still be there. */
const doUse = (realm: string, invitation: Invitation, token: string): Write[] =>
  isMultiuse(invitation)
    ? [{ check: invitationKey(realm, invitation.inviteId), when: { absent: false } }]
    : [doEndInvitation(realm, invitation.inviteId), doUseLink(realm, token)];

/** Fails if the inviter was deactivated, or got another role, since the check. */
const requireInviter = (realm: string, inviter: User | undefined): Write => ({
  check: key('user', { realm, userId: inviter?.userId ?? 0 }),
  when: { equals: { isActive: true, role: inviter?.role } },
});

const joinedJob = (realm: string, job: string): Job<'joined'> => ({ realm, kind: 'joined', job });

const notifies = (invitation: Invitation): boolean => !isMultiuse(invitation) && invitation.notifiesInviter;

const hasNotices = (invitation: Invitation): boolean =>
  invitation.welcome !== undefined || notifies(invitation);

/** Leaves the messages about a new person to the outbox. */
const doLeaveNotices = (job: Job<'joined'>, invitation: Invitation, userId: number, now: number): Write[] =>
  hasNotices(invitation)
    ? [
        doLeaveJob(
          job,
          0,
          {
            userId,
            ...(invitation.welcome !== undefined && { welcome: invitation.welcome }),
            ...(notifies(invitation) && { notify: invitation.invitedBy }),
          },
          now,
        ),
      ]
    : [];
