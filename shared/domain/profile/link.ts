/** Longest address that a link may have. */
const LONGEST = 2_048;

/** Whether text is the address of something on the web; `javascript:` and the like lead nowhere. */
export const isLink = (text: string): boolean =>
  text.length <= LONGEST && /^(https?|ftps?):\/\/[^\s/]\S*$/i.test(text) && URL.canParse(text);
