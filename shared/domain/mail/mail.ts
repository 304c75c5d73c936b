import PostalMime, { type Address, addressParser, type Email } from 'postal-mime';
import { withoutElements } from './text.ts';

/** The parts of a mail that a channel shows, decoded. None of them can be trusted. */
export interface Mail {
  readonly from: string;
  /** The addresses that it says it is from. */
  readonly senders: readonly string[];
  readonly subject: string;
  readonly messageId: string | undefined;
  /** The plain text; empty where there is none. */
  readonly text: string;
  readonly html: string;
  /** The names of the files that came with it, or their types where they have none. */
  readonly files: readonly string[];
  /** The values of all headers of this name (in lower case), the newest first. */
  readonly header: (name: string) => readonly string[];
}

/** Largest mail that we accept, in bytes, with encoded attachments. */
export const LARGEST_MAIL = 10 * 1024 * 1024;

/** Limits for nesting and headers. Real mail is far below. */
const bounds = { maxNestingDepth: 32, maxHeadersSize: 256 * 1024 };

/** UTF-16 units of a body that are read: many times the length of a message. */
const MAX_BODY_LENGTH = 200_000;

/** Most lines of a mail: twice the lines of the largest usual mail. The parser awaits each line. */
const MAX_LINES = 300_000;

/** Parses a mail; undefined if it exceeds the limits. */
export async function parseMail(raw: Uint8Array): Promise<Mail | undefined> {
  if (linesIn(raw) > MAX_LINES) return undefined;
  // An attached mail stays an attachment: it was not written to the channel.
  const email = await parsed(raw, { ...bounds, forceRfc822Attachments: true });
  if (email === undefined) return undefined;
  const header = (name: string): string[] =>
    email.headers.flatMap(({ key, value }) => (key === name ? [value] : []));
  const html = clean((email.html ?? '').slice(0, MAX_BODY_LENGTH));
  return {
    from: clean(named(email.from ?? email.sender)),
    senders: [...[email.from, email.sender].flatMap(mailboxes), ...addressesIn(header('return-path'))],
    subject: clean(email.subject ?? ''),
    messageId: email.messageId?.trim() || undefined,
    text: clean((email.text ?? '').slice(0, MAX_BODY_LENGTH)),
    html,
    files: email.attachments.map(
      ({ filename, mimeType }) => clean(filename ?? '').trim() || mimeType || 'unnamed',
    ),
    header,
  };
}

function linesIn(raw: Uint8Array): number {
  let lines = 0;
  for (let at = raw.indexOf(10); at >= 0; at = raw.indexOf(10, at + 1)) lines++;
  return lines;
}

/** The addresses in the values of headers. */
export const addressesIn = (values: readonly string[]): string[] =>
  values.flatMap((value) => addressParser(value, { flatten: true })).flatMap(mailboxes);

/**
 * The readable text of HTML. The parser converts HTML only beside a plain-text part, so we build such a mail. An unclosed
 * `<` is escaped first: it would take the parser quadratic time.
 */
export async function textOfHtml(html: string): Promise<string> {
  const read = withoutElements(html, 'style').replace(/<(?![^<>]*>)/g, '&lt;');
  const beside = [
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    '',
    '--part',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(read).toString('base64'),
    '--part--',
  ];
  return clean((await parsed(Buffer.from(beside.join('\r\n')), bounds))?.text ?? '');
}

type Options = Parameters<typeof PostalMime.parse>[1];

/** The parser throws only when a limit is exceeded. */
const parsed = (raw: Uint8Array, options: Options): Promise<Email | undefined> =>
  PostalMime.parse(raw, options).catch(() => undefined);

const named = (address: Address | undefined): string => {
  if (address === undefined) return '';
  const { name, address: mailbox = '' } = address;
  return name === '' ? mailbox : `${name} <${mailbox}>`;
};

const mailboxes = (address: Address | undefined): string[] =>
  (address?.group ?? (address ? [address] : [])).flatMap(({ address: mailbox }) => mailbox || []);

/** Removes lone surrogates and control characters other than line ends and tabs. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '');
