import type { MarkdownIt, RendererRule, StateBlock, StateCore } from 'markdown-it';
import { ruleNamed } from './parser-rule.ts';

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

/** A fence: three or more of one mark, then perhaps the kind of the block, without such marks. */
const FENCE = /^(`{3,}|~{3,})([^`~]*)$/;
const CONTAINER = /^(quote|spoiler)(?:\s+(.*))?$/s;

interface Fence {
  readonly marks: string;
  readonly kind: 'quote' | 'spoiler' | 'code' | 'bare';
  /** What stands after the marks, for code; the title of a spoiler. */
  readonly title: string;
}

/** The fence on this line, if there is one. Four spaces before it make it code. */
function fenceOn(state: StateBlock, line: number): Fence | undefined {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  const first = state.src.charAt(start);
  if ((first !== '`' && first !== '~') || (state.sCount[line] ?? 0) - state.blkIndent >= 4) return undefined;
  const [, marks, words] = FENCE.exec(state.src.slice(start, state.eMarks[line])) ?? [];
  if (marks === undefined) return undefined;
  const title = words?.trim() ?? '';
  const [, kind, rest] = CONTAINER.exec(title) ?? [];
  if (kind === 'quote' || kind === 'spoiler') return { marks, kind, title: rest ?? '' };
  return { marks, kind: title === '' ? 'bare' : 'code', title };
}

const holdsBlocks = ({ kind }: Fence): boolean => kind === 'quote' || kind === 'spoiler';

/**
 * The lines at which the contents of a fenced block end and at which the text continues: one later if a fence closes it.
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
    if (fence.kind === 'bare' && fence.marks === innermost.marks) {
      open.pop();
      if (open.length === 0) return [line, line + 1];
    } else if (holdsBlocks(innermost)) {
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

/**
 * Fenced blocks. Quotes and spoilers hold any other block, themselves included; everything else is code. An unclosed
 * one ends with the text.
 */
function fenceRule(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  const fence = fenceOn(state, line);
  if (!fence) return false;
  if (silent) return true;
  const [end, next] = extentOf(state, fence, line + 1, endLine);
  if (fence.kind === 'spoiler') {
    state.push('spoiler_open', 'div', 1);
    if (fence.title !== '') pushParagraph(state, fence.title, [line, line + 1]);
    state.push('spoiler_content', 'div', 0);
    pushContents(state, line + 1, end);
    state.push('spoiler_close', 'div', -1);
  } else if (fence.kind === 'quote') {
    state.push('blockquote_open', 'blockquote', 1).map = [line, end];
    pushContents(state, line + 1, end);
    state.push('blockquote_close', 'blockquote', -1);
  } else {
    const token = state.push('fence', 'code', 0);
    token.info = fence.title;
    token.content = state.getLines(line + 1, end, state.sCount[line] ?? 0, true);
  }
  state.line = next;
  return true;
}

/** What is known of lines that begin with `>`, by the place of that mark: whether they quote anything. */
const quoting = new WeakMap<StateBlock, Map<number, boolean>>();

/**
 * Whether a quote begins on this line: something must stand after a `>` on it, or on a line below without a blank one
 * between. Otherwise people mean the mark itself. Each line is looked at once.
 */
function quotesSomething(state: StateBlock, line: number, endLine: number): boolean {
  const known = quoting.get(state) ?? new Map<number, boolean>();
  quoting.set(state, known);
  const looked: number[] = [];
  let answer: boolean | undefined;
  for (let next = line; answer === undefined; next += 1) {
    const start = (state.bMarks[next] ?? 0) + (state.tShift[next] ?? 0);
    answer = next >= endLine || state.isEmpty(next) ? false : known.get(start);
    if (answer === undefined && !/^>[ \t]*$/.test(state.src.slice(start, state.eMarks[next]))) answer = true;
    if (answer === undefined) looked.push(start);
  }
  for (const start of looked) known.set(start, answer);
  return answer;
}

/** The most cells of a table. The empty cell is ten bytes of HTML, so one with more cells is too long in any case. */
const MAX_CELLS = 10_000;
const RULE_OF_TABLE = /^[ \t|:-]+$/;

/** Whether a table that begins on this line would have too many cells. Its second line has a mark for each column. */
function hasTooManyCells(state: StateBlock, line: number, endLine: number): boolean {
  if (line + 1 >= endLine) return false;
  const under = state.getLines(line + 1, line + 2, 0, false);
  if (!RULE_OF_TABLE.test(under)) return false;
  const columns = under.split('|').length;
  let end = line;
  while (end < endLine && (end - line) * columns <= MAX_CELLS && !state.isEmpty(end)) end += 1;
  return (end - line) * columns > MAX_CELLS;
}

/** White space at the end of a paragraph, which the parser drops. Nobody sees it, but clients compare the markup. */
function keepTrailingSpace(state: StateCore): void {
  const lines = state.src.split('\n');
  state.tokens.forEach((token, index) => {
    const last = token.map?.[1];
    if (token.type !== 'inline' || last === undefined || token.content === '') return;
    if (state.tokens[index - 1]?.type !== 'paragraph_open') return;
    token.content += / *$/.exec(lines[last - 1] ?? '')?.[0] ?? '';
  });
}

