import { createHash } from 'node:crypto';
import { required } from '../../environment.ts';
import type { Outside } from '../../kernel/outside.ts';
import { LARGEST_MAIL, type Mail, parseMail } from './mail.ts';
import { deliverMail, type Outcome } from './mail-delivery.ts';
import { suspicionOf } from './mail-origin.ts';
import { MAX_CHANNELS, recipientsOf } from './mail-recipient.ts';

/** Mail that waits in the bucket. */
export interface Waiting {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Takes mail that has arrived: posts it in each channel that it was sent to, or drops it with a line for the operator
 * that says why, and neither what is in it nor whose it is. Nothing is sent back: who is named as the sender of what
 * nobody wants is hardly ever who sent it. Throws only what another try may mend.
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
 * What makes it the same mail when it arrives again, by whatever way: its id, which its sender chose, and, since some
 * give the same to all that they send, what is shown of it. Mail without an id is known by its place in the bucket.
 */
function identityOf({ messageId, subject, from, text, html, files }: Mail, key: string): string {
  const shown = JSON.stringify([messageId ?? key, subject, from, text, html, files]);
  return createHash('sha256').update(shown).digest('hex');
}
