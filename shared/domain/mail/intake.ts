import { createHash } from 'node:crypto';
import { required } from '../../environment.ts';
import type { Outside } from '../../kernel/outside.ts';
import { deliverMail, type Outcome } from './delivery.ts';
import { LARGEST_MAIL, type Mail, parseMail } from './mail.ts';
import { MAX_CHANNELS, recipientsOf, suspicionOf } from './recipient.ts';

/** A mail in the bucket. */
export interface Waiting {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Posts an incoming mail to each of its channels, or drops it and logs the reason (never content or addresses). It sends no
 * bounce: the named sender of unwanted mail is rarely the real one. Throws only what a retry may fix.
 */
export async function takeMail(
  outside: Outside,
  { key, size }: Waiting,
  fetch: () => Promise<Uint8Array | undefined>,
): Promise<void> {
  const drop = (reason: string): void =>
    outside.report({ level: 'WARN', message: 'mail dropped', mail: key, reason });
  const domain = required({ MAIL_DOMAIN: outside.mailDomain }, 'MAIL_DOMAIN');
  if (size > LARGEST_MAIL) return drop('too large');
  const raw = await fetch();
  if (raw === undefined) return drop('gone');
  const mail = await parseMail(raw);
  if (mail === undefined) return drop('unreadable');
  const suspicion = suspicionOf(mail, domain);
  if (suspicion !== undefined) return drop(suspicion);
  const recipients = recipientsOf(mail, domain);
  if (recipients.length === 0) return drop('no address');
  if (recipients.length > MAX_CHANNELS) return drop('too many addresses');
  const id = identityOf(mail, key);
  for (const recipient of recipients) {
    const outcome: Outcome = await deliverMail(outside, { mail, id, recipient });
    if (outcome !== 'posted') drop(outcome);
  }
}

/**
 * Identifies a mail when it is delivered again: its Message-ID and, since some senders reuse IDs, what is shown of it. Mail
 * without an ID is identified by its object key.
 */
function identityOf({ messageId, subject, from, text, html, files }: Mail, key: string): string {
  const shown = JSON.stringify([messageId ?? key, subject, from, text, html, files]);
  return createHash('sha256').update(shown).digest('hex');
}
