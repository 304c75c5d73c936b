import type { MarkdownIt, RendererRule, StateBlock, StateCore, StateInline } from 'markdown-it';

/** Matches a sticky pattern at the parser's position, within the text that it parses. */
export function matchHere(state: StateInline, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = state.pos;
  const match = pattern.exec(state.src);
  return match && state.pos + match[0].length <= state.posMax ? match : undefined;
}

/**
 * A rule that makes a token of text that matches a sticky pattern. The content is the first group of the pattern, or all
 * that matches.
 */
export const textRule =
  (type: string, tag: string, pattern: RegExp) =>
  (state: StateInline, silent: boolean): boolean => {
    const match = matchHere(state, pattern);
    if (!match) return false;
    if (!silent) state.push(type, tag, 0).content = match[1] ?? match[0];
    state.pos += match[0].length;
    return true;
  };

/** How deep blocks may nest: a quote or a spoiler is one level, a list two. */
export const MAX_NESTING = 20;

/**
 * Below `MAX_NESTING` everything is a plain paragraph. The parser's own limit would drop the text there, and without a
 * limit a line of a thousand `>` would cost a thousand passes over the message and break clients that draw it.
 */
function tooDeepRule(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  if (silent || state.level < MAX_NESTING) return false;
  let next = line + 1;
  while (next < endLine && !state.isEmpty(next) && (state.sCount[next] ?? 0) >= state.blkIndent) next += 1;
  state.line = next;
  pushParagraph(state, state.getLines(line, next, state.blkIndent, false).trim(), [line, next]);
  return true;
}

function pushParagraph(state: StateBlock, content: string, map: [number, number]): void {
  state.push('paragraph_open', 'p', 1).map = map;
  const inline = state.push('inline', '', 0);
  inline.content = content;
  inline.children = [];
  inline.map = map;
  state.push('paragraph_close', 'p', -1);
}

/** A fence: three or more of one mark, then perhaps the kind of the block. */
const FENCE = /^(`{3,}|~{3,})(.*)$/s;
const CONTAINER = /^(quote|spoiler)(?:\s+(.*))?$/s;

interface Fence {
  readonly marks: string;
  readonly kind: string;
  readonly title: string;
}

/** The fence on this line, if there is one. Four spaces before it make it code. */
function fenceOn(state: StateBlock, line: number): Fence | undefined {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  const first = state.src.charAt(start);
  if ((first !== '`' && first !== '~') || (state.sCount[line] ?? 0) - state.blkIndent >= 4) return undefined;
  const match = FENCE.exec(state.src.slice(start, state.eMarks[line]));
  const marks = match?.[1] ?? '';
  const info = match?.[2]?.trim() ?? '';
  if (marks === '' || (first === '`' && info.includes('`'))) return undefined;
  const container = CONTAINER.exec(info);
  return { marks, kind: container?.[1] ?? (info === '' ? '' : 'code'), title: container?.[2] ?? '' };
}

/**
 * The lines at which the contents of a container end and at which the text continues: one later if a fence closes it.
 * `from` is the line after its opening, `limit` the end of the text. Containers nest with equal fences, so this keeps a
 * stack: a bare fence closes the innermost open block, a fence followed by words opens one.
 */
function extentOf(
  state: StateBlock,
  opening: Fence,
  from: number,
  limit: number,
): [end: number, next: number] {
  const open: Fence[] = [opening];
  for (let line = from; line < limit; line += 1) {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    if (start < (state.eMarks[line] ?? 0) && (state.sCount[line] ?? 0) < state.blkIndent) {
      return [line, line];
    }
    const fence = fenceOn(state, line);
    const innermost = open.at(-1);
    if (!fence || !innermost) continue;
    const inCode = innermost.kind !== 'quote' && innermost.kind !== 'spoiler';
    const closes =
      fence.kind === '' &&
      (inCode ? fence.marks.startsWith(innermost.marks) : fence.marks === innermost.marks);
    if (closes) {
      open.pop();
      if (open.length === 0) return [line, line + 1];
    } else if (!inCode) {
      open.push(fence);
    }
  }
  return [limit, limit];
}

function pushContents(state: StateBlock, from: number, to: number): void {
  const { parentType, lineMax } = state;
  state.parentType = 'blockquote';
  state.lineMax = to;
  state.md.block.tokenize(state, from, to);
  state.parentType = parentType;
  state.lineMax = lineMax;
}

/** Fenced quotes and spoilers, which hold any other block, themselves included. An unclosed one ends with the text. */
function containerRule(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  const fence = fenceOn(state, line);
  if (fence?.kind !== 'quote' && fence?.kind !== 'spoiler') return false;
  if (silent) return true;
  const [end, next] = extentOf(state, fence, line + 1, endLine);
  if (fence.kind === 'spoiler') {
    state.push('spoiler_open', 'div', 1);
    if (fence.title !== '') pushParagraph(state, fence.title, [line, line + 1]);
    state.push('spoiler_content', 'div', 0);
    pushContents(state, line + 1, end);
    state.push('spoiler_close', 'div', -1);
  } else {
    state.push('blockquote_open', 'blockquote', 1).map = [line, end];
    pushContents(state, line + 1, end);
    state.push('blockquote_close', 'blockquote', -1);
  }
  state.line = next;
  return true;
}

