import MarkdownItParser, { type MarkdownIt, type StateCore, type Token } from 'markdown-it';
import { codeBlocks } from './code-block.ts';
import { containers, lists } from './container.ts';
import { formulas } from './formula.ts';
import { inlineSyntax } from './inline.ts';
import { links } from './link.ts';
import {
  envWith,
  formulasIn,
  type Mention,
  mentionIn,
  referenceRules,
  resolvedIn,
} from './reference-rules.ts';
import { type Lookup, NOTHING_RESOLVED, type ResolvedImage, type ResolvedReferences } from './references.ts';
import { timestamps } from './timestamp.ts';

/**
 * Zulip's dialect of Markdown. HTML in the text is text; a new line is a line break. The parts of CommonMark that are
 * surprising in a chat are off: backslash escapes, underlined headings, reference definitions, images, links in `<>`.
 */
const dialect: MarkdownIt = new MarkdownItParser({ html: false, breaks: true })
  .disable(['escape', 'lheading', 'reference', 'image', 'html_inline', 'html_block', 'autolink'])
  .use(containers)
  .use(lists)
  .use(codeBlocks)
  .use(formulas, formulasIn)
  .use(referenceRules)
  .use(inlineSyntax)
  .use(timestamps)
  .use(links)
  .use(previews);
// The organization's linkifiers (companion facts 4.1).
dialect.core.ruler.push('linkifiers', (state) => resolvedIn(state.env).linkifiers?.linkMessage(state));

/** A rendered text, and the facts about it that the rest of the service needs. Silent mentions are not counted. */
export interface Rendered {
  /** Safe HTML, at most `MAX_HTML_BYTES`. */
  readonly html: string;
  /** The users mentioned, each once, in ascending order. */
  readonly mentionedUserIds: readonly number[];
  /** The groups mentioned, each once, in ascending order. */
  readonly mentionedGroupIds: readonly number[];
  /** Whether everybody in the channel is mentioned (`@**all**` and its synonyms). */
  readonly channelWildcard: boolean;
  /** Whether the participants of the topic are mentioned (`@**topic**`). */
  readonly topicWildcard: boolean;
  /** Whether the text is a status message: `/me waves`. */
  readonly isMe: boolean;
  /** The targets of its links, each once, in the order of the text. Links to channels and topics are not among them. */
  readonly links: readonly string[];
  readonly hasLink: boolean;
  readonly hasImage: boolean;
}

/**
 * The most HTML that one text may become, in bytes of UTF-8. A message is one item of the table, at most 400 KB, and
 * markup can make a text a hundred times longer. Above the limit the HTML is the escaped text, without any markup.
 */
export const MAX_HTML_BYTES = 100_000;

const IMAGE_PATH = /^[^?#]*\.(?:png|jpe?g|gif|webp|avif|bmp|heic|tiff?)(?:[?#]|$)/i;

/** The ids of one kind of mentions, each once, in ascending order. */
const idsOf = (mentions: readonly Mention[], kind: Mention['kind']): number[] => {
  const ids = mentions.filter((mention) => mention.kind === kind).map((mention) => mention.id);
  return [...new Set(ids)].sort((a, b) => a - b);
};

/** The text without markup, as paragraphs. */
function escapedParagraphs(content: string): string {
  const paragraphs = content.split(/\n\s*\n/).map((paragraph) => dialect.utils.escapeHtml(paragraph.trim()));
  return paragraphs.map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>\n')}</p>`).join('\n');
}

/**
 * Renders a message or a description to safe HTML and collects its mentions (specification 4.1, wire facts 3.7).
 *
 * `resolved` has the names that `extractReferences` listed; a name that is not in it stays plain text. Mentions in code
 * and in quotes are not counted. Never throws, whatever the text.
 */
export function render(content: string, resolved: ResolvedReferences): Rendered {
  const env = envWith(resolved);
  const tokens = dialect.parse(content, env);
  const html = dialect.renderer.render(tokens, dialect.options, env).trimEnd();
  const isTooLong = Buffer.byteLength(html) > MAX_HTML_BYTES;
  // Inline tokens only; nothing in code is among them.
  const inline = isTooLong ? [] : tokens.flatMap((token) => token.children ?? []);
  const mentions = inline.flatMap((token) => mentionIn(token) ?? []).filter((mention) => !mention.silent);
  const opened = inline.filter((token) => token.type === 'link_open');
  const links = [...new Set(opened.map((token) => String(token.attrGet('href'))))];
  return {
    html: isTooLong ? escapedParagraphs(content) : html,
    mentionedUserIds: idsOf(mentions, 'user'),
    mentionedGroupIds: idsOf(mentions, 'group'),
    channelWildcard: mentions.some((mention) => mention.kind === 'channelWildcard'),
    topicWildcard: mentions.some((mention) => mention.kind === 'topicWildcard'),
    isMe: content.startsWith('/me ') && html.startsWith('<p>') && html.endsWith('</p>'),
    links,
    hasLink: links.length > 0,
    hasImage: links.some((link) => IMAGE_PATH.test(link) || resolved.images?.get(link) !== undefined),
  };
}

/** Renders the description of a channel or a folder: the same dialect, but descriptions notify nobody. */
export const renderDescription = (text: string, resolved: ResolvedReferences = NOTHING_RESOLVED): string =>
  render(text, resolved).html;

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
function previews(markdown: MarkdownIt): void {
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
