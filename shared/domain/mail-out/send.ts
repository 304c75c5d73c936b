import { required } from '../../environment.ts';
import type { Mailer, OutgoingMail, Outside } from '../../kernel/outside.ts';
import { carryOut } from '../../log/carry-out.ts';
import { addressOf, loadOrganization, type Organization } from '../../model/realm/hosts.ts';
import { invitationKey, isMultiuse } from '../../model/user/invitation.ts';
import {
  doMakeLink,
  isOver,
  type Link,
  linkAddress,
  newToken,
  PASSWORD_LINK_SECONDS,
} from '../../model/user/link.ts';
import { runPool } from '../../pool.ts';
import { finish, type Job, type Left, loadJob } from '../outbox/outbox.ts';
import { invitationText, loginText, mailOf, passwordText, reminderText } from './text.ts';

/** Mails that one job sends at once. */
const CONCURRENCY = 4;

/**
 * Sends the mails of a job, and deletes each from the outbox once it is sent. A mail may be sent twice if the worker dies
 * between the two; both links then work. Throws if some could not be sent; a retry sends only those.
 */
export async function sendLetters(outside: Outside, mailer: Mailer, job: Job<'mail'>): Promise<void> {
  const { table } = outside;
  const letters = await loadJob(table, job);
  if (letters.length === 0) return;
  const organization = await loadOrganization(table, job.realm);
  const failures = await runPool(letters, CONCURRENCY, async (letter) => {
    const isOpen = organization !== undefined && !organization.deactivated;
    const mail = isOpen ? await writeMail(outside, organization, letter) : undefined;
    if (mail) await mailer.send(mail);
    await finish(outside, [letter]);
  });
  if (failures.length > 0) throw new AggregateError(failures, 'some mails could not be sent');
}

/** Writes a mail and makes its link. Undefined if there is nothing to say any more. */
async function writeMail(
  outside: Outside,
  organization: Organization,
  letter: Left<'mail'>,
): Promise<OutgoingMail | undefined> {
  const { table, now } = outside;
  const { realm } = letter;
  if (letter.what === 'invitation') {
    const { inviteId, isReminder } = letter;
    const invitation = await table.get(invitationKey(realm, inviteId));
    if (invitation === undefined || isMultiuse(invitation) || isOver(invitation, now())) return undefined;
    const inviter = await table.get('user', { realm, userId: invitation.invitedBy });
    if (inviter === undefined || !inviter.isActive) return undefined;
    const { email, expires } = invitation;
    const link = { kind: 'invitation', inviteId, ...(expires !== undefined && { expires }) } as const;
    const url = await makeLink(outside, organization, link);
    const text = isReminder ? reminderText : invitationText;
    return mailOf(email, text(organization.name, inviter, url, expires));
  }
  const { userId } = letter;
  const user = await table.get('user', { realm, userId });
  if (user === undefined || !user.isActive || user.isBot) return undefined;
  if (letter.what === 'login') {
    const url = `${siteOf(outside, organization)}/account`;
    return mailOf(user.email, loginText(organization.name, { email: user.email, ...letter }, url));
  }
  const expires = Math.floor(now() / 1_000) + PASSWORD_LINK_SECONDS;
  const url = await makeLink(outside, organization, { kind: 'password', userId, expires });
  return mailOf(user.email, passwordText(organization.name, user.email, url, expires));
}

/** Stores a link, and returns its address at the organization's own host: a request may name any host. */
async function makeLink(outside: Outside, organization: Organization, link: Link): Promise<string> {
  const token = newToken(outside);
  const { state } = await carryOut(outside, [doMakeLink(organization.realm, token, link)]);
  if (state === 'refused') throw new Error('a new link exists already');
  return linkAddress(siteOf(outside, organization), link.kind, token);
}

/** Where people find an organization. */
const siteOf = ({ environment }: Outside, organization: Organization): string =>
  addressOf(organization, new URL(required(environment, 'SITE'))).origin;