/** Blocks: limited nesting, fenced quotes and spoilers, tables with their alignment spelled as clients compare it. */
export function blockSyntax(markdown: MarkdownIt): void {
  markdown.block.ruler.before('table', 'too_deep', tooDeepRule);
  markdown.block.ruler.before('fence', 'fenced_block', containerRule, {
    alt: ['paragraph', 'blockquote', 'list'],
  });
  // Clients parse the frame of a spoiler strictly: no white space between its parts.
  const { rules } = markdown.renderer;
  rules.spoiler_open = () => '<div class="spoiler-block"><div class="spoiler-header">\n';
  rules.spoiler_content = () => '</div><div class="spoiler-content" aria-hidden="true">\n';
  rules.spoiler_close = () => '</div></div>\n';
  const cell: RendererRule = (tokens, index, options, _env, renderer) => {
    const style = tokens[index]?.attrGet('style');
    if (style) tokens[index]?.attrSet('style', `${String(style).replace(':', ': ')};`);
    return renderer.renderToken(tokens, index, options);
  };
  rules.th_open = cell;
  rules.td_open = cell;
}

/** People write `__init__` and `snake_case` in chats, so only asterisks emphasize, never underscores. */
function underscoreRule(state: StateInline, silent: boolean): boolean {
  let end = state.pos;
  while (end < state.posMax && state.src.charAt(end) === '_') end += 1;
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

const MATH = /(?<!\$)\$\$([^\n$_][^\n$]*)\$\$(?!\$)/y;
const CHARACTER_REFERENCE = /&(?:#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z][a-z0-9]{1,31});/iy;

/**
 * Inline text: `**strong**`, `~~deleted~~`, formulas and character references.
 *
 * `$$x^2$$` is shown as code: typesetting formulas takes more code than all the rest of the service. The element has no
 * class, because strict clients do not know code with one. `&copy;` and `&#169;` are left for the browser to decode, as
 * Zulip does: in text they are always text, so this is safe, and the bundle needs no table of two thousand names.
 */
export function inlineSyntax(markdown: MarkdownIt): void {
  const { inline, renderer, utils } = markdown;
  inline.ruler.before('emphasis', 'math', textRule('math', 'code', MATH));
  inline.ruler.before('emphasis', 'underscore', underscoreRule);
  inline.ruler.at('entity', textRule('character_reference', '', CHARACTER_REFERENCE));
  renderer.rules.s_open = () => '<del>';
  renderer.rules.s_close = () => '</del>';
  renderer.rules.math = (tokens, index) => `<code>${utils.escapeHtml(tokens[index]?.content ?? '')}</code>`;
  renderer.rules.character_reference = (tokens, index) => tokens[index]?.content ?? '';
}

/**
 * The only addresses that may become links or images: the web, mail, telephone, and paths and fragments on this
 * server. This is a list of what is allowed, because nobody can list everything that is dangerous.
 */
const SAFE = /^(?:https?:\/\/|mailto:|tel:|\/(?!\/)|#)/i;

/** Whether this address may be the target of a link or the source of an image. */
export const isSafeAddress = (address: string): boolean => SAFE.test(address);

/** A host without a scheme, as people write it: `example.com/page`. */
const BARE_HOST = /^[^\s:/?#\\@]+\.[^\s:/?#\\@]{2,}(?:[/?#]|$)/;
const BARE_MAIL = /^[^\s:/?#\\@]+@[^\s:/?#\\@]+$/;

/** Adds the scheme that people leave out: `example.com` is a web site and `me@example.com` a mail address. */
function withScheme(address: string): string {
  if (BARE_MAIL.test(address)) return `mailto:${address}`;
  return BARE_HOST.test(address) ? `http://${address}` : address;
}

/**
 * Domain endings that make a link without a scheme. Endings that are more often file names in a chat about software
 * (`md`, `py`, `rs`, `sh`) are left out on purpose.
 */
const LINKED_ENDINGS =
  'com org net edu gov mil int info biz name pro app dev page cloud online site tech xyz blog news wiki chat shop ' +
  'store io ai co me tv fm gg ly to eu us uk ca au nz ie de at ch fr be nl lu it es pt se no fi dk is pl cz sk hu ro ' +
  'bg gr ru ua by lt lv ee tr il ae sa in cn jp kr tw hk sg my th vn id ph br mx ar cl pe za ng ke eg';

/**
 * Removes links that are no valid HTML, and keeps their text: `[text]()`, which would lead to the reader's own page, and
 * links within links, which the parser sometimes makes of an address in the text of a link.
 */
function dropInvalidLinks(state: StateCore): void {
  for (const block of state.tokens) {
    const kept: boolean[] = [];
    const valid = block.children?.filter((token) => {
      if (token.type === 'link_open') {
        kept.push(!kept.includes(true) && token.attrGet('href') !== '');
        return kept.at(-1);
      }
      return token.type === 'link_close' ? kept.pop() : true;
    });
    if (valid) block.children = valid;
  }
}

/** Links, and addresses that become links by themselves. */
export function links(markdown: MarkdownIt): void {
  const encoded = markdown.normalizeLink.bind(markdown);
  markdown.normalizeLink = (address) => encoded(withScheme(address));
  markdown.validateLink = isSafeAddress;
  markdown.core.ruler.after('linkify', 'valid_links', dropInvalidLinks);
  // An address is shown as it was written: a decoded one can look like another.
  markdown.normalizeLinkText = (address) => address;
  markdown.linkify.set({ fuzzyLink: true }).tlds(LINKED_ENDINGS.split(' ')).add('ftp:', null).add('//', null);
}
