import { hash, timingSafeEqual } from 'node:crypto';
import { badRequest } from './errors.ts';

/**
 * Case folding for names that are compared without regard to case: emails, channel names, topics, full names.
 * Canonical composition first, so that two spellings of one accented letter are one name; lower case after upper
 * case, so that letters with several lower-case forms meet.
 */
export const folded = (name: string): string => name.normalize('NFC').toUpperCase().toLowerCase();

/** Length as the limits count it: Unicode code points, not UTF-16 units. */
export const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** The first `count` code points. */
export const firstCodePoints = (text: string, count: number): string => {
  let end = 0;
  for (const point of text) {
    if (count-- === 0) break;
    end += point.length;
  }
  return text.slice(0, end);
};

/**
 * The 1-based position (in code points) of the first character that has no place in a name: controls,
 * surrogates, private and unassigned non-characters (wire facts 3.4). Undefined when all are printable.
 */
export function unprintableAt(text: string): number | undefined {
  let position = 0;
  for (const point of text) {
    position++;
    if (/^[\p{Cc}\p{Cs}]$/u.test(point) || isNonCharacter(point.codePointAt(0) ?? 0)) return position;
  }
  return undefined;
}

const isNonCharacter = (point: number): boolean =>
  (point >= 0xfdd0 && point <= 0xfdef) || (point & 0xfffe) === 0xfffe;

/** The sentence of a refusal for text with an unprintable character; undefined if there is none. */
export function unprintableProblem(what: string, text: string): string | undefined {
  const position = unprintableAt(text);
  return position === undefined
    ? undefined
    : `${what} has a character at position ${position} that cannot be shown.`;
}

/**
 * Checks that a name has printable characters only (wire facts 3.4).
 *
 * @param what how the refusal begins: `The topic`
 * @throws Refusal `BAD_REQUEST` with the position of the first other character
 */
export function checkPrintable(what: string, text: string): void {
  const problem = unprintableProblem(what, text);
  if (problem !== undefined) throw badRequest(problem);
}

/** How much one JSON text may hold. */
export interface JsonBounds {
  /** Lists and objects inside each other. */
  readonly depth: number;
  /** Entries of all lists and objects together. */
  readonly values: number;
}

/** What the parameters of nearly every endpoint have room in: the longest lists hold 5,000 entries. */
export const usualBounds: JsonBounds = { depth: 20, values: 20_000 };

/**
 * Whether a JSON text stays within bounds, found in one pass that builds nothing, so that it costs little to refuse what
 * would cost much to parse and to check. Of a text that is no JSON it says nothing useful.
 */
export function isWithin(text: string, { depth, values }: JsonBounds): boolean {
  let open = 0;
  let entries = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (inString) {
      if (unit === BACKSLASH) at++;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (unit === COMMA) entries++;
    else if (unit === BRACKET || unit === BRACE) {
      open++;
      entries++;
    } else if (unit === CLOSING_BRACKET || unit === CLOSING_BRACE) open--;
    if (open > depth || entries > values) return false;
  }
  return true;
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, CLOSING_BRACKET, CLOSING_BRACE] = [...'"\\,[{]}'].map(
  (character) => character.charCodeAt(0),
) as [number, number, number, number, number, number, number];

/** The SHA-256 digest of a text or of bytes. */
export const sha256 = (data: string | Uint8Array): Buffer => hash('sha256', data, 'buffer');

/** The same in hexadecimal digits, as it is stored and sent. */
export const digestOf = (data: string | Uint8Array): string => hash('sha256', data, 'hex');

/** Whether two secrets, or their digests, are the same. Compares in constant time; only a difference in length shows. */
export const isSameSecret = (shown: Uint8Array, expected: Uint8Array): boolean =>
  shown.length === expected.length && timingSafeEqual(shown, expected);
