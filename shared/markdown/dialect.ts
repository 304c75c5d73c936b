import MarkdownItParser, { type MarkdownIt } from 'markdown-it';
import { channelLinks } from './channel-link.ts';
import { characterReferences } from './character-reference.ts';
import { codeBlocks } from './code-block.ts';
import { emoji } from './emoji.ts';
import { emphasis } from './emphasis.ts';
import { fencedBlocks } from './fenced-block.ts';
import { links } from './link.ts';
import { math } from './math.ts';
import { mentions } from './mention.ts';
import { limitedNesting } from './nesting.ts';
import { tables } from './table.ts';
import { timestamps } from './timestamp.ts';

/**
 * Zulip's dialect of Markdown. HTML in the text is text; a new line is a line break. What CommonMark has and chats
 * trip over is switched off: backslash escapes, underlined headings, reference definitions, images by syntax.
 */
export const dialect: MarkdownIt = new MarkdownItParser({ html: false, linkify: true, breaks: true })
  .disable(['escape', 'lheading', 'reference', 'image', 'html_inline', 'html_block'])
  .use(limitedNesting)
  .use(fencedBlocks)
  .use(codeBlocks)
  .use(tables)
  .use(mentions)
  .use(channelLinks)
  .use(emoji)
  .use(math)
  .use(emphasis)
  .use(timestamps)
  .use(characterReferences)
  .use(links);
