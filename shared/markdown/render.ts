import type { Token } from 'markdown-it';
import { uniqueSorted } from '../unique.ts';
import { dialect } from './dialect.ts';
import { envOf, NOTHING_FOUND, type ResolvedReferences } from './found.ts';
import { type Mention, mentionIn } from './mention.ts';

/** A rendered text, and what the rest of the service must know of it. */
export interface Rendered {
  /** Safe HTML, at most `LONGEST_HTML` bytes of UTF-8. */
  readonly html: string;
  /** The people mentioned aloud, each once, in rising order. */
  readonly mentionedUserIds: readonly number[];
  /** The groups mentioned aloud, each once, in rising order. */
  readonly mentionedGroupIds: readonly number[];
  /** Whether everybody in the channel is mentioned aloud (`@**all**` and its other words). */
  readonly channelWildcard: boolean;
  /** Whether everybody who takes part in the topic is mentioned aloud (`@**topic**`). */
  readonly topicWildcard: boolean;
  /** Whether the text says what its sender does: `/me waves`. */
  readonly isMe: boolean;
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  readonly hasAttachment: boolean;
}

/**
 * The most HTML that one text may become, in bytes of UTF-8. A message is one item of the table, which holds 400 KB,
 * and markup can swell a text a hundredfold; a longer result is replaced by the text itself, without any markup.
 */
export const LONGEST_HTML = 100_000;

const IMAGE_PATH = /^[^?#]*\.(?:png|jpe?g|gif|webp|avif|bmp|heic|tiff?)(?:[?#]|$)/i;
const ATTACHMENT_PATH = /^\/user_uploads\//;

/** The inline tokens of a document, in order; nothing in code is among them. */
const inlineTokens = (tokens: readonly Token[]): Token[] => tokens.flatMap((token) => token.children ?? []);

const idsOf = (mentions: readonly Mention[], kind: Mention['kind']): number[] =>
  uniqueSorted(mentions.filter((mention) => mention.kind === kind).map((mention) => mention.id));

/** The text as it was written, as paragraphs, for when its markup would make it too long. */
function unmarked(content: string): string {
  const paragraphs = content.split(/\n\s*\n/).map((paragraph) => dialect.utils.escapeHtml(paragraph.trim()));
  return paragraphs.map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>\n')}</p>`).join('\n');
}

/**
 * Renders a message or a description to safe HTML and says whom it mentions (specification 4.1, wire facts 3.7).
 *
 * Names are looked up in `found` just as `wants` gave them; a name that is not there stays plain text. Mentions in
 * code, in quotes and silent ones are shown but not counted. Never throws, whatever the text.
 */
export function render(content: string, found: ResolvedReferences): Rendered {
  const isMe = content.startsWith('/me ');
  const env = envOf(found);
  const tokens = dialect.parse(content, env);
  const html = dialect.renderer.render(tokens, dialect.options, env).trimEnd();
  if (Buffer.byteLength(html) > LONGEST_HTML) {
    return { ...NOTHING_MENTIONED, html: unmarked(content), isMe };
  }
  const inline = inlineTokens(tokens);
  const aloud = inline.flatMap((token) => mentionIn(token) ?? []).filter((mention) => !mention.silent);
  const targets = inline
    .filter((token) => token.type === 'link_open')
    .map((token) => String(token.attrGet('href')));
  return {
    html,
    mentionedUserIds: idsOf(aloud, 'user'),
    mentionedGroupIds: idsOf(aloud, 'group'),
    channelWildcard: aloud.some((mention) => mention.kind === 'channelWildcard'),
    topicWildcard: aloud.some((mention) => mention.kind === 'topicWildcard'),
    isMe,
    hasLink: targets.length > 0,
    hasImage: targets.some((target) => IMAGE_PATH.test(target)),
    hasAttachment: targets.some((target) => ATTACHMENT_PATH.test(target)),
  };
}

const NOTHING_MENTIONED: Omit<Rendered, 'html' | 'isMe'> = {
  mentionedUserIds: [],
  mentionedGroupIds: [],
  channelWildcard: false,
  topicWildcard: false,
  hasLink: false,
  hasImage: false,
  hasAttachment: false,
};

/** Renders the description of a channel or a folder: the same dialect, but nobody is notified by a description. */
export const renderDescription = (text: string, found: ResolvedReferences = NOTHING_FOUND): string =>
  render(text, found).html;
