import type { MarkdownIt, StateBlock } from 'markdown-it';

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
