/** The text of a mail, split into the writer's own words and the quote below. */
interface Body {
  /** The writer's text, with the signature if there is one. */
  readonly own: string;
  /** The quoted or forwarded mail below it. */
  readonly quoted: string;
}

/** The attribution line above a quote, in several languages. */
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Op|Den|Em|W dniu)\s.*(?:wrote|schrieb\s.*|écrit|escribió|ha scritto|schreef\s.*|skrev\s.*|escreveu|napisał\(?a?\)?)\s?:$/iu;
/** An attribution line without such words: it has a digit, an address and a colon. */
const isAddressed = (line: string): boolean =>
  line.endsWith(':') && /\d/.test(line) && /<[^<>\s]+@[^<>\s]+>/.test(line);
/** Most lines of an attribution. */
const MAX_ATTRIBUTION_LINES = 3;
/** Longest attribution, in UTF-16 units: the patterns are too slow for more. */
const MAX_ATTRIBUTION_LENGTH = 300;

/** The line above a forwarded mail or, in some programs, above a quote. */
const DIVIDER =
  /^\s*-{2,}\s*(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Forwarded message|Weitergeleitete Nachricht|Message transféré)\s*-{2,}\s*$/iu;
const FORWARDED = /^Begin forwarded message:$/i;

/** The header block that Outlook puts above a quote. */
const QUOTED_FROM = /^\*?(?:From|Von|De|Da|Van|Från|Fra)\s?:/iu;
const QUOTED_FIELD =
  /^\*?(?:Sent|Date|To|Cc|Subject|Gesendet|Datum|An|Betreff|Envoyé|À|Objet|Enviado|Fecha|Para|Asunto|Inviato|Data|A|Oggetto|Verzonden|Aan|Onderwerp)\s?:/iu;

/** Signatures that phones add. */
const DEVICE =
  /^(?:Sent from my|Von meinem|Envoyé de mon|Enviado desde mi|Inviato da)\s[\p{L}\p{N} ]{1,30}$/iu;

const isQuoted = (line: string): boolean => line.startsWith('>');
const isBlank = (line: string): boolean => line.trim() === '';

/** Splits plain text into the writer's own text and the quote below it. */
export function bodyOf(text: string): Body {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const end = quoteStart(lines);
  return { own: joined(lines.slice(0, end)), quoted: joined(lines.slice(end)) };
}

const joined = (lines: readonly string[]): string => lines.join('\n').trimEnd().replace(/^\n+/, '');

/** The index of the first line of the quote. */
function quoteStart(lines: readonly string[]): number {
  const divider = lines.findIndex(
    (line, i) => DIVIDER.test(line) || FORWARDED.test(line) || isQuotedHeader(lines, i),
  );
  let end = divider < 0 ? lines.length : divider;
  const beforeTail = lines.slice(0, end).findLastIndex((line) => !isQuoted(line) && !isBlank(line)) + 1;
  const hasTail = lines.slice(beforeTail, end).some(isQuoted);
  if (hasTail) end = beforeTail;
  return end - attributionAbove(lines, end, hasTail);
}

/** Whether Outlook's header block, or the rule above it, starts at this line. */
function isQuotedHeader(lines: readonly string[], at: number): boolean {
  const from = /^_{10,}$/.test(lines[at] ?? '') ? nextFilled(lines, at + 1) : at;
  if (!QUOTED_FROM.test(lines[from] ?? '')) return false;
  return lines.slice(from + 1, from + 5).filter((line) => QUOTED_FIELD.test(line)).length >= 2;
}

/** How many lines above the quote are its attribution, blank lines included. */
function attributionAbove(lines: readonly string[], end: number, isAboveQuote: boolean): number {
  const last = lines.slice(0, end).findLastIndex((line) => !isBlank(line));
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES && last - count + 1 >= 0; count++) {
    const block = lines.slice(last - count + 1, last + 1);
    const text = block.map((line) => line.trim()).join(' ');
    if (text.length > MAX_ATTRIBUTION_LENGTH || block.some(isBlank)) return 0;
    if (ATTRIBUTION.test(text) || (isAboveQuote && isAddressed(text))) return end - (last - count + 1);
  }
  return 0;
}

function nextFilled(lines: readonly string[], from: number): number {
  const found = lines.slice(from, from + 3).findIndex((line) => !isBlank(line));
  return found < 0 ? from : from + found;
}

/**
 * Removes a quote at the beginning (for replies below the quote). Replies between several quotes stay as they are: they
 * make no sense without the quotes.
 */
export function withoutLeadingQuote(own: string): string {
  const lines = own.split('\n');
  const quote = lines.findIndex(isQuoted);
  if (quote < 0 || quote - attributionAbove(lines, quote, true) > 0) return own;
  const rest = lines.findIndex((line, i) => i > quote && !isQuoted(line) && !isBlank(line));
  return rest < 0 || lines.slice(rest).some(isQuoted) ? own : lines.slice(rest).join('\n');
}

/** Removes the signature, which begins at the line `-- `. If there are several such lines, nothing is removed. */
export function withoutSignature(own: string): string {
  const lines = own.split('\n');
  const dashes = lines.flatMap((line, i) => (line.trimEnd() === '--' ? [i] : []));
  const end = dashes.length === 1 ? dashes[0] : lines.length;
  const kept = lines.slice(0, end);
  const last = kept.findLastIndex((line) => !isBlank(line));
  return (DEVICE.test(kept[last] ?? '') ? kept.slice(0, last) : kept).join('\n').trimEnd();
}

/** Removes these elements, with their content, from HTML. */
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
