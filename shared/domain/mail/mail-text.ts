/** What the writer of mail said, apart from what their program put around it. */
export interface Body {
  /** What they wrote, with a signature if there is one. */
  readonly own: string;
  /** What they answered to or passed on, where it stands below. */
  readonly quoted: string;
}

/** Words with which programs of several languages begin and end the line above a quote. */
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Op|Den|Em|W dniu)\s.*(?:wrote|schrieb\s.*|écrit|escribió|ha scritto|schreef\s.*|skrev\s.*|escreveu|napisał\(?a?\)?)\s?:$/iu;
/** The same where it has no such words: a time, an address and a colon. */
const isAddressed = (line: string): boolean =>
  line.endsWith(':') && /\d/.test(line) && /<[^<>\s]+@[^<>\s]+>/.test(line);
/** Lines that an attribution is broken into at most. */
const ATTRIBUTION_LINES = 3;
/** UTF-16 units of it: the patterns take too long for what is longer, and it is none. */
const LONGEST_ATTRIBUTION = 300;

/** The line above what was forwarded or, in some programs, answered to. */
const DIVIDER =
  /^\s*-{2,}\s*(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Forwarded message|Weitergeleitete Nachricht|Message transféré)\s*-{2,}\s*$/iu;
const FORWARDED = /^Begin forwarded message:$/i;

/** The header that Outlook puts above a quote: who, and at once when, to whom or about what. */
const QUOTED_FROM = /^\*?(?:From|Von|De|Da|Van|Från|Fra)\s?:/iu;
const QUOTED_FIELD =
  /^\*?(?:Sent|Date|To|Cc|Subject|Gesendet|Datum|An|Betreff|Envoyé|À|Objet|Enviado|Fecha|Para|Asunto|Inviato|Data|A|Oggetto|Verzonden|Aan|Onderwerp)\s?:/iu;

/** What telephones put below mail. */
const DEVICE =
  /^(?:Sent from my|Von meinem|Envoyé de mon|Enviado desde mi|Inviato da)\s[\p{L}\p{N} ]{1,30}$/iu;

const isQuoted = (line: string): boolean => line.startsWith('>');
const isBlank = (line: string): boolean => line.trim() === '';

/** Parts plain text into what was written and what was quoted below it. */
export function bodyOf(text: string): Body {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const end = quoteStart(lines);
  return { own: joined(lines.slice(0, end)), quoted: joined(lines.slice(end)) };
}

const joined = (lines: readonly string[]): string => lines.join('\n').trimEnd().replace(/^\n+/, '');

/** The line at which everything that follows was written by others. */
function quoteStart(lines: readonly string[]): number {
  const divider = lines.findIndex(
    (line, i) => DIVIDER.test(line) || FORWARDED.test(line) || isQuotedHeader(lines, i),
  );
  let end = divider < 0 ? lines.length : divider;
  const beforeTail = lastIndexWhere(lines, end, (line) => !isQuoted(line) && !isBlank(line)) + 1;
  const hasTail = lines.slice(beforeTail, end).some(isQuoted);
  if (hasTail) end = beforeTail;
  return end - attributionAbove(lines, end, hasTail);
}

/** Outlook's header, or the line that it draws above it. */
function isQuotedHeader(lines: readonly string[], at: number): boolean {
  const from = /^_{10,}$/.test(lines[at] ?? '') ? nextFilled(lines, at + 1) : at;
  if (!QUOTED_FROM.test(lines[from] ?? '')) return false;
  return lines.slice(from + 1, from + 5).filter((line) => QUOTED_FIELD.test(line)).length >= 2;
}

/** How many lines above a quote say whose words it is, with blank lines below them. */
function attributionAbove(lines: readonly string[], end: number, isAboveQuote: boolean): number {
  const last = lastIndexWhere(lines, end, (line) => !isBlank(line));
  for (let count = 1; count <= ATTRIBUTION_LINES && last - count + 1 >= 0; count++) {
    const block = lines.slice(last - count + 1, last + 1);
    const text = block.map((line) => line.trim()).join(' ');
    if (text.length > LONGEST_ATTRIBUTION || block.some(isBlank)) return 0;
    if (ATTRIBUTION.test(text) || (isAboveQuote && isAddressed(text))) return end - (last - count + 1);
  }
  return 0;
}

function lastIndexWhere(lines: readonly string[], end: number, holds: (line: string) => boolean): number {
  for (let i = end - 1; i >= 0; i--) if (holds(lines[i] ?? '')) return i;
  return -1;
}

function nextFilled(lines: readonly string[], from: number): number {
  const found = lines.slice(from, from + 3).findIndex((line) => !isBlank(line));
  return found < 0 ? from : from + found;
}

/**
 * The same without the quote that it begins with, as those write it who answer below. Answers between several quotes
 * stay as they are, since they mean nothing without them.
 */
export function withoutLeadingQuote(own: string): string {
  const lines = own.split('\n');
  const quote = lines.findIndex(isQuoted);
  if (quote < 0 || quote - attributionAbove(lines, quote, true) > 0) return own;
  const rest = lines.findIndex((line, i) => i > quote && !isQuoted(line) && !isBlank(line));
  return rest < 0 || lines.slice(rest).some(isQuoted) ? own : lines.slice(rest).join('\n');
}

/** Without the signature, which begins at the line `-- `. Where there are several, what they part is not known. */
export function withoutSignature(own: string): string {
  const lines = own.split('\n');
  const dashes = lines.flatMap((line, i) => (line.trimEnd() === '--' ? [i] : []));
  const end = dashes.length === 1 ? dashes[0] : lines.length;
  const kept = lines.slice(0, end);
  const last = lastIndexWhere(kept, kept.length, (line) => !isBlank(line));
  return (DEVICE.test(kept[last] ?? '') ? kept.slice(0, last) : kept).join('\n').trimEnd();
}

/** HTML without these elements and all that is in them: what it quotes, so that the same holds for it as for text. */
export function withoutElements(html: string, name: 'blockquote' | 'style'): string {
  const kept: string[] = [];
  let depth = 0;
  let from = 0;
  for (const tag of html.matchAll(new RegExp(`<(/?)${name}\\b`, 'gi'))) {
    if (tag[1] === '') {
      if (depth === 0) kept.push(html.slice(from, tag.index));
      depth++;
    } else if (depth > 0) {
      depth--;
      from = tag.index;
    }
  }
  if (depth === 0) kept.push(html.slice(from));
  return kept.join('');
}
