import type { MarkdownIt, StateCore } from 'markdown-it';

/**
 * The only addresses that may become links or images: the web, mail, telephone, and paths and fragments on this
 * server. A list of what is allowed, because nobody can list all that is dangerous.
 */
const SAFE = /^(?:https?:\/\/|mailto:|tel:|\/(?!\/)|#)/i;

/** A host without a scheme, as people write it: `example.com/page`. */
const BARE_HOST = /^[^\s:/?#\\@]+\.[^\s:/?#\\@]{2,}(?:[/?#]|$)/;
const BARE_MAIL = /^[^\s:/?#\\@]+@[^\s:/?#\\@]+$/;

/**
 * Endings of host names that are taken for links without a scheme. Missing on purpose are those that are more often
 * the ending of a file in a chat about software (`md`, `py`, `rs`, `sh`).
 */
const GUESSED_ENDINGS =
  'com org net edu gov mil int info biz name pro app dev page cloud online site tech xyz blog news wiki chat shop ' +
  'store io ai co me tv fm gg ly to eu us uk ca au nz ie de at ch fr be nl lu it es pt se no fi dk is pl cz sk hu ro ' +
  'bg gr ru ua by lt lv ee tr il ae sa in cn jp kr tw hk sg my th vn id ph br mx ar cl pe za ng ke eg';

/** Whether this address may be the target of a link or the source of an image. */
export const isSafeAddress = (address: string): boolean => SAFE.test(address);

/** Completes what people leave out: `example.com` is a web site and `me@example.com` a mail address, never a path. */
function completed(address: string): string {
  if (BARE_MAIL.test(address)) return `mailto:${address}`;
  return BARE_HOST.test(address) ? `http://${address}` : address;
}

/**
 * Takes away the links that HTML has no place for, and leaves their text: `[text]()`, which would lead to the page
 * that the reader is on, and a link within a link, which the parser sometimes makes of an address in a link's text.
 */
function properLinks(state: StateCore): void {
  for (const block of state.tokens) {
    const kept: boolean[] = [];
    const proper = block.children?.filter((token) => {
      if (token.type === 'link_open') {
        kept.push(!kept.includes(true) && token.attrGet('href') !== '');
        return kept.at(-1);
      }
      return token.type === 'link_close' ? kept.pop() : true;
    });
    if (proper) block.children = proper;
  }
}

/** Links and addresses that are links by themselves; no images, no reference definitions. */
export function links(markdown: MarkdownIt): void {
  const encoded = markdown.normalizeLink.bind(markdown);
  markdown.normalizeLink = (address) => encoded(completed(address));
  markdown.validateLink = isSafeAddress;
  markdown.core.ruler.after('linkify', 'proper_links', properLinks);
  // An address is shown as it was written: a decoded one can look like another.
  markdown.normalizeLinkText = (address) => address;
  markdown.linkify
    .set({ fuzzyLink: true })
    .tlds(GUESSED_ENDINGS.split(' '))
    .add('ftp:', null)
    .add('//', null);
}
