import MarkdownItParser, { type MarkdownIt } from 'markdown-it';
import { codeBlocks } from './code-block.ts';
import { containers, lists } from './container.ts';
import { formulas } from './formula.ts';
import { inlineSyntax } from './inline.ts';
import { links } from './link.ts';
import { previews } from './preview.ts';
import {
  envWith,
  formulasIn,
  type Mention,
  mentionIn,
  referenceRules,
  resolvedIn,
} from './reference-rules.ts';
import { NOTHING_RESOLVED, type ResolvedReferences } from './references.ts';
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
