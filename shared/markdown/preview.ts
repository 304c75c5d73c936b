import type { MarkdownIt, StateCore, Token } from 'markdown-it';
import { resolvedIn } from './reference-rules.ts';
import type { Lookup, ResolvedImage } from './references.ts';

/** A text with more different links than this shows no images, as in the reference. */
const MAX_LINKS = 24;

/** An image to show, with the text of its link unless that is an address. */
interface Preview {
  readonly image: ResolvedImage;
  readonly title: string | undefined;
}

/** The blocks after which the images in them are shown. */
const ENDS: ReadonlySet<string> = new Set(['paragraph_close', 'heading_close', 'table_close']);

/** The links of a line of tokens: the address of each, and its text. */
function linksIn(line: Token): { readonly href: string; readonly text: string }[] {
  const links: { href: string; text: string }[] = [];
  let isInLink = false;
  for (const token of line.children ?? []) {
    if (token.type === 'link_open') links.push({ href: String(token.attrGet('href')), text: '' });
    if (token.type === 'link_open' || token.type === 'link_close') isInLink = token.nesting === 1;
    const link = links.at(-1);
    if (isInLink && link) link.text += token.content;
  }
  return links;
}

/** The lines of a text outside of quotes, which show no images. */
function linesIn(blocks: readonly Token[]): ReadonlySet<Token> {
  let quotes = 0;
  const lines = new Set<Token>();
  for (const token of blocks) {
    if (token.type === 'blockquote_open' || token.type === 'blockquote_close') quotes += token.nesting;
    if (token.type === 'inline' && quotes === 0) lines.add(token);
  }
  return lines;
}

/**
 * Adds the images to which a text links, each once, after the paragraph with the first link to it. A paragraph that is
 * nothing but the address of an image is replaced by it.
 */
function addPreviews(state: StateCore): void {
  const { images } = resolvedIn(state.env);
  if (!images) return;
  const lines = linesIn(state.tokens);
  const all = new Set([...lines].flatMap(linksIn).map(({ href }) => href));
  if (all.size > MAX_LINKS) return;
  const shown = new Set<string>();
  let waiting: Preview[] = [];
  state.tokens = state.tokens.flatMap((token) => {
    if (lines.has(token)) waiting.push(...previewsIn(token, images, shown));
    if (waiting.length === 0 || !ENDS.has(token.type)) return [token];
    const previews = new state.Token('previews', 'div', 0);
    previews.meta = { previews: waiting };
    waiting = [];
    return [token, previews];
  });
  state.tokens.forEach(hideAddress);
}

function previewsIn(line: Token, images: Lookup<string, ResolvedImage>, shown: Set<string>): Preview[] {
  return linksIn(line).flatMap(({ href, text }) => {
    const image = images.get(href);
    if (!image || shown.has(image.url)) return [];
    shown.add(image.url);
    return [{ image, title: text === href ? undefined : text }];
  });
}

const previewsOf = (token: Token | undefined): readonly Preview[] =>
  (token?.meta as { readonly previews?: readonly Preview[] } | undefined)?.previews ?? [];

/** Hides the paragraph of a preview that is only its address. The link in it still counts as one of the text. */
function hideAddress(token: Token, index: number, tokens: readonly Token[]): void {
  const [open, line, close] = tokens.slice(index - 3, index);
  const isAddress = line?.children?.length === 3 && line.children[0]?.type === 'link_open';
  if (!isAddress || !open || !close || previewsOf(token)[0]?.title !== undefined) return;
  if (close.type !== 'paragraph_close' || previewsOf(token).length !== 1) return;
  for (const block of [open, line, close]) Object.assign(block, { type: 'hidden' });
}

/** Previews of uploaded images, in the markup of the reference. The organization decides whether there are any. */
export function previews(markdown: MarkdownIt): void {
  const { escapeHtml } = markdown.utils;
  const { rules } = markdown.renderer;
  markdown.core.ruler.push('previews', addPreviews);
  rules.hidden = () => '';
  rules.previews = (tokens, index) =>
    previewsOf(tokens[index])
      .map(({ image: { url, thumbnailUrl, contentType, width, height, isAnimated }, title }) => {
        const named = title === undefined ? '' : ` title="${escapeHtml(title)}"`;
        const moving = isAnimated ? 'data-animated="true" ' : '';
        const facts = `data-original-content-type="${contentType}" data-original-dimensions="${width}x${height}"`;
        const shown = `<img ${moving}${facts} src="${escapeHtml(thumbnailUrl)}">`;
        return `<div class="message_inline_image"><a href="${escapeHtml(url)}"${named}>${shown}</a></div>`;
      })
      .join('');
}
