import { addressesIn, type Mail } from './mail.ts';
import { isOurs } from './mail-recipient.ts';

/** Why mail is not for people to read, whoever it is addressed to. */
export type Suspicion = 'loop' | 'automatic reply' | 'virus' | 'spam';

/** Servers that mail passes on its way; what passed more goes in a circle (RFC 5321 6.3 asks for 100 at least). */
const MAX_HOPS = 100;

/**
 * What is wrong with where mail comes from, if anything. Answers of machines are dropped, as a holiday notice says
 * nothing to a channel. Mail that a machine wrote of its own accord is welcome, and so are lists: reports of builds
 * and lists are what most such addresses are given to. They cannot run in a circle, since this service answers no
 * mail and sends none.
 */
export function suspicionOf(mail: Mail, domain: string): Suspicion | undefined {
  const { header, senders, messageId } = mail;
  if (isFailed(header('x-ses-virus-verdict'))) return 'virus';
  if (isFailed(header('x-ses-spam-verdict'))) return 'spam';
  const ids = messageId === undefined ? [] : addressesIn([messageId]);
  if ([...senders, ...ids].some((address) => isOurs(address, domain))) return 'loop';
  if (header('received').length > MAX_HOPS) return 'loop';
  return isAnswer(mail) ? 'automatic reply' : undefined;
}

/** What SES found when it scanned the mail. Whoever forges the header harms only their own mail. */
const isFailed = (verdicts: readonly string[]): boolean =>
  verdicts.some((verdict) => verdict.trim().toUpperCase() === 'FAIL');

/** Marks of answers that no person wrote: RFC 3834, RFC 3464 and what was in use before them. */
function isAnswer({ header }: Mail): boolean {
  const begins = (name: string, pattern: RegExp): boolean =>
    header(name).some((value) => pattern.test(value.trim()));
  return (
    begins('auto-submitted', /^auto-replied\b/i) ||
    begins('precedence', /^auto_reply$/i) ||
    header('x-autoreply').length > 0 ||
    header('x-autorespond').length > 0 ||
    begins('return-path', /^<\s*>$/) ||
    begins('content-type', /^multipart\/report\b/i)
  );
}
