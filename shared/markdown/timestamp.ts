import type { MarkdownIt } from 'markdown-it';
import { patternRule } from './inline.ts';
import { writtenDate } from './written-date.ts';

const TIME = /<time:([^>\n]{1,100})>/y;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
const SECONDS = /^\d{1,12}(?:\.\d{1,9})?$/;

/** Offset of a zone such as `Z`, `+02:00`, `-0730` in milliseconds. No zone means UTC, so every server agrees. */
function zoneOffset(zone: string | undefined): number | undefined {
  if (!zone || /^z$/i.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/**
 * Parses a global time: an ISO 8601 date, a date and time, one with its month in words, or seconds since 1970. Returns it in UTC to the second
 * (`2026-01-01T00:00:00Z`), or undefined if it is none of these or no day of the calendar.
 */
function instant(text: string): string | undefined {
  const trimmed = text.trim();
  let milliseconds: number;
  if (SECONDS.test(trimmed)) {
    milliseconds = Number(trimmed) * 1000;
  } else {
    const match = ISO.exec(trimmed) ?? ISO.exec(writtenDate(trimmed) ?? '');
    if (!match) return undefined;
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
    const local = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second));
    local.setUTCFullYear(year ?? 0);
    // An impossible date (30 February, 25 o'clock) rolls over, and then the parts differ.
    const parts = `${match[1]}-${match[2]}-${match[3]}T${match[4] ?? '00'}:${match[5] ?? '00'}:${match[6] ?? '00'}`;
    if (!Number.isFinite(local.getTime()) || !local.toISOString().startsWith(parts)) return undefined;
    const offset = zoneOffset(match[7]);
    if (offset === undefined) return undefined;
    milliseconds = local.getTime() - offset;
  }
  const date = new Date(milliseconds);
  const fits = Number.isFinite(milliseconds) && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999;
  return fits ? `${date.toISOString().slice(0, 19)}Z` : undefined;
}

/** `<time:2026-01-01T09:00:00+01:00>`: a time that every client shows in its user's time zone. */
export function timestamps(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('html_inline', 'timestamp', patternRule('timestamp', 'time', TIME));
  markdown.renderer.rules.timestamp = (tokens, index) => {
    const text = tokens[index]?.content ?? '';
    const shown = markdown.utils.escapeHtml(text);
    const datetime = instant(text);
    return datetime === undefined
      ? `<span class="timestamp-error">Invalid time format: ${shown}</span>`
      : `<time datetime="${datetime}">${shown}</time>`;
  };
}
