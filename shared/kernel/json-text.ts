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
