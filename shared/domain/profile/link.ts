import { unprintableAt } from '../../kernel/folding.ts';

/** Longest address that a link may have. */
const LONGEST = 2_048;

/** Characters that no address has (RFC 3986), and that end an attribute or begin an element in HTML. */
const MARKUP = /[<>"`\\\s]/;

/**
 * Whether text is the address of a page on the web, written so that it can stand in HTML as it is. `javascript:` and
 * the like lead nowhere.
 */
export const isLink = (text: string): boolean =>
  text.length <= LONGEST &&
  /^https?:\/\/[^/]/i.test(text) &&
  !MARKUP.test(text) &&
  unprintableAt(text) === undefined &&
  URL.canParse(text);
