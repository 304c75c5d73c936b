import { addressesIn, type Mail } from './mail.ts';

/** An address of a channel, as mail names it: its token, and what the writer asked for. */
export interface Recipient {
  readonly token: string;
  readonly options: Options;
}

/** How mail is to be shown (wire facts 9). */
export interface Options {
  /** Tells whom the mail is from. */
  readonly showSender: boolean;
  readonly includeFooter: boolean;
  readonly includeQuotes: boolean;
  /** Shows the HTML of mail that has plain text as well. */
  readonly preferHtml: boolean;
}

/** Channels that one mail can reach; whoever writes to more of them is sending to all they know. */
export const MAX_CHANNELS = 20;

/** Where programs say to whom mail goes, those first that know the envelope, which also has hidden recipients. */
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

/** The addresses of channels that mail went to, each token once, in the order of `HEADERS`. */
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

/** What the address stands for, if it is one of a channel. Its readable part means nothing. */
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

/** Whether an address is at the domain of this service, whatever it stands for. */
export const isOurs = (address: string, domain: string): boolean => localPart(address, domain) !== undefined;

/** What stands before the `@`, in lower case, since some programs change the case on the way. */
function localPart(address: string, domain: string): string | undefined {
  const given = address.trim().toLowerCase();
  return given.endsWith(`@${domain}`) ? given.slice(0, -domain.length - 1) : undefined;
}
