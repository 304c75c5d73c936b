import type { MarkdownIt, StateCore, StateInline } from 'markdown-it';
import { type BareAddress, bareAddresses, isSafeAddress, withScheme } from './address.ts';
import { resolvedIn } from './reference-rules.ts';

/** The addresses in a text that is being parsed, by where they start. */
const addresses = new WeakMap<StateInline, ReadonlyMap<number, BareAddress>>();

function addressesIn(state: StateInline): ReadonlyMap<number, BareAddress> {
  const known = addresses.get(state);
  if (known) return known;
  const found = new Map(bareAddresses(state.src).map((address) => [address.start, address]));
  addresses.set(state, found);
  return found;
}

/** A web or mail address without markup. */
function bareLinkRule(state: StateInline, silent: boolean): boolean {
  if (state.linkLevel > 0) return false;
  const address = addressesIn(state).get(state.pos);
  if (!address || address.end > state.posMax) return false;
  const text = state.src.slice(address.start, address.end);
  const href = state.md.normalizeLink(text);
  if (!state.md.validateLink(href)) return false;
  if (!silent) {
    state.push('link_open', 'a', 1).attrs = [['href', href]];
    // An address is shown as it was written: a decoded one can look like another.
    state.push('text', '', 0).content = text;
    state.push('link_close', 'a', -1);
  }
  state.pos = address.end;
  return true;
}

/** Marks at which another rule may begin. */
const MARK = /[\n!#$%&*+\-:<=>@[\\\]^_`{}~]/;

/** Plain text, up to the next mark or address. */
function textRule(state: StateInline, silent: boolean): boolean {
  const starts = addressesIn(state);
  let end = state.pos;
  while (end < state.posMax && !MARK.test(state.src.charAt(end)) && !(end > state.pos && starts.has(end)))
    end += 1;
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** An address of a place in this organization's own client, without what every reader knows. */
function shortened(href: string, baseUrl: string | undefined): string {
  if (baseUrl === undefined) return href;
  const [address, own] = [href, `${baseUrl}/#narrow/`].map((url) => url.replace(/^https?:/i, ''));
  return address?.startsWith(own ?? href) ? href.slice(href.indexOf('#narrow/')) : href;
}

/**
 * Puts links right that are no use as they are: one without a text shows its address, one to this organization's client
 * is relative, and links that are no valid HTML become their text: `[text]()`, which would lead to the reader's own
 * page, and links within links.
 */
function finishLinks(state: StateCore): void {
  const { baseUrl } = resolvedIn(state.env);
  for (const block of state.tokens) {
    if (!block.children) continue;
    const kept: boolean[] = [];
    block.children = block.children.flatMap((token, index, all) => {
      if (token.type === 'link_close') return kept.pop() ? [token] : [];
      if (token.type !== 'link_open') return [token];
      const href = String(token.attrGet('href') ?? '');
      const isKept = !kept.includes(true) && href !== '';
      kept.push(isKept);
      if (!isKept) return [];
      token.attrSet('href', shortened(href, baseUrl));
      const next = all[index + 1];
      if (next?.type === 'link_close') {
        const text = new state.Token('text', '', 0);
        text.content = href;
        return [token, text];
      }
      if (next?.type === 'text' && all[index + 2]?.type === 'link_close' && next.content.trim() === '')
        next.content = href;
      return [token];
    });
  }
}

/** Links, and addresses that become links by themselves. */
export function links(markdown: MarkdownIt): void {
  const encoded = markdown.normalizeLink.bind(markdown);
  markdown.normalizeLink = (address) => encoded(withScheme(address));
  markdown.validateLink = isSafeAddress;
  markdown.inline.ruler.before('text', 'bare_link', bareLinkRule);
  markdown.inline.ruler.at('text', textRule);
  markdown.core.ruler.after('inline', 'finished_links', finishLinks);
}
