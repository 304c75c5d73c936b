import type { MarkdownIt, StateBlock } from 'markdown-it';

/** A fence: three or more of one mark, then perhaps what the block is. */
const FENCE = /^(`{3,}|~{3,})(.*)$/s;
const CONTAINER = /^(quote|spoiler)(?:\s+(.*))?$/s;

interface Fence {
  readonly marks: string;
  readonly kind: string;
  readonly title: string;
}

/** The fence on this line, if there is one; four spaces or more before it make it code. */
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

/** Where a container's contents end, and where the text goes on: one line later when a fence closes it. */
interface Extent {
  readonly end: number;
  readonly next: number;
}

/**
 * How far the container opened just before `from` reaches, at most to `limit`. Containers nest with equal fences, so
 * this keeps count: a bare fence closes the innermost open block, a fence with words after it opens one.
 */
function extentOf(state: StateBlock, opening: Fence, from: number, limit: number): Extent {
  const open: Fence[] = [opening];
  for (let line = from; line < limit; line += 1) {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    if (start < (state.eMarks[line] ?? 0) && (state.sCount[line] ?? 0) < state.blkIndent) {
      return { end: line, next: line };
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
      if (open.length === 0) return { end: line, next: line + 1 };
    } else if (!inCode) {
      open.push(fence);
    }
  }
  return { end: limit, next: limit };
}

function inside(state: StateBlock, from: number, to: number): void {
  const { parentType, lineMax } = state;
  state.parentType = 'blockquote';
  state.lineMax = to;
  state.md.block.tokenize(state, from, to);
  state.parentType = parentType;
  state.lineMax = lineMax;
}

function spoiler(state: StateBlock, title: string, line: number, end: number): void {
  state.push('spoiler_open', 'div', 1);
  if (title !== '') {
    state.push('paragraph_open', 'p', 1);
    const inline = state.push('inline', '', 0);
    inline.content = title;
    inline.children = [];
    inline.map = [line, line + 1];
    state.push('paragraph_close', 'p', -1);
  }
  state.push('spoiler_content', 'div', 0);
  inside(state, line + 1, end);
  state.push('spoiler_close', 'div', -1);
}

function fencedBlockRule(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  const fence = fenceOn(state, line);
  if (fence?.kind !== 'quote' && fence?.kind !== 'spoiler') return false;
  if (silent) return true;
  const { end, next } = extentOf(state, fence, line + 1, endLine);
  if (fence.kind === 'spoiler') {
    spoiler(state, fence.title, line, end);
  } else {
    state.push('blockquote_open', 'blockquote', 1).map = [line, end];
    inside(state, line + 1, end);
    state.push('blockquote_close', 'blockquote', -1);
  }
  state.line = next;
  return true;
}

/** Fenced quotes and spoilers, which hold any other block, themselves included. An unclosed one ends with the text. */
export function fencedBlocks(markdown: MarkdownIt): void {
  markdown.block.ruler.before('fence', 'fenced_block', fencedBlockRule, {
    alt: ['paragraph', 'blockquote', 'list'],
  });
  // Clients read the frame strictly, so there is no white space between its parts.
  const { rules } = markdown.renderer;
  rules.spoiler_open = () => '<div class="spoiler-block"><div class="spoiler-header">\n';
  rules.spoiler_content = () => '</div><div class="spoiler-content" aria-hidden="true">\n';
  rules.spoiler_close = () => '</div></div>\n';
}
