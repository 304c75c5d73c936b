import type { Outside, Queues } from '../../kernel/outside.ts';
import { folded } from '../../kernel/text.ts';
import { carryOut } from '../../log/carry-out.ts';
import { inviteIdAt, isMultiuse, type MailInvitation } from '../../model/user/invitation.ts';
import { isOver } from '../../model/user/link.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveMail, sendsMail, wakeMail } from '../mail-out/letter.ts';
import { type Due, dueKey } from './due.ts';

const DAY = 86_400;

/** An invitation that lives at least so long (seconds) has a reminder. */
const LONG_LIFE = 4 * DAY;

/** How long (seconds) before an invitation expires its reminder is sent. */
const BEFORE = 2 * DAY;

/**
 * Puts the reminder of a request's invitations among what is due, two days before they expire, if they live at least four
 * days (companion facts 3.8). The invitations of a request expire together, so one reminder stands for all of them. Its id
 * is the number from which their ids follow.
 */
export function doRemindLater(
  realm: string,
  number: number,
  { invitedBy, invited, expires }: Pick<MailInvitation, 'invitedBy' | 'invited' | 'expires'>,
): Write[] {
  if (expires === undefined || expires - invited < LONG_LIFE) return [];
  const due: Due = { realm, userId: invitedBy, what: 'invitation', id: number, at: expires - BEFORE };
  return [{ put: dueKey(due), item: { ...due } }];
}

/**
 * Leaves the mails that remind of a request's invitations to the outbox, one for each that is still open. The same
 * transaction deletes what is due, so the mails are left once.
 */
export async function remindOfInvitations(outside: Outside, queues: Queues, due: Due): Promise<void> {
  const { realm } = due;
  const open = sendsMail(outside) ? await loadOpenOf(outside, realm, due.id) : [];
  const letters = open.map(({ inviteId }) => ({ what: 'invitation' as const, inviteId, isReminder: true }));
  const job = outside.uuid();
  const { state } = await carryOut(outside, [
    { delete: dueKey(due), when: { absent: false } },
    ...doLeaveMail(realm, job, letters, outside.now()),
  ]);
  // Refused: another run was faster.
  if (state === 'done' && letters.length > 0) await wakeMail(outside, queues, realm, job);
}

/** Loads the invitations of a request that nobody has used or revoked, and whose people have no account. Two round trips. */
async function loadOpenOf(
  { table, now }: Pick<Outside, 'table' | 'now'>,
  realm: string,
  number: number,
): Promise<MailInvitation[]> {
  const from = { inviteId: inviteIdAt(number, 0) };
  const to = { inviteId: inviteIdAt(number + 1, 0) - 1 };
  const stored = await table.all('invitation', { realm }, { from, to });
  const open = stored.filter(
    (invitation): invitation is MailInvitation => !isMultiuse(invitation) && !isOver(invitation, now()),
  );
  const accounts = await Promise.all(
    open.map(({ email }) => table.get(key('account', { realm, email: folded(email) }))),
  );
  return open.filter((_, i) => accounts[i] === undefined);
}
