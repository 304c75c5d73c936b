import type { Outside, Queues } from '../../kernel/outside.ts';
import { isForDevelopment } from '../../model/realm/sign-in-methods.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveJob, type Job, wakeOutbox } from '../outbox/outbox.ts';

/** A mail that the service sends. Its link is made when it is sent, so that no token is ever stored. */
export type Letter =
  /** The invitation of one person, or a reminder of it. */
  | { readonly what: 'invitation'; readonly inviteId: number; readonly isReminder?: boolean }
  /** A link for a new password. */
  | { readonly what: 'password'; readonly userId: number }
  /** The news that somebody signed in on a device. `signedIn` is in seconds since 1970. */
  | {
      readonly what: 'login';
      readonly userId: number;
      readonly device: string;
      readonly signedIn: number;
    };

declare module '../outbox/outbox.ts' {
  interface Tasks {
    mail: Letter;
  }
}

/** Whether the service sends mail: the operator has configured a domain. */
export const sendsMail = ({ mailDomain }: Pick<Outside, 'mailDomain'>): boolean => mailDomain !== undefined;

/**
 * Writes links that nobody mails to the log of the local service, where its operator finds them. A deployment logs no link:
 * it lets people in.
 */
export function reportLinks(
  { environment, report }: Pick<Outside, 'environment' | 'report'>,
  links: readonly { readonly email: string; readonly invite_link: string }[],
): void {
  if (!isForDevelopment(environment)) return;
  for (const { email, invite_link: link } of links)
    report({ level: 'INFO', message: 'link not mailed', email, link });
}

/** The job that sends mail. */
const mailJob = (realm: string, job: string): Job<'mail'> => ({ realm, kind: 'mail', job });

/** Leaves mail to the outbox, each in a part of its own: it is sent if and only if the transaction is committed. `now` is in milliseconds. */
export const doLeaveMail = (realm: string, job: string, letters: readonly Letter[], now: number): Write[] =>
  letters.map((letter, part) => doLeaveJob(mailJob(realm, job), part, letter, now));

/** Wakes the worker that sends mail, after the commit. */
export const wakeMail = (outside: Outside, queues: Queues, realm: string, job: string): Promise<void> =>
  wakeOutbox(outside, queues, mailJob(realm, job));