/** Blocks: limited nesting, fenced blocks, quotes, tables with their alignment spelled as clients compare it. */
export function containers(markdown: MarkdownIt): void {
  const { ruler } = markdown.block;
  ruler.before('table', 'too_deep', tooDeepRule);
  ruler.at('fence', fenceRule, { alt: ['paragraph', 'blockquote', 'list'] });
  const table = ruleNamed(ruler, 'table');
  ruler.at(
    'table',
    (state, line, endLine, silent) =>
      !hasTooManyCells(state, line, endLine) && table(state, line, endLine, silent),
    { alt: ['paragraph'] },
  );
  const quote = ruleNamed(ruler, 'blockquote');
  ruler.at(
    'blockquote',
    (state, line, endLine, silent) =>
      quotesSomething(state, line, endLine) && quote(state, line, endLine, silent),
    { alt: ['paragraph', 'blockquote', 'list'] },
  );
  markdown.core.ruler.after('block', 'trailing_space', keepTrailingSpace);
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

/** How far the content of an item stands to the right of its marker, at least. */
const INDENT = 2;
const BULLETS = '*+-';
const MARKER = /^(?:[*+-]|(\d{1,9})\.)(?:[ \t]+|$)/;

/** The marker of an item: a bullet, or a number. */
interface Marker {
  readonly number: string | undefined;
  /** With the spaces after it. */
  readonly length: number;
  readonly isEmpty: boolean;
}

function markerOn(state: StateBlock, line: number): Marker | undefined {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return undefined;
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  const first = state.src.charAt(start);
  if (!BULLETS.includes(first) && (first < '0' || first > '9')) return undefined;
  const end = state.eMarks[line] ?? 0;
  const match = MARKER.exec(state.src.slice(start, end));
  return match
    ? { number: match[1], length: match[0].length, isEmpty: start + match[0].length >= end }
    : undefined;
}

/** Parses the content of one item, and says whether it has a blank line in it. */
function pushItem(state: StateBlock, line: number, endLine: number, marker: Marker): boolean {
  const { tight, blkIndent, listIndent } = state;
  const [shift, count] = [state.tShift[line] ?? 0, state.sCount[line] ?? 0];
  state.push('list_item_open', 'li', 1);
  state.listIndent = blkIndent;
  state.blkIndent = count + INDENT;
  state.tight = true;
  state.tShift[line] = shift + marker.length;
  state.sCount[line] = state.blkIndent;
  if (marker.isEmpty && state.isEmpty(line + 1)) state.line = Math.min(line + 2, endLine);
  else state.md.block.tokenize(state, line, endLine);
  const isTight = state.tight;
  state.tShift[line] = shift;
  state.sCount[line] = count;
  Object.assign(state, { tight, blkIndent, listIndent });
  state.push('list_item_close', 'li', -1);
  return !isTight;
}

/** The items of a tight list show their text without a paragraph around it. */
function hideParagraphs(state: StateBlock, from: number): void {
  for (let index = from; index < state.tokens.length - 2; index += 1) {
    const token = state.tokens[index];
    const close = state.tokens[index + 2];
    if (token?.type !== 'paragraph_open' || token.level !== state.level + 2 || !close) continue;
    token.hidden = true;
    close.hidden = true;
  }
}

const endsList = (state: StateBlock, line: number, endLine: number): boolean =>
  (state.sCount[line] ?? 0) < state.blkIndent ||
  state.md.block.ruler.getRules('list').some((rule) => rule(state, line, endLine, true));

/**
 * Lists, as chats write them: what stands two spaces further in than a marker belongs to its item, after `1.` too, and
 * all bullets are alike. In a paragraph, only a bullet or a number of one digit begins a list.
 */
function listRule(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  const first = markerOn(state, line);
  if (!first) return false;
  if (silent) {
    const interrupts = state.parentType === 'paragraph' && (state.sCount[line] ?? 0) >= state.blkIndent;
    return !interrupts || (!first.isEmpty && (first.number?.length ?? 1) === 1);
  }
  const { parentType } = state;
  const start = state.tokens.length;
  const isOrdered = first.number !== undefined;
  const kind = isOrdered ? 'ordered_list' : 'bullet_list';
  const opening = state.push(`${kind}_open`, isOrdered ? 'ol' : 'ul', 1);
  if (first.number !== undefined && Number(first.number) !== 1)
    opening.attrs = [['start', String(Number(first.number))]];
  state.parentType = 'list';
  let marker: Marker | undefined = first;
  let [next, isLoose, endedBlank] = [line, false, false];
  while (marker && (marker.number !== undefined) === isOrdered) {
    if (pushItem(state, next, endLine, marker) || endedBlank) isLoose = true;
    endedBlank = state.line - next > 1 && state.isEmpty(state.line - 1);
    next = state.line;
    marker = next >= endLine || endsList(state, next, endLine) ? undefined : markerOn(state, next);
  }
  state.push(`${kind}_close`, isOrdered ? 'ol' : 'ul', -1);
  state.line = next;
  state.parentType = parentType;
  if (!isLoose) hideParagraphs(state, start);
  return true;
}

/** Lists with bullets or numbers. */
export function lists(markdown: MarkdownIt): void {
  markdown.block.ruler.at('list', listRule, { alt: ['paragraph', 'reference', 'blockquote'] });
  // No line break before a list in an item: clients compare this markup.
  markdown.renderer.rules.bullet_list_open = () => '<ul>\n';
  markdown.renderer.rules.ordered_list_open = (tokens, index) => {
    const start = tokens[index]?.attrGet('start');
    return start ? `<ol start="${start}">\n` : '<ol>\n';
  };
}
