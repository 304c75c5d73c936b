import { addressesIn, type Mail } from './mail.ts';

/** The address of a channel in a mail: its token and its options. */
export interface Recipient {
  readonly token: string;
  readonly options: Options;
}

/** How to show a mail (wire facts 9). */
export interface Options {
  /** Shows the sender. */
  readonly showSender: boolean;
  readonly includeFooter: boolean;
  readonly includeQuotes: boolean;
  /** Shows the HTML part even if there is plain text. */
  readonly preferHtml: boolean;
}

/** Most channels that one mail can reach. */
export const MAX_CHANNELS = 20;

/** Headers that name recipients. Those of the envelope come first: they also have Bcc recipients. */
const HEADERS = [
  'delivered-to',
  'x-original-to',
  'x-gm-original-to',
  'envelope-to',
  'resent-to',
  'resent-cc',
  'to',
  'cc',
];

/** The channel addresses that the mail was sent to, without duplicates, in the order of `HEADERS`. */
export function recipientsOf({ header }: Pick<Mail, 'header'>, domain: string): Recipient[] {
  const envelope = header('received').flatMap(
    (hop) => /\bfor\s+<?([^\s<>;]+@[^\s<>;]+)/i.exec(hop)?.[1] ?? [],
  );
  const recipients = new Map<string, Recipient>();
  for (const address of [...envelope, ...addressesIn(HEADERS.flatMap(header))]) {
    const recipient = recipientAt(address, domain);
    if (recipient && !recipients.has(recipient.token)) recipients.set(recipient.token, recipient);
  }
  return [...recipients.values()];
}

/** Parses the address of a channel; undefined for other addresses. The readable part is ignored. */
export function recipientAt(address: string, domain: string): Recipient | undefined {
  const local = localPart(address, domain);
  const parts = local?.split(/[.+]/) ?? [];
  const at = parts.findLastIndex((part) => /^[0-9a-f]{32}$/.test(part));
  const token = parts[at];
  if (token === undefined) return undefined;
  const asked = new Set(parts.slice(at + 1));
  return {
    token,
    options: {
      showSender: asked.has('show-sender'),
      includeFooter: asked.has('include-footer'),
      includeQuotes: asked.has('include-quotes'),
      preferHtml: asked.has('prefer-html'),
    },
  };
}

/** Whether the address is at the domain of this service. */
const isOurs = (address: string, domain: string): boolean => localPart(address, domain) !== undefined;

/** The local part in lower case, since some mail servers change the case. */
function localPart(address: string, domain: string): string | undefined {
  const given = address.trim().toLowerCase();
  return given.endsWith(`@${domain}`) ? given.slice(0, -domain.length - 1) : undefined;
}

/** Why a mail is dropped, whatever its recipient. */
type Suspicion = 'loop' | 'automatic reply' | 'virus' | 'spam';

/** Most servers that a mail may have passed. Beyond that it is a loop (RFC 5321 6.3 asks for at least 100). */
const MAX_HOPS = 100;

/**
 * Why a mail should be dropped because of its origin, or undefined. Automatic replies (such as holiday notices) are
 * dropped. Other automatic mail and mailing lists are accepted: build reports and lists are what most such addresses are
 * used for. They cannot loop, since this service sends no mail.
 */
export function suspicionOf(mail: Mail, domain: string): Suspicion | undefined {
  const { header, senders, messageId } = mail;
  if (isFailed(header('x-ses-virus-verdict'))) return 'virus';
  if (isFailed(header('x-ses-spam-verdict'))) return 'spam';
  const ids = messageId === undefined ? [] : addressesIn([messageId]);
  if ([...senders, ...ids].some((address) => isOurs(address, domain))) return 'loop';
  if (header('received').length > MAX_HOPS) return 'loop';
  return isAutomaticReply(mail) ? 'automatic reply' : undefined;
}

/** The verdict of the SES scan. A forged header harms only the forger's own mail. */
const isFailed = (verdicts: readonly string[]): boolean =>
  verdicts.some((verdict) => verdict.trim().toUpperCase() === 'FAIL');

/** Whether headers mark an automatic reply: RFC 3834, RFC 3464 and older conventions. */
function isAutomaticReply({ header }: Mail): boolean {
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
